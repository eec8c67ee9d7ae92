"""What a chat was given with its messages, as seen from the newest message of a branch."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import field, replace

from adaptive.core import (
    Message,
    estimated_tokens,
    frozen,
    is_of_user,
    message_text,
)
from adaptive.memory import Addition
from adaptive.search import Quotation, content_hash

_MOST_MESSAGES = 400
# The share of the tokens for other texts that the first of a chat may take, and any later one.
_FIRST_TEXT = 2
_LATER_TEXT = 8


def message_keys(messages: Iterable[Message]) -> list[str]:
    """A key for each message of the user, in their order."""
    keys: list[str] = []
    former = ""
    for message in filter(is_of_user, messages):
        former = content_hash(f"{former}\n{message_text(message)}")
        keys.append(former)
    return keys


@frozen
class ChatSoFar:
    """What a chat was given, seen from the newest message of a branch, which has the ``key``.

    ``additions`` are those of all branches by the keys of their messages, ``standing`` those that
    stand in the prompt, in their order. ``is_first`` tells that no message of the user stands
    before the newest.
    """

    key: str = ""
    additions: Mapping[str, Addition] = field(
        default_factory=dict[str, Addition]
    )
    standing: Mapping[str, Addition] = field(
        default_factory=dict[str, Addition]
    )
    is_first: bool = True

    @classmethod
    def of(
        cls,
        additions: Mapping[str, Addition],
        keys: Sequence[str],
        sent: Collection[str],
        text_tokens: int = 0,
        *,
        in_system: bool = True,
    ) -> "ChatSoFar":
        """The view of a branch with these keys, of which those ``sent`` are in the request.

        Texts beside memories may take so many tokens together. What begins a chat outlasts its
        message where it stands ``in_system``, the system prompt.
        """
        if not keys:
            return cls()
        standing: dict[str, Addition] = {}
        for key in keys:
            addition = additions.get(key)
            if addition is None:
                continue
            if addition.begins:
                standing.clear()
            if key == keys[-1] or key in sent:
                standing[key] = addition
            elif addition.begins and in_system:
                standing[key] = replace(addition, texts=())
        return cls(
            key=keys[-1],
            additions=additions,
            standing=_with_room(standing, text_tokens),
            is_first=len(keys) == 1,
        )

    @property
    def again(self) -> Addition | None:
        """What the newest message was given when it was asked before."""
        return self.standing.get(self.key)

    def texts(self) -> list[str]:
        """The texts beside memories that stand on the branch."""
        return [
            text.text
            for addition in self.standing.values()
            for text in addition.texts
        ]

    def quoted(self) -> frozenset[Quotation]:
        """The messages of the past that these quote."""
        return frozenset(
            quotation
            for addition in self.standing.values()
            for text in addition.texts
            for quotation in text.quoted
        )

    def without_quotes_of(self, gone: Set[Quotation]) -> "ChatSoFar":
        """The same without texts that quote one of these messages."""
        standing = {
            key: replace(
                addition,
                texts=[
                    text
                    for text in addition.texts
                    if gone.isdisjoint(text.quoted)
                ],
            )
            for key, addition in self.standing.items()
        }
        return replace(self, standing=standing)

    def tokens_for_text(self, most_tokens: int) -> int:
        """Of the tokens for texts beside memories, those that the newest message's may take."""
        left = most_tokens - _tokens_of(self.texts())
        return max(
            min(left, most_tokens // _FIRST_TEXT), most_tokens // _LATER_TEXT
        )

    def ids(self) -> Iterable[str]:
        """The ids of all memories that stand on the branch."""
        for addition in self.standing.values():
            yield from addition.core
            yield from addition.retrieved

    def with_addition(self, addition: Addition) -> dict[str, Addition]:
        """The additions of the chat with one for the newest message."""
        return joined_additions(self.additions, {self.key: addition})


def joined_additions(
    former: Mapping[str, Addition], newer: Mapping[str, Addition]
) -> dict[str, Addition]:
    """The additions of both; of very many the newest.

    For a message that stands in both the larger one counts: of two models that are asked side by
    side, one may be shown less than the other.
    """
    joined = {**former, **newer}
    for key in former.keys() & newer.keys():
        joined[key] = max(newer[key], former[key], key=Addition.size)
    return dict([*joined.items()][-_MOST_MESSAGES:])


def _with_room(
    standing: Mapping[str, Addition], most_tokens: int
) -> dict[str, Addition]:
    """The same, of which the older texts have all gone where they were too many."""
    fitting: dict[str, Addition] = {}
    taken = 0
    for key, addition in standing.items():
        tokens = _tokens_of(text.text for text in addition.texts)
        if taken and taken + tokens > most_tokens:
            fitting = {
                former: replace(each, texts=())
                for former, each in fitting.items()
            }
            taken = 0
        fitting[key] = addition
        taken += tokens
    return fitting


def _tokens_of(texts: Iterable[str]) -> int:
    return sum(map(estimated_tokens, texts))
