"""What somebody only imagines or plays in a message, told from what they say of themselves.

Imagined is what stands behind "if I were", "suppose", "imagine" and the like, up to a "but"; in a
role that is played nothing is meant, up to the end of the paragraph. Open conditions ("if I move
next year") and personas for the assistant alone ("act as a doctor") imagine nothing of the user.
"""

# ruff: noqa: RUF001 - the words are in several scripts

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from adaptive.text_cache import text_cache

# Of a longer message only its beginning is read; what it says further down leaves doubt.
_IMAGINED_TEXT = 4000

_LEADING_WORDS = (
    r"\W{0,9}(?:(?:so|and|but|now|ok(?:ay)?|well|hey|hi|please|then|just|for example|for fun"
    r"|let's play|also|und|aber|bitte|mal|et|alors|y|pues|bueno|e|então|allora|dai|а|и|ну|давай"
    r"|那么?|那麼)\b[\s,:.!]{0,9}){0,4}"
)
# They begin a sentence that is imagined, if they speak of the one who wrote it.
_SUPPOSING = (
    r"(?:suppose|supposing|imagine|let(?:'s| us) (?:say|assume|suppose|imagine)|assume|what if"
    r"|hypothetically|in a parallel (?:world|universe))(?:,? (?:that|for a (?:moment|second)))?,? "
    r"(?:i|i'm|i've|we|we're|(?:my|our)(?! (?:surprise|shock|joy|delight|face)))\b",
    r"(?:had|were) i\b|i wish (?:i|my|we|our)\b",
    r"(?:angenommen|stell(?:en sie sich| dir)(?: mal| bitte)? vor|nehmen wir(?: mal| einmal)? an"
    r"|gesetzt den fall|was wäre,? wenn|hypothetisch)\b.{0,20}\b(?:ich|wir|meine?|unsere?)\b"
    r"|(?:wäre|hätte) ich\b|(?:wären|hätten) wir\b",
    r"(?:(?:imagin|suppos)(?:e|ons|ez)|admettons|mettons|disons) qu|et si (?:j'|je|mon|ma|nous)\b",
    r"(?:imagina(?:te|d|os)?|imagínate|imaginemos|supongamos|supón|suponga|digamos|pongamos) que\b",
    r"(?:imagin[ae]|imaginemos|suponha(?:mos)?|vamos supor|digamos) que\b",
    r"(?:immagina(?:te|mo)?|immaginiamo|supponi(?:amo)?|mettiamo|poniamo) che\b",
    r"(?:представь(?:те)?|представим|вообрази(?:те)?|допустим|предположим|что если)\b.{0,20}"
    r"\b(?:я|мы|меня|нас|мо[йяеи])\b",
)
# They begin an imagined part anywhere in a sentence.
_COUNTERFACTUAL = (
    r"\bif (?:only )?(?:i|we) were(?:n't)?\b|\bif only (?:i|we|my)\b|\bi wish (?:i|we|my)\b",
    r"\bwenn (?:ich|wir|meine? \w+|unsere? \w+)\b[^,.;:!?]{0,80}\b(?:wär|hätt|würd|könnt|lebt|wohnt"
    r"|arbeitet|käm|verdient|gewänn|besäß)e(?:n|st)?\b",
    r"\bsi (?:j'|je (?:n'|ne )?|nous |mon \w+ |ma \w+ )[a-zà-ÿ]{1,12}(?:ais|ait|ions)\b",
    r"\bsi (?:yo |mi \w+ )?(?:no )?(?:fuera|fuese|[a-zñ]{2,12}(?:ara|iera|ase|iese)(?:mos)?)\b",
    r"\bse (?:eu |meu \w+ |minha \w+ )?(?:não )?[a-zç]{1,12}(?:asse|esse|isse|osse)(?:mos)?\b",
    r"\bse (?:io |mio \w+ |mia \w+ )?(?:non )?(?:fossi|[a-z]{1,12}(?:assi|essi|issi)(?:mo)?)\b",
    r"\bесли бы\b|假[如若使]|假[设設定](?=.{0,2}我)|想[象像]一下|[设設]想(?=.{0,4}我)",
    r"もし(?:も|私|僕|俺|わたし)|仮に|と仮定|想像して",
)
# A past tense, which is imagined beside "would", or in a question.
_PAST_IF = re.compile(
    r"\bif (?:i|we|my \w+|our \w+) (?!had to (?:choose|pick|say|guess|name|bet)\b)(?:was|were|had"
    r"|lived|worked|owned|won|could|spoke|earned|became|went|knew|got|made|(?:did|was|had|could)n't"
    r"|(?!remembered|recalled|understood)[a-z]{3,12}ed)\b",
    re.IGNORECASE,
)
_WOULD = re.compile(r"\b(?:would|could|might|should)(?:n't)?\b|\w'd\b|\?", re.IGNORECASE)
# What a sentence says behind these is meant again.
_MEANT_AGAIN = re.compile(
    r"[;—]|\b(?:but|however|in reality|in fact|aber|doch|sondern|weil|tatsächlich|mais|en réalité"
    r"|pero|porque|en realidad|mas|na verdade|però|in realtà|но|потому)\b|但|可是|不过|不過|其实"
    "|でも|けど|しかし"
)
# Whatever is imagined of them, somebody has them: "I would sell my boat".
_OWN_THINGS = re.compile(
    r"\b(?:my|our|meine?[mnrs]?|unsere?[mnrs]?|mon|ma|mes|mis?|meus?|minhas?|mi[oa]|miei|mie|мо[йяеёи]"
    r"|мою|моего|моей)\s+(?!own\b|eigene|propre|propi|própri)"
    r"(\w+(?: (?!were\b|was\b|had\b)[\w'-]+){0,3})",
    re.IGNORECASE,
)
# From these on a part is played.
_PLAYING = (
    r"\b(?:let's|let us|can we|could we|shall we|want to|would like to|start|do) (?:\w+ ){0,4}?"
    r"role[- ]?play|^\W{0,9}role[- ]?play(?:ing)?\b(?! games?| is\b| was\b)"
    r"|\bin (?:a|this|our|the|that) (?:\w+ )?role[- ]?play",
    r"\b(?:pretend|make[- ]believe|act as if)(?:,? that)? (?:i|we)\b|\blet's pretend\b"
    r"|\bi(?:'ll| will)? (?:play|take) the (?:role|part)\b|\bin character\b",
    r"\b(?:lass(?:t)? uns|wollen wir|machen wir|spielen wir|starten wir|in (?:diesem|einem)|im"
    r"|mach(?:e|t)?) (?:\w+ ){0,3}?rollenspiel\b|^\W{0,9}rollenspiel\b"
    r"|\btu(?:n wir)?(?: mal| bitte)? so,? als (?:wäre|ob|hätte) (?:ich|wir)\b",
    r"\b(?:faisons|jouons|on fait|dans (?:un|ce)) (?:\w+ ){0,3}?jeux? de rôles?\b"
    r"|^\W{0,9}jeu de rôle|\b(?:fais(?:ons)?|faites|on fait) comme si (?:je|j'|nous|on)",
    r"\b(?:hagamos|juguemos|empecemos|vamos a|en (?:un|este)) (?:\w+ ){0,4}?(?:juego )?de rol\b"
    r"|\b(?:haz|hagamos|haced) como (?:si|que) (?:yo|fuera|soy)"
    r"|\bfinge que (?:yo |soy)|\bfinjamos\b",
    r"\b(?:fing[ea]|finjamos|faz de conta|faça de conta) que (?:eu|sou|somos)"
    r"|\b(?:facciamo|fai) finta (?:che|di) (?:io|sia|sono|essere)|\bfingi che (?:io|sia)"
    r"|\b(?:facciamo|giochiamo a|in (?:un|questo)) (?:\w+ ){0,3}?gioco di ruolo\b",
    r"\b(?:давай|начн[её]м|сыграем|в) (?:\w+ ){0,3}?ролев\w+ игр\w+|\bсделай вид, что я"
    r"|\bпритвор\w+, что я|角色扮演|[假装裝]装?我|扮演.{0,8}我|我(?:来)?扮演"
    "|ロールプレイ(?:を?し|で)|ふりをして|なりきって",
)
# One practises an interview as oneself.
_AS_ONESELF = re.compile(
    r"\binterview|vorstellungsgespräch|bewerbungsgespräch|entretien|entrevista|colloquio|собеседован"
    "|面试|面試|面接",
    re.IGNORECASE,
)
# A sentence that orders a story with its teller in it.
_TELLING_TALES = (
    r"\b(?:story|tale|fairytale|poem|novel|scene|song|sketch|screenplay|chapter|fan ?fiction)\b"
    r"[^.!?]{0,40}\b(?:in which|where|wherein) (?:i|my|we)\b",
    r"\b(?:geschichte|märchen|gedicht|szene|roman)\b[^.!?]{0,40}\b(?:in de[rm]|wo)"
    r" (?:ich|wir|meine?)\b",
    r"\b(?:histoire|conte|poème|roman|scène)\b[^.!?]{0,40}\b(?:où|dans l\w+quel\w*)"
    r" (?:je|j'|nous|mon)",
    r"\b(?:historia|cuento|poema|novela|história|conto|storia|racconto|favola)\b[^.!?]{0,40}\b(?:en"
    r" (?:la|el) que|donde|em que|na qual|onde|in cui|nella quale|dove)\b",
    r"\b(?:истори\w+|сказк\w+|рассказ\w*|стих\w*)\b[^.!?]{0,40}\b(?:где|в котор\w+)"
    r" (?:я|мы|мой|моя)\b",
)
_SENTENCE = re.compile(r"[^.!?。！？…\n]+[.!?。！？…]*\n*")


@dataclass(frozen=True, slots=True)
class Imagined:
    """The parts of a message: what is imagined or played in it, and what is meant."""

    imagined: str
    meant: str


@text_cache(64)
def imagined_parts(typed: str) -> Imagined:
    """Tell what a message imagines; what it says of the user's own things is meant in any case."""
    imagined: list[str] = []
    meant: list[str] = []
    playing = False
    for found in _SENTENCE.finditer(typed[:_IMAGINED_TEXT].replace("’", "'")):
        sentence = found[0]
        playing = playing or _plays(sentence)
        cut = 0 if playing else _where_imagined(sentence)
        if playing or _imagination()["tale"].search(sentence):
            imagined.append(sentence)
        elif cut < 0:
            meant.append(sentence)
        else:
            again = _MEANT_AGAIN.search(sentence, cut)
            end = again.start() if again else len(sentence)
            imagined.append(sentence[cut:end])
            meant += [sentence[:cut], sentence[end:]]
            meant += _OWN_THINGS.findall(sentence[cut:end])
        playing = playing and "\n\n" not in sentence
    return Imagined(" ".join(imagined), " ".join([*meant, typed[_IMAGINED_TEXT:]]))


def _plays(sentence: str) -> bool:
    if _AS_ONESELF.search(sentence):
        return False
    return _imagination()["play"].search(sentence) is not None


def _where_imagined(sentence: str) -> int:
    """Where in a sentence its imagined part begins, -1 where it has none."""
    if _imagination()["suppose"].match(sentence):
        return 0
    found = _imagination()["counter"].search(sentence)
    if found is None and _WOULD.search(sentence):
        found = _PAST_IF.search(sentence)
    return found.start() if found else -1


@cache
def _imagination() -> dict[str, re.Pattern[str]]:
    """The patterns, compiled when a fact is first held against a message."""
    supposing = rf"{_LEADING_WORDS}(?:{'|'.join(_SUPPOSING)})"
    return {
        "suppose": re.compile(supposing, re.IGNORECASE),
        "counter": re.compile("|".join(_COUNTERFACTUAL), re.IGNORECASE),
        "play": re.compile("|".join(_PLAYING), re.IGNORECASE),
        "tale": re.compile("|".join(_TELLING_TALES), re.IGNORECASE),
    }
