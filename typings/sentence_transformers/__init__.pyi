"""What the benchmarks call of it; reading the library itself would take half of the type check."""

class SentenceTransformer:
    def __init__(self, model_name_or_path: str, *, device: str = ...) -> None: ...
