from typing import Any

add_memory_context: Any
