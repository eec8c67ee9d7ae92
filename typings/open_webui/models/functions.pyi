from typing import Any

class FunctionModel:
    content: str
    is_active: bool

class _Functions:
    async def get_function_by_id(self, id: str) -> FunctionModel | None: ...
    async def get_function_valves_by_id(
        self, id: str
    ) -> dict[str, object] | None: ...
    async def get_user_valves_by_id_and_user_id(
        self, id: str, user_id: str
    ) -> dict[str, object] | None: ...
    async def update_user_valves_by_id_and_user_id(
        self, id: str, user_id: str, valves: dict[str, object]
    ) -> dict[str, object] | None: ...
    async def get_functions_by_type(
        self, type: str, active_only: bool = False
    ) -> list[FunctionModel]: ...

Functions: _Functions
Function: Any
