"""Chat messages as Open WebUI passes them, and texts as its page shows them.

Values may have any shape, as hosts, models and stored rows deliver them, and texts any character.
"""

import html
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, TypeAlias, cast
from zoneinfo import ZoneInfo

from adaptive.core.model import JsonMapping, JsonObject, Utterance

# What JSON may hold.
Json: TypeAlias = (
    "bool | int | float | str | list[Json] | Mapping[str, Json] | None"
)
Message = JsonMapping
# From the messages of a chat to those that may be remembered.
MessageFilter = Callable[[Sequence[Message]], Sequence[Message]]
_LATEST_SECONDS = 1e11  # the year 5138
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
# Marks that follow a letter are sorted when a text is normalised, which takes the square of their
# number. No language needs more of them (Unicode Standard Annex 15, section 13).
_MOST_MARKS = 30
_MARKS_IN_A_ROW = re.compile(rf"[^\w\x00-\x7f]{{{_MOST_MARKS + 1},}}")
# A line that we add to an answer has a fixed form, so that it is known wherever the answer comes
# back: as part of the conversation for a model, or as something to learn from.
_NOTE_START = "> 🧠 *Adaptive Memory:* "
_NOTE = re.compile(f"^{re.escape(_NOTE_START)}.*$", re.MULTILINE)


def mapping(value: object, *names: str) -> JsonMapping:
    """The value, or what lies in it under names one within the other; empty if no mapping."""
    for name in names:
        value = mapping(value).get(name)
    return cast(JsonMapping, value) if isinstance(value, Mapping) else {}


def listing(value: object) -> list[Json]:
    """The value if it is a list, else an empty one."""
    return cast(list[Json], value) if isinstance(value, list) else []


def text_field(fields: JsonMapping, name: str) -> str:
    """The text of a field, empty where there is none."""
    return str(fields.get(name) or "")


def messages_of(body: JsonMapping) -> list[JsonObject]:
    """The messages of a request, or those that an outlet is shown."""
    return [
        dict(mapping(message)) for message in listing(body.get("messages"))
    ]


def message_text(message: Message) -> str:
    """The text of a message as it can be stored; whatever was sent is read by this function alone.

    It is the content, the text parts of a content list, or the output: Open WebUI 0.10 leaves the
    content of answers empty and keeps them in ``output`` items.
    """
    return storable_text(_sent_text(message))


def _sent_text(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, str) and content:
        return content
    parts = [*listing(content)]
    if not parts:
        for item in map(mapping, listing(message.get("output"))):
            if item.get("type") == "message":
                parts += listing(item.get("content"))
    texts = [
        part.get("text")
        for part in map(mapping, parts)
        if part.get("type", "text") in ("text", "output_text")
    ]
    return "\n".join(text for text in texts if isinstance(text, str))


def is_of_user(message: Message) -> bool:
    """Whether the user has said a message."""
    return message.get("role") == "user"


def newest_user_message(messages: Sequence[Message]) -> Message | None:
    """The last message whose role is ``user``."""
    return next(filter(is_of_user, reversed(messages)), None)


def closing_answer(messages: Sequence[Message]) -> JsonObject:
    """The answer that ends messages; empty where none does."""
    answer = dict(mapping(messages[-1])) if messages else {}
    return answer if answer.get("role") == "assistant" else {}


def spoken_text(text: str) -> str:
    """A message's text without what the host or a filter put into it."""
    # Reasoning, tool calls and code runs stand as <details> blocks in stored answers up to Open
    # WebUI 0.9 (host: utils/middleware.py, serialize_output).
    spoken = without_spans(
        without_spans(text, "details"),
        "adaptive_memory|memory_context|attached_files",
    )
    return without_answer_note(spoken).strip()


def typed_message(
    messages: Sequence[Message], message_id: str
) -> tuple[Message, str] | None:
    """The user's message of that id, or the newest one, with its typed words if there are any."""
    named = (
        message
        for message in messages
        if message_id and message.get("id") == message_id
    )
    newest = next(named, None) or newest_user_message(messages)
    words = spoken_text(message_text(newest)) if newest else ""
    return (newest, words) if newest is not None and has_words(words) else None


def earlier_utterances(
    messages: Sequence[Message], before: Message, limit: int
) -> tuple[Utterance, ...]:
    """The last ``limit`` texts of user and assistant that stand before a message, oldest first."""
    earlier = [
        *itertools.takewhile(lambda message: message is not before, messages)
    ]
    # From the newest back, so that no more messages are read than are wanted.
    utterances = filter(None, map(_utterance, reversed(earlier)))
    return tuple(itertools.islice(utterances, limit))[::-1]


def _utterance(message: Message) -> Utterance | None:
    """What the user or the assistant said in a message; ``None`` where nothing was said."""
    role = message.get("role")
    if role not in ("user", "assistant"):
        return None
    text = spoken_text(message_text(message))
    return Utterance(role, text) if text else None


def without_spans(text: str, tags: str) -> str:
    """The text without each span from a tag of this pattern to the next closing one.

    It takes linear time; one pattern would take minutes for 200 kB. What closes nothing goes, too.
    """
    if "</" not in text:
        return text
    opening = re.compile(rf"<(?:{tags})\b[^<>]*>", re.IGNORECASE)
    closing = re.compile(rf"</(?:{tags})>\s*", re.IGNORECASE)
    *closed, rest = closing.split(text)
    outside = [opening.split(part, maxsplit=1)[0] for part in closed]
    return "".join([*outside, rest])


def without_answer_note(text: str) -> str:
    """An answer without the lines that were added to it; as it is where there are none."""
    first, *others = _NOTE.split(text)
    parts = [first.rstrip(), *(other.strip() for other in others)]
    return "\n\n".join(filter(None, parts)) if others else text


def rewritten_answers(
    messages: Sequence[JsonObject], rewrite: Callable[[str], str]
) -> list[JsonObject]:
    """Messages whose answers are rewritten."""
    return [
        {**message, **rewritten_answer(message, rewrite)}
        if mapping(message).get("role") == "assistant"
        else message
        for message in messages
    ]


def rewritten_answer(
    message: JsonMapping, rewrite: Callable[[str], str]
) -> JsonObject:
    """The fields of an answer that change when what the model says in it is rewritten.

    Open WebUI shows ``content`` up to 0.9 and ``output`` from 0.10 on, and may keep both. In
    ``output`` reasoning, calls of tools and their results stay as they are.
    """
    fields = {
        name: _rewritten(message.get(name), rewrite)
        for name in ("content", "output")
    }
    return {
        name: value
        for name, value in fields.items()
        if value != message.get(name)
    }


def _rewritten(said: object, rewrite: Callable[[str], str]) -> object:
    """A text, a part with a text, an item with parts, or a list of these, with texts rewritten."""
    if isinstance(said, str):
        return rewrite(said)
    part = mapping(said)
    if part.get("type") == "message":
        return {**part, "content": _rewritten(part.get("content"), rewrite)}
    if isinstance(text := part.get("text"), str):
        return {**part, "text": rewrite(text)}
    return [_rewritten(one, rewrite) for one in listing(said)] or said


_SENTENCE_ENDS = re.compile(
    r"(?<=[.!?\u2026\u061f\u06d4\u0589\u0964\u0965\u104b\u17d4])\s+"
    r"|(?<=[\u3002\uff01\uff1f])|(?<=[!?])(?=[\u3041-\u9fff])|\n+"
)


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit of any script in the text."""
    return _LETTER_OR_DIGIT.search(text) is not None


def said_at(message: Message, now: float) -> int:
    """When a message was said, in epoch seconds: its timestamp if it is a usable one, else now."""
    stamp = message.get("timestamp")
    if isinstance(stamp, int | float) and 0 < stamp <= _LATEST_SECONDS:
        return int(stamp)
    return int(now)


def newest_branch(
    stored: Iterable[Message], newest_id: str = ""
) -> list[Message]:
    """The messages of a chat down one branch, oldest first.

    Of a chat with branches (regenerated answers, edited questions) that one counts which goes
    through ``newest_id``, where that is known, and ends in the newest message: the chat may have
    gone on since.
    """
    by_id = {
        str(message["id"]): message for message in stored if message.get("id")
    }
    children: dict[str, list[str]] = {}
    # Of one second the last that is stored: an edit comes after what it was.
    for id_, message in reversed(by_id.items()):
        children.setdefault(str(message.get("parentId")), []).append(id_)

    def time_of(id_: str) -> int:
        """When a message was said."""
        return said_at(by_id[id_], 0)

    if newest_id in by_id:
        for _ in by_id:
            newest_id = max(children.get(newest_id, [newest_id]), key=time_of)
    else:
        leaves = [id_ for id_ in reversed(by_id) if id_ not in children]
        newest_id = max(leaves, key=time_of, default="")
    return branch_to(by_id, newest_id)


def branch_to(by_id: Mapping[str, Message], last_id: str) -> list[Message]:
    """The chain of parents that ends in a message, oldest first; a loop is walked once."""
    branch: dict[str, Message] = {}
    while last_id in by_id and last_id not in branch:
        branch[last_id] = by_id[last_id]
        last_id = str(by_id[last_id].get("parentId") or "")
    return [*reversed(branch.values())]


def local_time(epoch_seconds: float, *zone_names: str) -> datetime:
    """The time in the first of the named zones that exists, else in UTC; no year has five digits."""
    epoch_seconds = min(max(epoch_seconds, 0), _LATEST_SECONDS)
    for name in filter(None, map(str.strip, zone_names)):
        try:
            return datetime.fromtimestamp(epoch_seconds, ZoneInfo(name))
        except (
            KeyError,
            ValueError,
            OSError,
            RecursionError,
        ):  # no such zone, no name of one
            continue
    return datetime.fromtimestamp(epoch_seconds, UTC)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text that hold words, by how they end in most scripts."""
    parts = _SENTENCE_ENDS.split(text)
    return [part.strip() for part in parts if has_words(part)]


def passages(text: str, longest: int) -> list[str]:
    """The words of a text in pieces of at most ``longest`` characters, two at the least."""
    # As many words as there is room for, or the beginning of one that is longer.
    words = rf"\S(?:.{{0,{longest - 2}}}\S)?(?!\S)"
    return re.findall(rf"{words}|\S{{{longest}}}", " ".join(text.split()))


def estimated_tokens(text: str) -> int:
    """A rough count of tokens: four ASCII characters each, every other character one."""
    ascii_characters = len(text.encode("ascii", "ignore"))
    return -(-ascii_characters // 4) + len(text) - ascii_characters


def storable_text(text: str) -> str:
    """The text with a question mark for what databases refuse: NUL, and halves of characters."""
    return text.encode(errors="replace").decode().replace("\0", "?")


def normalised_text(text: str, form: Literal["NFKC", "NFKD"]) -> str:
    """The text in a normal form of Unicode, in linear time; of endless marks the first stay."""
    return unicodedata.normalize(
        form, _MARKS_IN_A_ROW.sub(_with_few_marks, text)
    )


def _with_few_marks(row: re.Match[str]) -> str:
    signs = row[0]
    others = (
        sign for sign in signs[_MOST_MARKS:] if not unicodedata.combining(sign)
    )
    return signs[:_MOST_MARKS] + "".join(others)


# What the page reads specially within a line gets a backslash. Brackets do not, since the page
# takes ``\(`` and ``\[`` for mathematics: what they would start is parted by a joiner.
_ACTIVE = re.compile(
    r"(?=[`*_{<&$~|])|(?<=http)(?=:)|(?<=https)(?=:)|(?<=ftp)(?=:)|(?<=www)(?=\.)",
    re.IGNORECASE,
)
_PARTED = re.compile(r"(?<=\[)|(?<=\])(?=[(\[:])")
_LEADING = re.compile(r"\d{1,9}(?=[.)])|(?=[-+#=>])")
_WORD_JOINER = "\u2060"
# Without anything below the page shows no line either; this shows the line, and nothing to open.
_NOTHING_BELOW = "&nbsp;"
# What of a line is only there for Markdown, and signs for the angle brackets that begin tags.
_MARKUP = re.compile(rf"\\(?=[^\w\s{_WORD_JOINER}])|\*\*|`|{_WORD_JOINER}")
_NO_TAGS = str.maketrans("<>", "\u2039\u203a")
# Control characters, and those that would turn the rest of the line around.
_UNSHOWN = re.compile("[\x00-\x08\x0e-\x1b\x7f\u202a-\u202e\u2066-\u2069]")
_LONGEST_ANSWER_NOTE = 600


def plain_line(text: str) -> str:
    """A text as one line of Markdown without any markup, so that no image is loaded from it.

    A backslash is followed by an invisible joiner, too. Addresses are not made links.
    """
    line = " ".join(_UNSHOWN.sub("", text).split()).replace("\\", "\0")
    escaped = _PARTED.sub(_WORD_JOINER, _ACTIVE.sub(r"\\", line))
    escaped = escaped.replace("\0", "\\\\" + _WORD_JOINER)
    start = _LEADING.match(escaped)
    return f"{start[0]}\\{escaped[start.end() :]}" if start else escaped


def plain_lines(text: str) -> str:
    """A text of several lines as Markdown that keeps its lines and has no markup."""
    paragraphs = re.split(r"\n[ \t]*\n", text.strip("\n"))
    shown = (
        "  \n".join(map(plain_line, one.splitlines())) for one in paragraphs
    )
    return "\n\n".join(one for one in shown if one.strip())


def clipped_line(text: str, limit: int) -> str:
    """A text on one line, of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def folded_away(text: str) -> str:
    """A Markdown text as a block that the page shows folded, under its first line.

    The host writes titles, tags and follow-ups from what stands in a chat, and cuts such blocks out
    first (host: utils/middleware.py, background_tasks_handler). The page shows the line as it
    stands, and decodes entities in the rest.
    """
    first, _, rest = text.strip().partition("\n")
    line = _MARKUP.sub("", first).translate(_NO_TAGS).strip()
    body = html.escape(rest.strip(), quote=False) or _NOTHING_BELOW
    return f"<details>\n<summary>{line}</summary>\n\n{body}\n\n</details>"


def answer_note(line: str) -> str:
    """What is added to an answer: a quote of one line that shows the text without any markup."""
    return _NOTE_START + plain_line(clipped_line(line, _LONGEST_ANSWER_NOTE))
