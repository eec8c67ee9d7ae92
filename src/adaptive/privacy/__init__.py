"""Privacy: personal data, secrets, the injection guard, sealing."""

from __future__ import annotations
