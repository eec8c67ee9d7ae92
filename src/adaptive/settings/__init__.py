"""The valves of the panel, a person's own choices, and both merged for one hook."""
