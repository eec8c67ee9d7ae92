"""Privacy: personal data, secrets, the injection guard, sealing."""

# pyright: reportUnusedImport=false

from adaptive.privacy.injection import (
    escaped_entry,
    injection_reason,
    passed_mark,
)
from adaptive.privacy.personal_data import (
    find_personal_data,
)
from adaptive.privacy.redacted_chat import (
    RedactedTurns,
    withheld,
)
from adaptive.privacy.redaction import (
    RedactingCompleter,
    sent_without_secrets,
)
from adaptive.privacy.scanning import (
    spliced,
)
from adaptive.privacy.sealing import (
    MARKED,
    UNDER_FORMER_KEY,
    Sealer,
)
from adaptive.privacy.secrets import (
    SECRET_MARK,
    excerpt_without_secrets,
    find_secrets,
    wide_excerpt,
    without_secrets,
)
from adaptive.privacy.spoken_requests import (
    ErasureRequest,
    ErasureScope,
    request_kinds,
    sentences_to_forget,
    spoken_request,
)
