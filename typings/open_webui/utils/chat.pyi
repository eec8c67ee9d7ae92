from typing import Any

generate_chat_completion: Any
