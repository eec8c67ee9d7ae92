"""What people say of themselves: whatever stands in the first person and neither asks nor requests.

English is told in the third person, a sentence in another language is kept as it was said. A few
forms, such as a home, get one wording, so that the next of the same kind corrects the last.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from demo.standin.words import listed

# A message of this demo is a few sentences; the rest of a pasted book is not looked at.
_LONGEST_MESSAGE = 20_000
_LONGEST_CLAUSE = 300

_TYPOGRAPHY = str.maketrans("\u2019\u2018\u02bc", "'''", '"\u201c\u201d\u201e')
_SPELLED_OUT = (
    (re.compile(r"\bI'm\b|^im\b", re.I), "I am"),
    (re.compile(r"\b(I|we)'ve\b", re.I), r"\1 have"),
    (re.compile(r"\b(I|we)'d\b", re.I), r"\1 would"),
    (re.compile(r"\b(I|we)'ll\b", re.I), r"\1 will"),
    (re.compile(r"\bwe're\b", re.I), "we are"),
    (re.compile(r"'s (?=(?:called|named)\b)", re.I), " is "),
    (re.compile(r"\b(name|birthday)'s (?=\w)", re.I), r"\1 is "),
    (
        re.compile(
            r"^(I .*? (?:and|but)) (?=(?:live|work|am|have|moved|want|like|love)\b)"
        ),
        r"\1 I ",
    ),
)
# Not after "St." and the like, and not inside "3.5".
_SENTENCE_END = re.compile(
    r"(?<!\b[SDM][tr]\.)(?<!\bMrs\.)(?<=[.!?;])[')]*\s+|\n+"
)
_NEXT_CLAUSE = re.compile(
    r"(?:,\s*(?:and|but)|\s+and|\s+but|,)\s+"
    r"(?=(?:I|we|he|she|it|they|call me)\b|(?:my|our|his|her) [\w' -]{1,40}? (?:is|are)\b)",
    re.I,
)
_LEAD_IN = re.compile(
    r"^(?:(?:actually|well|oh|no|yes|sorry|hi|hello|hey|there|so|ok|okay|also|and|but|btw|now"
    r"|by the way|please|you can|(?:can|could|would|will|i want|i would like) you(?: to)?)\b"
    r"[,:!]?\s+)+",
    re.I,
)
_TRAILING = re.compile(
    r"(?:,?\s+(?:right now|now|these days|too|as well|by the way|btw|please|actually|any ?more)"
    r"|,?\s+(?:and )?not (?!only\b)[^,]{1,60}|\s*[:;]-?[)(DP]|[^\w)%°€$£+#]+)$",
    re.I,
)
_FILLER = re.compile(
    r"^((?:i|we)(?: am| are| have)?)(?: (?:really|just|recently|still))+ ",
    re.I,
)
_REMEMBER = re.compile(
    r"(?:remember|(?:do not|don't) forget|keep in mind)(?:,? that|:|,?(?= (?:i|my|we|our|the)\b))"
    r",? (?P<rest>.{1,200})",
    re.I,
)
_FORGET = re.compile(
    r"forget(?: about)?(?: the fact)?(?: that)? (?P<rest>.{1,200})", re.I
)
_SUPPOSED = re.compile(
    r"(?:if|when|imagine|suppose|let's say|pretend)\b", re.I
)

_FIRST_PERSON = re.compile(r"(?:i|we) \S|(?:my|our) \S+ \S", re.I)
_LATER_IN_CLAUSE = re.compile(
    r"(?:in|for|since|at|on|every|next|last|from|after|until|usually|as)\b.{1,80}?\b(?:I|we) ",
    re.I,
)
# A wish for this conversation, small talk, a passing state, or about nothing that is named.
_NO_FACT = re.compile(
    r"""
    \b(?:i|we)\ (?:do\ not\ |don't\ )?(?:
        (?:want|need|would\ (?:like|love))\ (?:an?|some|the|more|any|help|you|your
            |to\ (?:know|ask|see|understand|hear|talk|tell|say|thank))\b
        |have\ .{0,20}?\b(?:question|problem|issue|request|task|idea|bug)s?\b
        |am\ (?:not\ )?(?:looking\ for|trying|wondering|asking|sorry|glad|fine|ok|sure|done|back)\b
        |(?:think|guess|wonder|suppose|mean|hope|wish|thank|appreciate|believe|doubt|ask)\b
        |(?:see|know|agree|understand|can|do|will|am|have|was)$
        |\w+\ (?:it|that|this|you|your|how|what|when|why|if|so)\b
    )
    |^(?:my|our)\ (?:questions?|problem|issue|code|guess|point|message|bad)\b
    |\b(?:today|tonight|tomorrow|a\ bit|right\ now|at\ the\ moment)\b
    """,
    re.I | re.VERBOSE,
)
# German, Portuguese, Spanish, French: what speaks of the speaker, and what asks for something.
_ELSEWHERE = listed(
    """
    ich wir mein meine meinen meinem meiner unser unsere eu nós meu minha meus minhas nosso nossa
    sou estou tenho moro toco gosto vivo trabalho falo estudo aprendo adoro chamo prefiro yo soy
    estoy tengo je j'ai mon ma nous
    """
)
_ASKED_ELSEWHERE = listed(
    """
    was wie wo wer wann warum welche kannst wissen frage fragen hilfe brauche möchte qual quem
    onde como quando você pode saber pergunta ajuda preciso quiero voudrais besoin
    """
)

_VALUE = r"(?P<value>.{1,200}?)"
_LATELY = r"(?: (?:last|this) \w+| in (?:19|20)\d\d| (?:\w+ ){1,3}ago| yesterday| recently)?"
_FORMS = (
    (
        rf"call me (?!(?:back|later|when|if|an?|the)\b){_VALUE}",
        "User's name is {}.",
    ),
    (
        rf"(?:i|we) (?:have )?moved (?:from .{{1,60}}? )?to {_VALUE}{_LATELY}",
        "User lives in {}.",
    ),
    (
        rf"(?:i|we) (?:am|are) (?:living|based) in {_VALUE}",
        "User lives in {}.",
    ),
)
# True once at a time, so that the next sentence with this beginning corrects it.
_SINGLE = re.compile(
    r"User(?:'s (?:(?:favou?rite .{1,40}?|name|birthday|age|job|address) (?:is|are)"
    r"|.{1,40}?(?:'s name is| (?:is|are) called))| lives in| works (?:as|at|for)| is from) "
)
_PERSONS = (
    (re.compile(r"\bI am\b"), "they are"),
    (re.compile(r"\b(?:[Ii]|[Ww]e)\b"), "they"),
    (re.compile(r"\b(?:[Mm]y|[Oo]ur)\b"), "their"),
    (re.compile(r"\b(?:me|us)\b"), "them"),
)
_UNCHANGED_VERBS = listed(
    """
    can cannot could had may might must should will would was began bought built came did felt
    found gave got grew knew left lost made met ran said saw sold spent taught took went won
    """
)
_IRREGULAR_VERBS = {
    "am": "is",
    "are": "is",
    "were": "was",
    "have": "has",
    "do": "does",
}
_ADVERBS = listed("always also never often only sometimes usually")


def statements_in(message: str) -> list[str]:
    """What a message states of its writer, as sentences in their order, none twice."""
    found: dict[str, None] = {}
    for sentence in _sentences(message):
        if _is_elsewhere(sentence):
            found[f"User: {sentence}"] = None
        else:
            found |= {
                told: None
                for clause in _clauses(sentence)
                if (told := _told(clause))
            }
    return list(found)


def frame_of(content: str) -> str:
    """How a sentence begins that is true once at a time; empty where others may stand beside it."""
    single = _SINGLE.match(content)
    return single[0].strip() if single else ""


def forgotten_in(message: str) -> Iterator[str]:
    """What the message asks to forget, in the user's words."""
    for sentence in _sentences(message):
        for clause in _clauses(sentence):
            if wish := _FORGET.fullmatch(clause):
                yield wish["rest"]


def _sentences(message: str) -> Iterator[str]:
    """The sentences of a message that may state something: no questions, no suppositions."""
    for sentence in _SENTENCE_END.split(
        message[:_LONGEST_MESSAGE].translate(_TYPOGRAPHY)
    ):
        sentence = _LEAD_IN.sub("", " ".join(sentence.split()))
        asked = sentence.endswith("?") and not (
            _REMEMBER.match(sentence) or _FORGET.match(sentence)
        )
        if sentence and not asked and not _SUPPOSED.match(sentence):
            yield sentence


def _is_elsewhere(sentence: str) -> bool:
    """In another language, of the speaker, and no question."""
    words = re.findall(r"[\w']+|,", sentence.casefold())
    opening = {*itertools.takewhile(lambda word: word != ",", words[:5])}
    return bool(_ELSEWHERE & opening) and not _ASKED_ELSEWHERE & {*words}


def _clauses(sentence: str) -> Iterator[str]:
    for pattern, plain in _SPELLED_OUT:
        sentence = pattern.sub(plain, sentence)
    for clause in _NEXT_CLAUSE.split(sentence):
        if len(clause) <= _LONGEST_CLAUSE and (
            plain := _tidy(_LEAD_IN.sub("", clause))
        ):
            yield plain


def _tidy(text: str) -> str:
    """The text without closing punctuation, emoji, quotation marks and words that add nothing."""
    while (shorter := _TRAILING.sub("", text.lstrip(" \t\"'"))) != text:
        text = shorter
    return text


def _told(clause: str) -> str:
    """The clause as a sentence about the user; empty where it is none."""
    wish = _REMEMBER.fullmatch(clause)
    clause = _FILLER.sub(r"\1 ", wish["rest"] if wish else clause)
    if not wish and _NO_FACT.search(clause):
        return ""
    if _LATER_IN_CLAUSE.match(clause):
        return f"User: {clause}."
    for form, template in _FORMS:
        if parts := re.fullmatch(form, clause, re.I):
            return template.format(_in_third_person(parts["value"]))
    return (
        _about_the_user(clause) if wish or _FIRST_PERSON.match(clause) else ""
    )


def _about_the_user(clause: str) -> str:
    first, _, rest = clause.partition(" ")
    if first.casefold() in ("i", "we"):
        return f"User {_conjugated(rest)}."
    if first.casefold() in ("my", "our"):
        return f"User's {_in_third_person(rest)}."
    return f"{clause[:1].upper()}{_in_third_person(clause[1:])}."


def _conjugated(predicate: str) -> str:
    """What follows "I", as it follows "User"."""
    verb, space, rest = predicate.partition(" ")
    if verb in _ADVERBS and rest:
        return f"{verb} {_conjugated(rest)}"
    positive = verb.removesuffix("n't")
    if positive in _IRREGULAR_VERBS:
        verb = _IRREGULAR_VERBS[positive] + (
            " not" if verb != positive else ""
        )
    elif verb == positive not in _UNCHANGED_VERBS and not verb.endswith("ed"):
        verb += (
            "es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s"
        )
        verb = f"{verb[:-2]}ies" if re.search(r"[^aeiou]ys$", verb) else verb
    return f"{verb}{space}{_in_third_person(rest)}"


def _in_third_person(text: str) -> str:
    for pattern, other in _PERSONS:
        text = pattern.sub(other, text)
    return text
