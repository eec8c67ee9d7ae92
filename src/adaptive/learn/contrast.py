"""Small words that turn a statement around: "not", "used to", "without", "only", "his".

Languages of the tables: English, German, French, Spanish, Portuguese, Italian, Russian and Chinese;
for "not" some others too. What means something else in another of the languages is left out, or
told apart by ``learn.statement``.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import re
from functools import cache

from adaptive.search.meanings import folded_text, han_words

# What a word does, by its plain form; what stands behind a sign is the word's own meaning.
_SIGNS_TEXT = """
not: not no never none nicht kein keine keinen keinem keiner nie niemals ne pas jamais aucun aucune
    nunca ningun ninguna nao nem nenhum nenhuma non nessun nessuna не нет никогда ни 不 没 沒 无 未
    从不 niet geen nooit inte aldrig ikke değil
ended: nolonger
flip: quit quits stopped aufgehort arrete cesse dejo parou deixou smesso бросил бросила перестал
    перестала 戒 戒了 不再
past: formerly previously former ex fruher ehemals ehemalige ehemaliger damals einst vorher zuvor
    autrefois jadis auparavant ancien ancienne antes anteriormente antigamente solia costumava
    prima precedentemente раньше прежде ранее бывший бывшая 以前 曾经 曾 过去 之前 原来 从前
past be: was were war era fue foi etait был была были
past have: had hatte avait tenia tinha aveva
past live: lived resided wohnte lebte gewohnt gelebt habitait vivait vecu vivia vivio morava morou
    viveu viveva abitava vissuto abitato жил жила жили
past work: worked arbeitete gearbeitet travaillait trabajaba trabalhava trabalhou lavorava lavorato
    работал работала
past drive: drove fuhr
wish: might may could would considering considers considered thinking dreams soon vielleicht
    uberlegt peut-etre quiza talvez forse думает может возможно 可能 将 要
also: also too additionally auch ebenfalls aussi egalement tambien tampoco tambem anche также тоже
    еще 也 还
who: who which whose whom that welche welcher qui que dont che который которая которые которой
he: he she they it er sie elle ils elles ella ellos ela eles lui lei loro он она они оно
and: and but or while because und aber oder weil wahrend sondern et mais ou y pero e mas и а но или
    和 但 而 但是 或
without: without ohne sans sin sem senza без
only: only just solely nur seulement uniquement solo unicamente so apenas somente soltanto только
    лишь 只 仅
from: from von aus desde dal dalla из с от 从
before: before vor avant
after: after apres despues depois dopo после
until: until till bis jusqu hasta ate fino до
other: another other others andere anderen weitere weiteren autre autres otro otra outro outra
    altro altra другой другая 另
more: more mehr mais piu больше 更
less: less fewer weniger moins menos meno меньше
against: against gegen contre contra contro против
as: since seit depuis near
itself: out off under over
than: than instead rather statt
void: currently now presently really very much quite actually still
    definitely absolutely truly extremely nowadays any anymore derzeit momentan aktuell jetzt sehr
    gerade wirklich immer noch actuellement maintenant tres beaucoup vraiment toujours encore plus
    actualmente ahora muy mucho realmente todavia siempre atualmente agora muito ainda sempre
    desormais dorenavant mittlerweile inzwischen nunmehr ormai
    attualmente adesso molto davvero ancora сейчас теперь очень действительно 现在 目前 很 非常
    真的 今年 了 着 名 对
article: a an the der die das den dem des ein eine einen einem einer le la les un une el los las o
    os um uma uno una il lo gli every each jede jeden jedes chaque cada ogni каждый каждую каждое
    每 的 一只 一个 一名 一位 一条 一辆 一 个 只
user: i user users nutzer nutzerin benutzer benutzerin anwender anwenderin utilisateur utilisatrice
    usuario usuaria utilizador utilizadora utente пользователь пользователю пользователем
    пользователя пользовательницы пользовательница пользовательнице 用户 用戶 使用者 ich je j yo eu
    io я мне меня 我
mine: my mein meine meiner meinem meinen mon mes mi mis meu minha meus minhas mio mia miei mie мой
    моя мое мои моего моей мою nutzers benutzers anwenders 我的
"""
_MODIFIERS_TEXT = """
    without only from before after until other more less against out off under over than
"""
MODIFIERS = frozenset(_MODIFIERS_TEXT.split())
# "Former", "instead of" and the like in more than one word, and forms that mean something else in
# another language once their accents are gone.
_PHRASES_TEXT = r"""
used to = formerly
before that = formerly
in the past = formerly
as a (?:child|kid|teenager|student|boy|girl) = formerly
no longer|not any ?more|any ?more|nicht mehr(?! als\b)|больше не = nolonger
kein(?:e[nmrs]?)? (\w{1,40}) mehr = nolonger \1
(?:já )?n[ãa]o (\w{1,40}) mais(?! (?:de|do) que\b) = nolonger \1
non (\w{1,40}) più(?! di\b) = nolonger \1
ya no = nolonger
ne (\w{1,40}) plus(?! (?:de|que) \d) = nolonger \1
(?:can't|cannot|can not) stand = hates
user's (?:goal|dream|aim) is(?= to\b) = user wants
my (?:goal|dream|aim) is(?= to\b) = i want
is an? (\w{1,40}) by (?:profession|trade|occupation) = is as \1
(?:ist|bin) (\w{1,40}) von beruf = ist as \1
would (?:really )?like = want
(?:is|am|are|'m) going(?= to\b) = plan
(?:has|have) been = is
(?:was|were) born = born
date of birth = birthday
aniversário = birthday
(?:is|am) fluent in (\w+) = speaks \1 fluently
comes? from = is from
(?:kommt|komme|stammt|stamme) aus = ist aus
home is in = lives in
is based in = lives in
(nutzer|nutzerin|benutzer|benutzerin|ich) will = \1 wunscht
got married = is married
gets? up = wakes
work(?:s|ed)? out = exercises
turned(?= \d) = is
(?:works?|working|employed) as = is as
(?:arbeite|arbeitet|angestellt) als = ist as
(?:travaille|trabaja|trabalho|trabajo|trabalha|lavoro|lavora) com[oe]|travaille comme = ist as
(?:utilisateur|utilisatrice) a = utilisateur ai
[éè](?!\\w) = ist
née? = geboren
(?:do|does|did) not|cannot|can't|won't = not
(?:do|does|did|is|are|has|have)n't = not
(?:was|were|had)n't = was not
"""
_ELIDED = re.compile(r"\b(?:[dlmtsc]|qu|dell|all|nell|dall|sull|un)'(?=\w\w)", re.IGNORECASE)
_ELIDED_WORD = re.compile(r"\b([jn])'(?=\w)", re.IGNORECASE)
_HOUR = re.compile(r"(?<=\d)\s?([ap])\.?m\b\.?", re.IGNORECASE)
_DATE_COMMA = re.compile(r"(?<=\d),(?=\s\d{4}\b)")
_HAN_LETTER = re.compile("[\u3400-\u9fff]")
_OF_USER = re.compile(
    r"\b(?:der nutzerin|de l'utilisat\w+|del? (?:la )?usuari[oa]|d[oa] (?:usu[aá]ri|utiliz)\w+"
    r"|dell'utente|(?<!\bу )пользовател(?:я|ьницы))\b|用[户戶]的|使用者的",
    re.IGNORECASE,
)


def phrased(text: str) -> str:
    """A text in which phrases and Chinese words stand as single words."""
    text = _HOUR.sub(r" \1mhour ", _DATE_COMMA.sub(" ", text.replace("’", "'")))
    text = _ELIDED.sub(" ", _OF_USER.sub(" mein ", _ELIDED_WORD.sub(r"\1e ", text)))
    for pattern, instead in _phrases():
        text = pattern.sub(instead, text)
    return (
        _han().sub(lambda match: f" {match.group()} ", text) if _HAN_LETTER.search(text) else text
    )


@cache
def signs() -> dict[str, str]:
    """What each small word does, by its folded form: a sign, and maybe a word it stands for."""
    table: dict[str, str] = {}
    for line in _SIGNS_TEXT.replace("\n    ", " ").strip().splitlines():
        sign, _, words = line.partition(": ")
        for word in words.split():
            table[folded_text(word)] = word if sign == "itself" else sign
    return table


@cache
def _phrases() -> list[tuple[re.Pattern[str], str]]:
    pairs = (line.split(" = ") for line in _PHRASES_TEXT.strip().splitlines())
    return [
        (re.compile(rf"(?<!\w)(?:{phrase})(?!\w)", re.IGNORECASE), f" {instead} ")
        for phrase, instead in pairs
    ]


@cache
def _han() -> re.Pattern[str]:
    """Known words in Chinese characters, the longest first."""
    known = {*han_words(), *(word for word in signs() if _HAN_LETTER.match(word))}
    return re.compile("|".join(sorted(known, key=len, reverse=True)))
