"""Before and after the answer: pre- and post-processing, suggestions, clean answers, links."""
