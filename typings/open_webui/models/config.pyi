from typing import Any

class Config:
    @staticmethod
    async def get_many(*keys: str) -> dict[str, Any]: ...
