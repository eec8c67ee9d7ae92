from typing import Any

from pydantic import BaseModel

class UserModel(BaseModel):
    id: str

Users: Any
User: Any
