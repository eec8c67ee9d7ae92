from typing import Any

has_permission: Any
