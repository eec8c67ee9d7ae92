"""Drives a real Open WebUI from outside, as its web page does, beside a model that tests script."""
