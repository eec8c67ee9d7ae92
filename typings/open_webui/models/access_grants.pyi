from typing import Any

AccessGrant: Any
