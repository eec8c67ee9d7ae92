from typing import Any

ASYNC_VECTOR_DB_CLIENT: Any
