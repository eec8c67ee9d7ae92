from typing import Any

Storage: Any
