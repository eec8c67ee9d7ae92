from typing import Any

Folder: Any
