"""Adaptive Memory: long-term memory for every user's assistant in Open WebUI."""
