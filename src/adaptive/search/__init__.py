"""Finding near texts: embedders, vectors, similarity."""

# pyright: reportUnusedImport=false

from adaptive.search.calibration import (
    NULL_PROMPTS,
    ComparedExamples,
    Judges,
    NullLevel,
    Script,
    null_levels,
    script_of,
    speaks_of_self,
)
from adaptive.search.embedders import (
    DEFAULT_LOCAL_MODEL,
    EncodingState,
    EndpointModel,
    LocalModel,
    checked_vectors,
    encoded,
    service_pace,
)
from adaptive.search.fingerprints import (
    Fingerprints,
    ProvenEmbedder,
)
from adaptive.search.fitting import (
    fitting,
    interleaved,
    without_places,
)
from adaptive.search.fusion import (
    DEFAULT_WEIGHTS,
    GATES,
    Ranked,
    RankingQuery,
    Weights,
    rank,
    ranking_query,
)
from adaptive.search.history_ports import (
    HistoryHit,
    HistoryUnit,
    HistoryVectors,
    ListedChat,
    MessageKey,
    PastChats,
    PastQuestion,
    Quotation,
    UnlearnedChat,
)
from adaptive.search.index import (
    FoundMemory,
    MemoryIndex,
    read_anew,
)
from adaptive.search.indexes import (
    MemoryIndexes,
)
from adaptive.search.tokens import (
    KeywordIndex,
    KnownWords,
    comparable,
    continues,
    folded_text,
    holds_words_of,
    keyword_index,
    stem,
    tokens,
)
from adaptive.search.vectors import (
    LONGEST_QUERY,
    content_hash,
    keep_vectors,
    name_parts,
    normalised,
    products,
    query_vectors,
)
