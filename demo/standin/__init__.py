"""A small stand-in for a language model, so that memory can be tried without any key."""
