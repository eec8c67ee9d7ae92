from typing import Any

ChatMessages: Any
