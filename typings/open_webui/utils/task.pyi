from typing import Any

get_task_model_id: Any
