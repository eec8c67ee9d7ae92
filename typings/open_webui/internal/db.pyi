from typing import Any

get_async_db_context: Any
