"""Commands to memory in a message: "Remember that ..." and "Forget ...", read without a model.

They work even when the model fails. Read is only what leaves no doubt; what a remember command
tells is kept in the user's own words.
"""

# ruff: noqa: RUF001 - the words are in several scripts

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from adaptive.learn.command_patterns import command_matches
from adaptive.learn.parts import masked_citations, message_parts
from adaptive.learn.worth import has_first_person
from adaptive.model import Memory
from adaptive.search.tokens import tokens

# Commands stand near the beginning, and are short.
_COMMANDING_TEXT = 6000
_LONGEST_COMMAND = 400
_MOST_CLAUSES = 4
_LONGEST_CONTENT = 1000
_LEAST_COVERAGE = 0.6
# Inflected forms that the stems leave apart, as "wohne" and "wohnt".
_SHARED_STEM = 4
_LONGEST_ENDING = 3

_END = re.compile(r"[.!?…]+[\"')\]»”]*(?=\s|$)|[。！？]+[」』”]?|\n+")
_END_MARKS = " \t\r\n.!?。！？…"
_BULLETS = " \t\r\n-*•·"
_QUOTE_SIGNS = "\"'“”„«»「」『』"
_ABBREVIATIONS = frozenset(
    "dr mr mrs ms prof st no vs e.g i.e z.b d.h bzw ca etc sr sra srta jr av nr str a.m p.m approx"  # noqa: SIM905 - shorter
    " dott ing г ул т.е т.д им".split()
)
_GERMAN_MONTH = re.compile(r" (?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")
_UNSPACED_SIGN = re.compile("[\u3041-\u30ff\u4e00-\u9fff]")
# Asked, a command is one only if it is a polite one.
_POLITE_ASKING = re.compile(
    r"\b(?:can|could|would|will) you\b|\b(?:kannst|könntest|peux|pourrais|pouvez|puedes|podrías"
    r"|podes?|puoi|potresti|можешь|можете)\b|\b(?:ok(?:ay)?|please|bitte)$|可以|能|くれますか",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"[, ]+(?:please|bitte|s'il (?:te|vous) plaît|por favor|per favore|пожалуйста)\W*$"
    r"|, *(?:thanks|thank you|ok(?:ay)?|danke|merci|gracias|obrigad[oa]|grazie|спасибо)\W*$"
    r"|^(?:please|bitte|por favor|per favore)[, ]+",
    re.IGNORECASE,
)
# A command in the middle of a sentence leaves no doubt in these forms only.
_INNER_KINDS = frozenset({"fact", "own", "clause", "dass", "subject"})
_COMMA = re.compile(r"[,;–—] *(?:(?:so|and|but|also|und|et|y|e|и|所以|请) )*")
_REPORTED = re.compile(
    r"\b(?:said|says|told \w+|tells \w+|wrote|sagte|sagt|dit|dijo|dice|disse|сказала?)\W*$",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"(?:i|i'm|i've|my|we|our|ich|meine?|wir|unsere?|je|j'|mon|ma|mes|mis?|tengo|soy|eu|meu|minha|io"
    r"|mi[oa]|ho|sono|я|у меня|мо[йяеи])\b|我",
    re.IGNORECASE,
)
_PRONOUNS = r"(?!(?:i|we|you|he|she|they|when|where|who|that|which)\b)"
_FINITE = (
    "is|are|was|were|has|have|had|will|would|can|can't|cannot|must|should|does|doesn't|don't|isn't"
    "|aren't|needs?|means?|costs?|makes?"
)
_CLAUSE_START = re.compile(
    r"(?:i|i'm|i've|i'd|i'll|my|we|we're|our|he|he's|she|she's|it|it's|they|they're|you|the|an?|this"
    r"|these|those|his|her|their|its|your|there|there's|no|not|all|every|both|when|if|on|in|at|for"
    r"|since|today|tomorrow|next|each|most|some|only)\b",
    re.IGNORECASE,
)
_NOUN_CLAUSE = re.compile(rf"(?:{_PRONOUNS}[\w'-]+,? ){{1,4}}?(?:{_FINITE})\b", re.IGNORECASE)
_NAMED_CLAUSE = re.compile(
    rf"(?:{_PRONOUNS}[\w'.-]+,? ){{1,5}}?(?:{_FINITE}|\w+(?:s|ed))\b|\w+'s ", re.IGNORECASE
)
_VERB_LAST = re.compile(
    r"(?:(?P<pronoun>ich|wir|er|sie|es) (?P<after>[^,;]+)"
    r"|(?P<noun>(?:meine?|unsere?) [A-ZÄÖÜ]\w+) (?P<more>[^,;\s]+|[a-zäöü][^,;]+)) "
    r"(?P<verb>bin|habe|war|hatte|wohne|lebe|arbeite|mag|liebe|hasse|heiße|kann|darf|will|möchte"
    r"|muss|werde|esse|trinke|spiele|fahre|spreche|lerne|studiere|besitze|brauche|vertrage|ist|hat"
    r"|heißt|wohnt|lebt|arbeitet|liebt|hasst|spielt|studiert|sind|haben|waren|wohnen|leben|arbeiten)"
)
# They tell which of several is meant, but no memory says so of itself.
_OF_OLD = re.compile(
    r"\b(?:old|former|previous|current|alte[nrs]?|frühere[nrs]?|ancien(?:ne)?s?|viej[oa]s?|antigu[oa]s?"
    r"|antig[oa]s?|velh[oa]s?|vecchi[oa]?|стар(?:ый|ая|ое|ые|ого|ую))\b|旧的?|以前の|古い",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RememberCommand:
    """What to remember: ``content`` is the user's own sentence, with a capital and a full stop."""

    content: str


@dataclass(frozen=True, slots=True)
class ForgetCommand:
    """What to forget: the user's own words for it, or ``everything`` that is known of them."""

    subject: str = ""
    everything: bool = False


MemoryCommand = RememberCommand | ForgetCommand


@dataclass(frozen=True, slots=True)
class _Saying:
    """One sentence without end marks, the same with citations masked, the paragraph it is in."""

    text: str
    masked: str
    asked: bool
    paragraph: int


def read_commands(words: str) -> tuple[MemoryCommand, ...]:
    """All commands in a message of the user, in their order.

    What they quoted or pasted holds none. A list that a command introduces is one content.
    """
    typed = message_parts(words).typed[:_COMMANDING_TEXT].replace("’", "'")
    sayings = list(_sayings(typed))
    found = (_command(sayings, place) for place in range(len(sayings)))
    return tuple(command for command in found if command)


def words_beside_commands(words: str) -> str:
    """What the user typed in sentences that are no commands; of what they pasted nothing."""
    typed = message_parts(words).typed.replace("’", "'")
    sayings = list(_sayings(typed))
    beside = [one for place, one in enumerate(sayings) if not _command(sayings, place)]
    return " ".join(f"{one.text}{'?' if one.asked else '.'}" for one in beside)


def matching_memories(command: ForgetCommand, memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """Which memories a forget command means, by its words.

    Those that hold all telling words of the subject, else those that hold most of them, if that is
    at least 0.6 of them; all memories for ``everything``.
    """
    if command.everything:
        return tuple(memories)
    wanted = set(tokens(_OF_OLD.sub(" ", command.subject)))
    if not wanted:
        return ()
    shares = [_coverage(wanted, set(tokens(memory.content))) for memory in memories]
    best = max(shares, default=0.0)
    if best < _LEAST_COVERAGE:
        return ()
    return tuple(one for one, share in zip(memories, shares, strict=True) if share == best)


def _coverage(wanted: set[str], held: set[str]) -> float:
    return sum(any(_same_word(one, other) for other in held) for one in wanted) / len(wanted)


def _same_word(one: str, other: str) -> bool:
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return (
        len(short) >= _SHARED_STEM
        and long.startswith(short)
        and len(long) - len(short) <= _LONGEST_ENDING
    )


def _sayings(typed: str) -> Iterator[_Saying]:
    masked = masked_citations(typed)
    start = paragraph = 0
    ends = [found.end() for found in _END.finditer(masked) if not _abbreviates(masked, found)]
    for end in [*ends, len(masked)]:
        sentence = masked[start:end]
        lead = len(sentence) - len(sentence.lstrip(_BULLETS))
        body = sentence.rstrip(_END_MARKS)
        if len(body) > lead:
            text = typed[start + lead : start + len(body)]
            asked = any(mark in "?？" for mark in sentence[len(body) :])
            yield _Saying(text, body[lead:], asked, paragraph)
        paragraph += sentence.count("\n\n")
        start = end


def _abbreviates(text: str, end: re.Match[str]) -> bool:
    """Whether a full stop belongs to the word before it: "Dr. Silva", "J. Silva", "5. Mai"."""
    if not end[0].startswith("."):
        return False
    if _GERMAN_MONTH.match(text, end.end()) and text[end.start() - 1].isdigit():
        return True
    word = re.split(r"[\s(]", text[max(0, end.start() - 8) : end.start()])[-1].lower()
    return word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word != "i")


def _command(sayings: Sequence[_Saying], place: int) -> MemoryCommand | None:
    saying = sayings[place]
    if len(saying.text) > _LONGEST_COMMAND:
        return None
    for match in command_matches(saying.masked):
        if saying.asked and not _POLITE_ASKING.search(saying.masked):
            return None
        if command := _read_form(match, sayings, place):
            return command
    return _inner_command(saying)


def _read_form(
    match: re.Match[str], sayings: Sequence[_Saying], place: int
) -> MemoryCommand | None:
    kind = str(match.lastgroup)
    start, end = match.span(kind)
    text = sayings[place].text
    said = text[start:end].strip()
    if kind == "errand":
        # Within a longer message "remember to ..." belongs to the work at hand.
        alone = all(one.asked for one in sayings if one is not sayings[place])
        return _remembered(text[match.start() :]) if alone else None
    if kind == "bare":
        before = sayings[place - 1] if place else None
        return _remembered(before.text) if before and not before.asked else None
    if kind == "list" and not said:
        return _remembered(*_items_below(sayings, place))
    return _of_kind(kind, said)


def _of_kind(kind: str, said: str) -> MemoryCommand | None:
    if kind == "all":
        return ForgetCommand(everything=True)
    if kind == "subject":
        subject = _COURTESY.sub("", said).strip(" ,\"'“”„«»")
        return ForgetCommand(subject) if subject else None
    if (kind == "own" and not has_first_person(said)) or (
        kind == "clause" and not _is_clause(said)
    ):
        return None
    return _remembered(_main_clause(said) if kind == "dass" else said)


def _items_below(sayings: Sequence[_Saying], place: int) -> list[str]:
    """The items below a sentence that announces them."""
    below = sayings[place + 1 :]
    return [one.text for one in below if one.paragraph == below[0].paragraph and not one.asked]


def _inner_command(saying: _Saying) -> MemoryCommand | None:
    """A command in the middle of a sentence: "I cook tonight, so remember that I eat no meat"."""
    if saying.asked:
        return None
    for comma in islice(_COMMA.finditer(saying.masked), _MOST_CLAUSES):
        if _REPORTED.search(saying.masked[: comma.start()]):
            continue
        inner = saying.masked[comma.end() :]
        for match in command_matches(inner):
            kind = str(match.lastgroup)
            start, end = match.span(kind)
            said = saying.text[comma.end() :][start:end]
            if _OWN.match(said) and kind in _INNER_KINDS:
                return _of_kind(kind, said)
    return None


def _remembered(*sentences: str) -> RememberCommand | None:
    """The sentences as a content, if they say anything."""
    kept = [_as_sentence(one) for one in sentences]
    content = " ".join(one for one in kept if one)
    return RememberCommand(content) if 0 < len(content) <= _LONGEST_CONTENT else None


def _as_sentence(said: str) -> str:
    """With a capital and a full stop, without courtesy and the quotation marks around it."""
    text = _COURTESY.sub("", said).strip().rstrip(_END_MARKS + ",;:")
    if text[:1] in _QUOTE_SIGNS and text[-1:] in _QUOTE_SIGNS:
        text = text[1:-1].strip().rstrip(_END_MARKS)
    unspaced = _UNSPACED_SIGN.search(text) is not None
    if not (len(text) >= 3 if unspaced else len(text.split()) >= 2):
        return ""
    if not text[1:2].isupper():
        text = text[0].upper() + text[1:]
    return text + ("。" if _UNSPACED_SIGN.match(text[-1]) else ".")


def _is_clause(said: str) -> bool:
    """Whether "that" began a clause, as in "that tea is fine", not "that tea we had"."""
    if _CLAUSE_START.match(said):
        return True
    return (_NAMED_CLAUSE if said[:1].isupper() else _NOUN_CLAUSE).match(said) is not None


def _main_clause(said: str) -> str:
    """A German subordinate clause as a main clause where its verb is certain, else with "dass"."""
    match = _VERB_LAST.fullmatch(said)
    if not match:
        return f"dass {said}"
    subject, rest = match["pronoun"] or match["noun"], match["after"] or match["more"]
    return f"{subject} {match['verb']} {rest}"
