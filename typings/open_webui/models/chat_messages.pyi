from typing import Any

ChatMessage: Any
ChatMessages: Any
