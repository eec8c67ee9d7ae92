from typing import Any

process_chat_payload: Any
