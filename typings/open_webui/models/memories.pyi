from typing import Any

Memory: Any
Memories: Any
