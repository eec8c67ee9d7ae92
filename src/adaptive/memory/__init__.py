"""One user's memory: what may be written into it, how it is changed, and taking changes back."""
