from typing import Any

Files: Any
