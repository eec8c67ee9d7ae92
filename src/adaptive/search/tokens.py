"""Words of a text as keyword search compares them, whatever the language.

A text is brought to one form (Unicode NFKC, case folding, no accents), cut into words, freed of
words that say nothing, and each word is cut down to what its inflected forms share:

- Latin script: plural, "-ing" and "-ed" after the S-stemmer (Harman, "How effective is suffixing?",
  JASIS 1991) and the first steps of Porter's algorithm (Program 14/3, 1980), then final vowels,
  which carry gender and number in Romance languages and case in German.
- Cyrillic and Arabic script: what is left without the letters that endings are made of, in Arabic
  without the article, too.
- Scripts without spaces, and Korean: overlapping pairs of characters (McNamee, Mayfield:
  "Character n-gram tokenization", 2004); for Han the single characters too, many being words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from adaptive.core.messages import head_and_tail

# A message that carries a document says what it wants at its head or its tail.
_LONGEST_TEXT = 8000
_LONGEST_WORD = 40
# A fact is one sentence.
_LONGEST_COMPARED = 1000

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_UNSPACED = (
    "\u3041-\u30ff\u31f0-\u31ff\uac00-\ud7a3"  # kana, Korean
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ede"  # Thai, Lao
    "\u1000-\u1049\u1050-\u109f\u1780-\u17d3"  # Burmese, Khmer
)
_WORD = re.compile(r"[^\W_]+")
# Vowel signs of Indian scripts are no letters to `\w`, but a word can't do without them.
_INDIC = "\u0900-\u0963\u0966-\u0dff"
_RUNS = re.compile(
    rf"(?P<han>[{_HAN}]+)|(?P<pairs>[{_UNSPACED}]+)|(?:[^\W_{_HAN}{_UNSPACED}]|[{_INDIC}])+"
)
_ACCENTS = re.compile("[\u0300-\u036f\u0610-\u061a\u0640\u064b-\u065f\u0670]")
_ARABIC_ARTICLE = re.compile(r"^(?:[وبكف]?ال|لل)(?=\w\w)")
_ENDING = re.compile(r"(?<=\w{3})[авеийлмотуыхьюяاتنهوي]+$")
_ONE_FORM = str.maketrans(dict(zip("ٱىةکی", "ايهكي", strict=True)) | {"’": "'", "œ": "oe"})
_POSSESSIVE = re.compile(r"'s\b|(?<=s)'(?!\w)")
_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu|dell|nell|all|sull|dall|un)'(?=\w\w)")
_CONTRACTION = re.compile(r"n't\b|'(?:m|re|ve|ll|d)\b")

# Function words; a word that also means something in another of the languages is left out ("war",
# "die", "sin"): within a store that is written in one language, its rarity decides its weight.
_EMPTY_WORDS_TEXT = """
    a about after again all also am an and any are as at be because been before being between
    both but by can could did do does doing done during each else ever every few for from
    further get got had has have having he her here hers him his how i if in into is it its
    itself just let like many me more most much my no nor not now of off on once one only or
    other our ours out over own please same shall she should so some such than that the their
    theirs them then there these they this those through to too under until up upon us very was
    we were what when where whether which while who whom whose why will with would yes yet you
    your yours user users im ive youre dont doesnt didnt isnt wasnt cant wont aber als auch auf
    aus bei bin bis bist da das dass dein deine dem den denn der des dich dir du ein eine einem
    einen einer eines er es euch euer fur hab habe haben hat hatte hier ich ihm ihn ihr ihre ist
    ja kann kein keine mein meine meinem meinen meiner mich mir mit nach nicht noch nur ob oder
    ohne schon sehr sein seine sich sie sind uber und uns unser vom von vor wann warum wegen
    weil welche welcher welches wem wen wenn wer werde werden wie wieder wir wird wo woher wohin
    wurde zu zum zur nutzer benutzer ai au aux avec avez avons c ca ce cela ces cet cette chez
    comme d dans de dois elle elles en est et etait etes ete eu fait ils j je l la le les leur
    leurs lui m ma mais meme mes mon n ne nos notre nous ont ou par pas peux plus pour pourquoi
    qu quand que quel quelle quelles quels qui quoi sa sans se ses si son sont suis sur ta te
    tes toi ton tu un une vos votre vous y utilisateur utilisatrice al algo como con cual cuales
    cuando cuanto del donde el ella ellas ellos ese eso esta estan estas este esto estos estoy
    fue ha han hasta hay las lo los mas mi mis mucho muy ni o para pero por porque puedo quien
    ser sobre soy su sus tambien tengo ti tiene tus una unas uno unos usted ya yo usuario
    usuaria ao aos com dos e ela ele eles em essa esse foi isso isto meu meus minha minhas na
    nao nas nem num numa os pela pelo pelos pode qual quais quando quem sao seu seus sua suas
    tem tenho um uma umas voce voces utilizador agli alla alle allo anche che chi ci come cosa
    cui dal dalla dei della delle dello di dove gli hai ho il io lei loro mia mie miei mio nei
    nel nella noi non per perche piu quale quali quanto quello questa questo sei sia sono sta
    sto sue sugli sui sul sulla suo suoi tra tua tuo tuoi vi utente а без бы был была были было
    быть в вам вас ваш весь во вот все всего вы где да даже для до его ее если есть еще же за
    здесь и из или им их к как какая какие какой когда кто ли мне меня мной мое моего моей моем
    моему моеи мои моих мой моя мою мы на над надо нам нас наш не него нее нет ни них но ну о об
    однако он она они оно от очень по под при про с сам свои себе себя со так также такои там те
    тебе тебя то тобои того тоже только том тот ты у уже чего чем что чтобы чье эта эти это
    этого этои этом этот я пользователь пользователя пользователю ال في من على الى عن ما ماذا هو
    هي هم انا انت هل هذا هذه ذلك كان كانت مع او و ان لا لم لن قد كل بعد قبل عند اين متى كيف
    لماذا التي الذي لي لك له لها المستخدم
    的 了 是 我 你 他 她 它 们 們 在 和 与 與 也 都 就 而 及 着 著 吗 嗎 呢 吧 啊 么 麼 什
    怎 哪 谁 誰 这 這 那 有 个 個 我的 你的 他的 她的 我是 我在 我有 什么 甚麼 怎么 怎麼
    哪里 哪裡 用户 用戶 户的 戶的 使用 是什 叫什 的是
    です ます した する いる ある こと もの これ それ って から まで すか ので 니다 습니
    입니 나요 는지 사용 용자 자는 자가 자의 있습 합니 ของ
"""
_EMPTY_WORDS = frozenset(_EMPTY_WORDS_TEXT.split())
# Words that take their meaning from what was said before, and openings that continue it.
_REFERRING = re.compile(
    r"\b(?:he|she|it|they|them|that|this|those|these|there|then|his|her|him|its|their"
    r"|er|sie|es|ihn|ihm|ihr|das|dies|dort|davon|damit|dann"
    r"|il|elle|lui|ils|elles|cela|ça|el|él|ella|eso|ello|ellos|allí|ele|ela|isso|lá|lui|lei|ciò"
    r"|он|она|оно|они|его|её|ее|их|ему|ей|это|этот|там|тогда|هو|هي|هم|ذلك|هذا|هناك)\b"
    r"|^\W*(?:and|but|or|so|why|und|aber|oder|et|mais|y|pero|e|ma|mas|и|а|но|ثم|و)\b"
    r"|他|她|它|那|这|這|それ|あれ|その|그것|그는|그녀",
    re.IGNORECASE,
)
_VOWELS = frozenset("aeiouy")
_LONGEST_FOLLOW_UP = 60
# Ten characters hold about three words, in scripts whose pairs of characters are many more tokens.
_SHORT_IN_ANY_SCRIPT = 10


def tokens(text: str) -> list[str]:
    """The words of a text as they are compared, in their order and as often as they stand there.

    Words that say nothing are dropped, unless there are no others. Of a very long text only head
    and tail are read.
    """
    runs = list(_runs(folded_text(head_and_tail(text, _LONGEST_TEXT))))
    return [run for run, empty in runs if not empty] or [run for run, _ in runs]


def comparable(text: str) -> str:
    """A text as facts are compared word for word: case, spaces and the final stop do not count."""
    return " ".join(text.casefold().split()).rstrip(" .!。")


def continues(text: str) -> bool:
    """Whether a short message leans on what was said before: "And when was that?", "Why?"."""
    short = text.strip()
    if len(short) > _LONGEST_FOLLOW_UP:
        return False
    telling = [run for run, empty in _runs(folded_text(short)) if not empty]
    brief = len(telling) <= 3 or len(short) <= _SHORT_IN_ANY_SCRIPT
    return not telling or (brief and _REFERRING.search(short) is not None)


def holds_words_of(text: str, other: str) -> bool:
    """Whether every word of another text stands in this one: then it says what that said."""
    ours, theirs = (head_and_tail(one, _LONGEST_COMPARED) for one in (text, other))
    return {*_WORD.findall(folded_text(theirs))} <= {*_WORD.findall(folded_text(ours))}


def folded_text(text: str) -> str:
    """One form for what reads the same: width, ligatures, case, accents, variants of letters."""
    if text.isascii():
        return text.lower()
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFKC", plain).casefold().translate(_ONE_FORM)


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Tokens with whether they say nothing."""
    if "'" in text:
        text = _ELISION.sub(" ", _CONTRACTION.sub(" ", _POSSESSIVE.sub(" ", text)))
    for match in _RUNS.finditer(text):
        word = match.group()
        if match["han"] or match["pairs"]:
            pairs = [word[at : at + 2] for at in range(len(word) - 1)] or [word]
            parts = (*word, *pairs) if match["han"] and len(word) > 1 else pairs
            yield from ((one, one in _EMPTY_WORDS) for one in parts)
        elif len(word) > 1 or word.isdigit():
            yield stem(word[:_LONGEST_WORD]), word in _EMPTY_WORDS
        else:
            yield word, True


def stem(word: str) -> str:
    """What the inflected forms of a folded word share; numbers and short words as they are."""
    if len(word) < 4 or word[0].isdigit():
        return word
    if word[0] <= "\u024f":
        return _latin_stem(word)
    return _ENDING.sub("", _ARABIC_ARTICLE.sub("", word))


def _latin_stem(word: str) -> str:
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-3] if word.endswith("ies") and len(word) > 4 else word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            rest = word[: -len(ending)]
            doubled = len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "aeioulsz"
            if not _VOWELS.isdisjoint(rest):
                word = rest[:-1] if doubled else rest
            break
    while len(word) > 3 and word[-1] in "aeioy":
        word = word[:-1]
    return word
