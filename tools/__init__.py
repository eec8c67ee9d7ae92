"""Commands that keep the generated files true to their sources."""
