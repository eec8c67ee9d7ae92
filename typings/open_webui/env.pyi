from typing import Any

WEBUI_SECRET_KEY: Any
VERSION: str
DATABASE_SCHEMA: str | None
