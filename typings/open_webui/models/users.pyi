from typing import Any

from pydantic import BaseModel

class UserModel(BaseModel): ...

Users: Any
