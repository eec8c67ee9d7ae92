"""Measurements behind the figures in benchmarks/README.md."""
