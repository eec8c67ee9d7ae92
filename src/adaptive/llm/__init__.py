"""Asking a model: prompts, providers, retry and deadline, reply to validated object."""
