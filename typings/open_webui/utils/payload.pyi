from typing import Any

def apply_params_to_form_data(
    form_data: dict[str, Any],
    model: dict[str, Any],
    params: dict[str, Any] | None = None,
) -> dict[str, Any]: ...
