from typing import Any

SharedChat: Any
