from typing import Any

async def get_event_emitter(
    request_info: dict[str, Any], update_db: bool = True
) -> Any: ...
