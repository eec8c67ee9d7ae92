"""Chat-history recall, and the calls before and after the answer."""
