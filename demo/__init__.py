"""A real Open WebUI with Adaptive Memory installed, for people and for tests."""
