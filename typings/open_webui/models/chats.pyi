from typing import Any

Chat: Any
Chats: Any
