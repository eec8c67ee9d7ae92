"""What no rewriting of facts may lose: numbers, names, negations, and most of the words.

Found by form alone, in any language that writes names with a capital letter. Where the form leaves
a doubt (a word that opens a sentence may be a name), the word counts as one: a summary that is
refused costs a model call, one that lost a fact costs the fact.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from adaptive.search.tokens import tokens

_WORD_OR_NUMBER = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")
_ENDS_OF_SENTENCE = frozenset(".!?…:")
_NEGATED_VERB = re.compile(r"n['\u2019]t\b", re.IGNORECASE)
# Numbers of four digits are years, longer ones and fractions amounts: several facts share them.
_SHARED_FROM_DIGITS = 4

# Left out is what means something else in another language: "once", "due", "elf", "neuf", "sei".
_NUMBERS_IN_WORDS = {
    "2": "two zwei deux dos dois duas",
    "3": "three drei trois tres três tre",
    "4": "four vier quatre cuatro quattro quatro",
    "5": "five fünf cinq cinco cinque",
    "6": "six sechs seis",
    "7": "seven sieben sept siete sette sete",
    "8": "eight acht huit ocho otto oito",
    "9": "nine neun nueve nove",
    "10": "ten zehn dix diez dieci dez",
    "11": "eleven onze undici",
    "12": "twelve zwölf douze dodici",
    "20": "twenty zwanzig vingt veinte venti vinte",
    "30": "thirty dreißig trente treinta trenta trinta",
    "40": "forty vierzig quarante cuarenta quaranta quarenta",
    "50": "fifty fünfzig cinquante cincuenta cinquanta cinquenta",
    "60": "sixty sechzig soixante sesenta sessanta sessenta",
    "70": "seventy siebzig setenta settanta",
    "80": "eighty achtzig ochenta ottanta oitenta",
    "90": "ninety neunzig noventa novanta",
    "100": "hundred hundert cent cien cento cem",
    "1000": "thousand tausend mille mil",
    "half": "half",
    "twice": "twice",
    "dozen": "dozen",
}
_NUMBER_OF_WORD = {
    word: number for number, words in _NUMBERS_IN_WORDS.items() for word in words.split()
}
_NEGATIONS_TEXT = """
    no not never none nor neither without cannot nobody nothing dislike dislikes disliked hate
    hates hated detests avoids refuses quit stopped former formerly ex anymore
    nicht kein keine keinen keinem keiner nie niemals ohne weder hasst ehemals früher
    pas jamais sans aucun aucune déteste nunca jamás sin ni odia não sem nem odeia
    non senza не нет никогда без ненавидит
"""
_NEGATIONS = frozenset(_NEGATIONS_TEXT.split())
# What somebody has but one of at a time. The words before it tell whose it is.
_ATTRIBUTES = {
    "home": r"lives|living|resides?|moved|wohnt|lebt|habite|vit|vive|mora|abita|живет|живёт",
    "work": r"works (?:at|for|as)|employed|arbeitet (?:bei|als|für)|travaille (?:chez|comme|pour)"
    r"|trabaja (?:en|como|para)|trabalha (?:na|no|em|como|para)|lavora (?:per|come|alla|in)"
    r"|работает",
    "marriage": r"married|single|divorced|engaged|widowed|verheiratet|ledig|geschieden|verlobt"
    r"|verwitwet|mariée?|célibataire|divorcée?|fiancée?|casad[oa]|solter[oa]|divorciad[oa]"
    r"|solteir[oa]|divorciad[oa]|sposat[oa]|divorziat[oa]|замужем|женат|разведена?",
    "favourite": r"favou?rite|lieblings\w{1,20}|préférée?|favorit[oa]|preferid[oa]|preferit[oa]",
}
# What the user is called; says nothing of which user.
_THE_USER_TEXT = """
    user users nutzer nutzers nutzerin benutzer benutzers utilisateur utilisatrice usuario usuaria
    usuário usuária utente пользователь i
"""
_THE_USER = frozenset(_THE_USER_TEXT.split())
# From this share of common words two texts speak of the same thing.
_SAME_THING = 0.6


@cache
def _attributes() -> re.Pattern[str]:
    """The words that name an attribute; groups are named after it."""
    named = "|".join(f"(?P<{name}>{words})" for name, words in _ATTRIBUTES.items())
    return re.compile(rf"\b(?:{named})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Particulars:
    """The particulars of a text.

    ``names`` are certain, ``openings`` are words that open a sentence and may be names; both are
    case-folded. ``capitals`` are all words with a capital letter, ``written`` all words.
    ``words`` are the words that say something, as keyword search compares them, without numbers and
    negations. ``attribute`` is what the text says of somebody who has but one of it, and of whom;
    both empty where it says no such thing.
    """

    numbers: Counter[str]
    names: frozenset[str]
    openings: frozenset[str]
    capitals: frozenset[str]
    written: frozenset[str]
    words: frozenset[str]
    negated: bool
    attribute: tuple[str, tuple[str, ...]]


def particulars(text: str) -> Particulars:
    """What a text says that a rewriting must keep; width and composition of letters don't count."""
    text = unicodedata.normalize("NFKC", text)
    telling = frozenset(tokens(text))
    numbers = Counter[str]()
    names: set[str] = set()
    openings: set[str] = set()
    capitals: set[str] = set()
    written: set[str] = set()
    apart: set[str] = set()
    for word, opens in _words_with_openings(text):
        folded = word.casefold()
        written.add(folded)
        number = _number_in_word(folded)
        if number:
            numbers[number] += 1
        if number or folded in _NEGATIONS:
            apart.update(tokens(word))
        if not any(letter.isupper() for letter in word):
            continue
        capitals.add(folded)
        if folded in _THE_USER:
            continue
        if not opens:
            names.add(folded)
        elif not telling.isdisjoint(tokens(word)):
            openings.add(folded)
    return Particulars(
        numbers,
        frozenset(names),
        frozenset(openings),
        frozenset(capitals),
        frozenset(written),
        telling - apart,
        not written.isdisjoint(_NEGATIONS) or _NEGATED_VERB.search(text) is not None,
        _attribute(text, telling),
    )


def _attribute(text: str, telling: frozenset[str]) -> tuple[str, tuple[str, ...]]:
    """Which attribute a text is about first, and whose: the telling words before it."""
    found = _attributes().search(text)
    if found is None:
        return "", ()
    whose = tuple(word for word in tokens(text[: found.start()]) if word in telling)
    return str(found.lastgroup), whose


def loss(originals: list[Particulars], rewritten: Particulars) -> str:
    """What a rewriting of several texts lost or added, in a few words; empty if nothing."""
    numbers = Counter[str]()
    for one in originals:
        numbers.update(one.numbers)
    needed = Counter({number: _least_times(number, count) for number, count in numbers.items()})
    if needed - rewritten.numbers:
        return "a number is missing"
    if any(one.names - rewritten.capitals or one.openings - rewritten.written for one in originals):
        return "a name is missing"
    if any(one.negated for one in originals) and not rewritten.negated:
        return "a negation is missing"
    known = frozenset[str]().union(*(one.written for one in originals))
    if rewritten.numbers.keys() - numbers.keys() or rewritten.names - known:
        return "it says more than the memories do"
    if any(len(one.words & rewritten.words) * 2 < len(one.words) for one in originals):
        return "a memory is left out"
    return ""


def contradict(first: Particulars, second: Particulars) -> bool:
    """Whether two texts may say different things of the same: then neither is to be merged.

    That is so when they have most words in common and differ in a number, in a negation, or in what
    a favourite is; and when both say where somebody lives, works, or whether they are married.
    It errs on the side of yes.
    """
    smaller, larger = sorted((first.words, second.words), key=len)
    same_thing = len(smaller & larger) >= _SAME_THING * len(smaller)
    if same_thing and first.negated != second.negated:
        return True
    numbers, others = first.numbers.keys(), second.numbers.keys()
    if same_thing and numbers - others and others - numbers:
        return True
    name = first.attribute[0]
    if not name or first.attribute != second.attribute or smaller <= larger:
        return False
    return same_thing or name != "favourite"


def tells_names(text: str) -> bool:
    """Whether names can be told by their capitals: not in Chinese, Arabic, Hindi and others."""
    letters = [letter for letter in text if letter.isalpha()]
    if text.isascii():
        return bool(letters)
    return bool(letters) and all(letter.lower() != letter.upper() for letter in letters)


def _words_with_openings(text: str) -> Iterator[tuple[str, bool]]:
    """The words of a text, each with whether it opens a sentence."""
    end = 0
    opens = True
    for match in _WORD_OR_NUMBER.finditer(text):
        opens = opens or not _ENDS_OF_SENTENCE.isdisjoint(text[end : match.start()])
        yield match.group(), opens
        end = match.end()
        opens = False


def _number_in_word(folded: str) -> str:
    """The number that a word is or holds, "two" being 2; empty where it is none."""
    if any(letter.isdigit() for letter in folded):
        return folded
    return _NUMBER_OF_WORD.get(folded, "")


def _least_times(number: str, count: int) -> int:
    """How often a number must stand in a rewriting of texts that hold it so often."""
    digits = sum(letter.isdigit() for letter in number)
    shared = digits >= _SHARED_FROM_DIGITS or not number.isdigit()
    return 1 if shared else count
