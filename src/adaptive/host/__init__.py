"""The only room that knows Open WebUI; it implements the ports."""
