from typing import Any

add_memory_context: Any
model_allows_memory: Any
