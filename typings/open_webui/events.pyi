from typing import Any

EVENTS: Any

async def get_event_webhooks() -> list[dict[str, Any]]: ...
async def publish_event(
    request_or_app: Any,
    event: Any,
    *,
    actor: Any = None,
    subject_id: Any = None,
    data: dict[str, Any] | None = None,
) -> None: ...
