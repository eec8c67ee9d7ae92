from typing import Any

Chats: Any
