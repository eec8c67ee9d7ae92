from typing import Any

AddMemoryForm: Any
MemoryUpdateModel: Any
QueryMemoryForm: Any
get_memories: Any
add_memory: Any
query_memory: Any
update_memory_by_id: Any
delete_memory_by_id: Any
check_memories_permission: Any
delete_memory_by_user_id: Any
