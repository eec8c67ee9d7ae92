"""Past conversation: its index, what of it is recalled, and the window of a long chat."""
