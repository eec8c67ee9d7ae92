from typing import Any

get_all_models: Any
