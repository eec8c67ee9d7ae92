"""Privacy: personal data, secrets, the injection guard, sealing."""
