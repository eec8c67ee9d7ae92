"""Texts that are kept outside of the process, encrypted with a key per user and purpose."""

import base64
import json
import secrets
from contextlib import suppress
from functools import cache, lru_cache

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from adaptive.core import Phrase, log

# What people are told of what is sealed with another secret.
UNDER_FORMER_KEY = Phrase("under_former_key")
# A new version gets a mark and keys of its own: what another version has sealed is absent then.
_SEAL_VERSION = 1
# How a seal begins that tells by which secret it was made.
MARKED = f"am{_SEAL_VERSION}-"
_FINGERPRINT_DIGITS = 8
_KEY_BYTES = 32
# Each purpose of a user has a key; deriving one again takes some 10 microseconds.
_KEYS_HELD = 4000
# A text of any language, lone surrogates included, which JSON of the host's may hold.
_SURROGATES = "surrogatepass"


class Sealer:
    """Seals texts so that only the same host secret, user, purpose and version open them again.

    Keys come from the secret by HKDF with SHA-256, texts are Fernet tokens. Without a secret one of
    this process serves: what it has sealed is absent for every other process. The ``mark`` before
    a text is a fingerprint of the secret, so that whose seal it is can be told without opening it.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode(errors=_SURROGATES) or _process_secret()
        self._key = lru_cache(_KEYS_HELD)(self._derived)
        fingerprint = self._bytes_of("fingerprint").hex()[:_FINGERPRINT_DIGITS]
        self.mark = f"{MARKED}{fingerprint}:"
        self._told: set[str] = set()

    def seal(self, user_id: str, purpose: str, text: str) -> str:
        """A text in ASCII without spaces, some 4/3 as long and 100 characters."""
        token = self._key(user_id, purpose).encrypt(
            text.encode(errors=_SURROGATES)
        )
        return self.mark + token.decode("ascii")

    def open(self, user_id: str, purpose: str, sealed: str) -> str | None:
        """What was sealed; ``None`` where it was not, by another secret, or was damaged."""
        with suppress(InvalidToken, ValueError):
            token = sealed.partition(":")[2]
            text = self._key(user_id, purpose).decrypt(token)
            return text.decode(errors=_SURROGATES)
        if purpose not in self._told:
            self._told.add(purpose)
            log.warning(
                "some of %r can't be opened: it was sealed with another WEBUI_SECRET_KEY, or is "
                "damaged; it is kept, and /memory doctor counts it",
                purpose,
            )
        return None

    def _derived(self, user_id: str, purpose: str) -> Fernet:
        """The key of a purpose."""
        return Fernet(
            base64.urlsafe_b64encode(self._bytes_of(user_id, purpose))
        )

    def _bytes_of(self, *names: str) -> bytes:
        """Bytes for these names; JSON keeps apart what a plain joint would confuse."""
        info = json.dumps([_SEAL_VERSION, *names]).encode("ascii")
        return HKDF(SHA256(), _KEY_BYTES, b"adaptive_memory", info).derive(
            self._secret
        )


@cache
def _process_secret() -> bytes:
    """A secret that ends with the process; made, and told in the log, once."""
    log.warning(
        "Open WebUI has no secret "
        "(WEBUI_SECRET_KEY): what is sealed now can be opened by this "
        "process only and is absent after a restart"
    )
    return secrets.token_bytes(_KEY_BYTES)
