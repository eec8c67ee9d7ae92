"""Every function of the package that takes a text of any length, and a way to call it."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import adaptive
from adaptive.core.model import (
    Draft,
    Memory,
    Proposal,
    Provenance,
    Turn,
    Utterance,
)
from adaptive.core.providers import Completion, CompletionRequest
from adaptive.memory.gate import Gate
from tests.fakes import hook_settings

# Parameters of these names hold what programs, admins and the package itself have named.
SHORT_NAMES = frozenset(
    [
        "user_id",
        "_user_id",
        "chat_id",
        "chat_ids",
        "message_id",
        "memory_id",
        "memory_ids",
        "newest_id",
        "answer_id",
        "ids",
        "id_",
        "key",
        "keys",
        "name",
        "names",
        "kind",
        "owner",
        "digest",
        "digests",
        "purpose",
        "collection",
        "model",
        "prefix",
        "provider",
        "embedder",
        "url",
        "urls",
        "host",
        "base",
        "path",
        "address",
        "targets",
        "target",
        "part",
        "stem",
        "mark",
        "noun",
        "code",
        "doing",
        "table",
        "number",
        "sign",
        "metadata",
        "__metadata__",
        "__user__",
        "user",
        "chat_model",
        "today",
        "time_zones",
        "zone_names",
        "form",
        "row",
        "columns",
        "tags",
        "bank",
        "override",
        "values",
        "required",
        "fields_of",
        "group",
        "description",
        "valve",
        "valves",
        "user_valves",
        "listed",
        "packed",
        "event_kind",
        "schema_name",
        "sent",
        "received",
        "state",
        "step",
        "into",
        "gone",
        "leaving",
        "retry_after",
        "saved",
        "chosen",
        "numbers",
        "units_of",
        "field",
        "prompt",
    ]
)
_TEXT_TYPES = frozenset(
    [
        "str",
        "object",
        "Message",
        "AnyMessage",
        "Completion",
        "CompletionRequest",
        "Memory",
        "Draft",
        "Turn",
        "Utterance",
        "Proposal",
        "Source",
        "PastMessage",
        "Topic",
        "Question",
        "AnsweredTurn",
        "AuditEntry",
        "ArchivedMemory",
        "CarriedMemory",
        "ReplyItems",
    ]
)
# These hold a chat, however they are annotated.
_TEXT_NAMES = frozenset({"messages", "message", "body"})
_TEXT_MAPPINGS = re.compile(r"\bJson(?:Mapping|Object)\b")
_ROOM = "adaptive."

SETTINGS = hook_settings()
SOURCE = Provenance("chat", "message", 1)


@dataclass(frozen=True)
class TextFunction:
    """A function with the names of those of its parameters that hold a text of any length."""

    name: str
    call: Callable[..., Any]
    texts: tuple[str, ...]


def text_functions() -> Iterator[TextFunction]:
    """All functions and public methods that take one, by module, in their order."""
    for module in pkgutil.walk_packages(adaptive.__path__, _ROOM):
        members = vars(importlib.import_module(module.name))
        for name, member in members.items():
            if getattr(member, "__module__", "") != module.name:
                continue
            place = f"{module.name.removeprefix(_ROOM)}.{name}"
            if inspect.isclass(member):
                yield from _methods(place, member)
            elif callable(member):
                yield from _taking_text(place, member)


def _methods(place: str, owner: type) -> Iterator[TextFunction]:
    """The public methods of a class; those of a protocol do nothing."""
    if getattr(owner, "_is_protocol", False):
        return
    for name, member in vars(owner).items():
        if (
            not name.startswith("_")
            and callable(getattr(owner, name))
            and not isinstance(member, type)
        ):
            bound = isinstance(member, classmethod | staticmethod)
            yield from _taking_text(
                f"{place}.{name}", getattr(owner, name) if bound else member
            )


def _taking_text(
    place: str, member: Callable[..., Any]
) -> Iterator[TextFunction]:
    plain = inspect.unwrap(member)
    # Methods that dataclasses make have no file.
    if not inspect.isfunction(plain) and not inspect.ismethod(plain):
        return
    if not plain.__code__.co_filename.endswith(".py"):
        return
    texts = tuple(
        one.name for one in _parameters_as_written(plain) if _holds_text(one)
    )
    if texts:
        yield TextFunction(place, member, texts)


def _parameters_as_written(
    function: Callable[..., Any],
) -> Iterator[inspect.Parameter]:
    """The parameters of a function, annotated by the texts that its source has."""
    source = ast.parse(textwrap.dedent(inspect.getsource(function)))
    written: dict[str, str] = {}
    # From the outside to the inside: a function within it may have parameters of these names.
    for node in ast.walk(source):
        if isinstance(node, ast.arg) and node.annotation is not None:
            written.setdefault(node.arg, ast.unparse(node.annotation))
    for parameter in inspect.signature(function).parameters.values():
        yield parameter.replace(annotation=written.get(parameter.name, ""))


def _holds_text(parameter: inspect.Parameter) -> bool:
    """Whether a parameter is annotated as text, and is none of the short ones."""
    annotation = str(parameter.annotation)
    # What a function is given to call takes texts, and is none.
    annotation = re.sub(r"Callable\[.*\]", "", annotation)
    words = set(
        re.findall(r"\w+", re.sub(_TEXT_MAPPINGS, "Message", annotation))
    )
    is_text = bool(words & _TEXT_TYPES) or parameter.name in _TEXT_NAMES
    return is_text and parameter.name not in SHORT_NAMES


# --- values for parameters ------------------------------------------------------------------------


def parts(text: str) -> list[str]:
    """A text in parts, as functions take them that compare words or lines."""
    return text.split("\n") if "\n" in text else text.split(" ")


def messages(text: str) -> list[dict[str, Any]]:
    """A chat in which a text was said by both, and a short one last."""
    return [
        message(text),
        {**message(text), "role": "assistant", "id": "m2"},
        message("Hi"),
    ]


def message(text: str) -> dict[str, Any]:
    """A message that says it."""
    return {"role": "user", "content": text, "id": "m1", "timestamp": 1}


def memories(text: str) -> list[Memory]:
    """Two memories that say it, or nearly."""
    return [Memory("1", text, 0, 0), Memory("2", text[1:], 0, 0)]


def turn(text: str) -> Turn:
    """A turn in which it was said, and had been before."""
    return Turn(
        "ada",
        "saved",
        text,
        (Utterance("user", text), Utterance("assistant", text)),
        SOURCE,
    )


def proposal(text: str) -> Proposal:
    """A fact that says it, proven by it."""
    return Proposal(
        "NEW", "", Draft(text), (text,), "user", "FACT", before=text
    )


VALUES: dict[str, Callable[[str], Any]] = {
    "str": str,
    "object": str,
    "Message": message,
    "JsonMapping": message,
    "JsonObject": lambda text: {"messages": messages(text)},
    "Completion": Completion,
    "CompletionRequest": lambda text: CompletionRequest(
        text, text, "form", {}
    ),
    "Memory": lambda text: Memory("1", text, 0, 0),
    "Draft": Draft,
    "Turn": turn,
    "Utterance": lambda text: Utterance("user", text),
    "Proposal": proposal,
    "re.Match[str]": lambda text: re.match(r"(?s)(?P<value>.*)", text),
    "Settings": lambda _: SETTINGS,
    "Gate": lambda _: Gate(SETTINGS),
    "Callable[[str], str]": lambda _: str,
    "Mapping[str, str]": lambda text: dict.fromkeys(parts(text), "a"),
    "int": lambda _: 1000,
    "float": lambda _: 1000.0,
    "bool": lambda _: False,
    "date": lambda _: date(2026, 11, 26),
    "datetime": lambda _: datetime(2026, 11, 26, tzinfo=UTC),
    "Provenance": lambda _: SOURCE,
}
_SEVERAL: dict[str, Callable[[str], list[Any]]] = {
    "str": parts,
    "Message": messages,
    "AnyMessage": messages,
    "JsonMapping": messages,
    "JsonObject": messages,
    "Memory": memories,
    "Any": lambda text: [{"type": "text", "text": text}],
    "Proposal": lambda text: [
        proposal(text),
        proposal(text[1:]),
        proposal(text).decided("saved", ""),
        proposal(text[1:]).decided("rejected", text),
    ],
}
_COLLECTIONS = re.compile(
    r"(Sequence|Iterable|Collection|Set|frozenset|list|tuple)\[(.+?)(?:, \.\.\.)?\]"
)


def arguments(function: TextFunction, text: str) -> dict[str, Any] | None:
    """Values for what a function requires, and for its texts; ``None`` where one is unknown."""
    values: dict[str, Any] = {}
    said = text
    for parameter in _parameters_as_written(inspect.unwrap(function.call)):
        is_required = parameter.default is parameter.empty
        if parameter.kind is parameter.VAR_KEYWORD or not (
            is_required or parameter.name in function.texts
        ):
            continue
        is_text = parameter.name in function.texts
        value = _value(str(parameter.annotation), said if is_text else "name")
        if value is None or parameter.kind is parameter.VAR_POSITIONAL:
            return None
        values[parameter.name] = value
        said = (
            said[1:] if is_text else said
        )  # of two texts the second differs a little
    return values


def _value(annotation: str, text: str) -> Any:
    annotation = annotation.removesuffix(" | None")
    if found := _COLLECTIONS.fullmatch(annotation):
        make = _SEVERAL.get(found[2])
        several = make(text) if make else None
        if several is None:
            return None
        kinds = {"frozenset": frozenset, "Set": frozenset, "tuple": tuple}
        return kinds.get(found[1], list)(several)
    return VALUES[annotation](text) if annotation in VALUES else None
