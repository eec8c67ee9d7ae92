"""Recovery phrases of wallets: twelve to twenty-four words out of one list.

The English list of BIP-39 (bitcoin/bips, bip-0039/english.txt: 2,048 words of three to eight
letters) is not shipped. A Bloom filter of 2 kB stands for it: it knows each word of the list, and
takes one other word in fifty for one of them. A fifth to a third of the words of a text stand in
the list; twelve in a row, with no small word between them, hardly ever do.
"""

# ruff: noqa: RUF001 - signs and words of several scripts

from __future__ import annotations

import re
import string
import zlib
from base64 import b85decode
from collections.abc import Iterator
from functools import cache

import numpy as np

from adaptive.privacy.sign_runs import SignSort, edges
from adaptive.privacy.unicode_text import code_points
from adaptive.text_cache import text_cache

_FILTER_BITS = 16384
_FILTER_HASHES = 5
_PHRASE_FILTER = (
    "JZey&Z^o2zvKtm9yX+^d)NcY3CrNY(DQ+VAMj)Xw2VBf(wBqJY6*+N^mNRft4e-RZDOd*+zps-^45BSt%{}mJYI`ew3C"
    "br^ut@?NHT=3Z@MnRnGnZM$T+|i-U14IP9|LS#iW0ti8VOib%(Ct5&L#<?wsR7*4HXfR^OH-DD9#GTfP+xkZXQis@H(a"
    "mJxGy)SGr^%l&OtqDY{dy5unC=z@(w=&_#qXX3U!%k5O%e-uMI&>R_IL;22$FNlKJa71<!XszXN1KVqUxH$uFW9(f_CM"
    "u9=3GeHt0e7r?HE8e3FW%9$|pI6W`>fmWV%fv09hpI(9SjY5~yBK~ZSy6^QDZU}-c|>-Tzp^YLDrZi<iMABvj%~vxcDl"
    "|K%bF>yPdZVe&?6H>Xmty&RLn(X$7Mx?{i#{;B=)5B6VHZ>15gz<a5+e+V^JD}nb2AeqEON?Y|0_dBHaVV`f<V_r;Kkw"
    "GeMQ-OM{6~vpA_553c1GeoL$#PZ03_VXkV<BSh3+^=Zpx6xYHh!5)BQlN*pOImJJV8ImI)vrv_!XgsMF*cm&G7XyP7Cg"
    ";s_6|jf6F?JDHV+oGSx2p-`;n@&WsS;jB99(4-PAc9OEY%_72B5l8I8k3vh~y9&yO2?FcUSc>P-p^;<JgBq_{#hUqJAy"
    "~-W@<J@FmyKE&f>bgF-plMYbbPOt2Zj+9A^9gG5|7T!K8d{W9=3qDf9eV?Z|&G=V#qEkJsd;noXFShe)a<4?f3cNKwYG"
    "wC==1tPt)z_CaWGZ4n&EU~c*FRA!-N3vmYlz^{sOum~<P6&`YI*Vcw!P_+}dkX{_Ak5^0GtF|Nw{$xL)hSD3&OsBAB-G"
    "^OT}S~LNjO$vZxC7<%@}PyC3j}PS3YsBw>sY&i{e`3CMP-+N^bfA^nHRQW%8%<(I8N?#Z-Su5YIN#?}ogEvJBu*`FgnQ"
    "t$>T1V)1fN|L~Fic9T~}mUOooa)K;{R*D(raaCUy(5<93&J797+!7?=3MyegK$7XjLGqGgjy1H<NT5-#`Z&t98>WfYXE"
    "SgJk<bWRbR`8{SQ@hYa0)!l2+=~74BfS8u1iNe4rw^*a6g1;ns9@aSSij<ci6z5*Gla$0NJ7^Y3PSg)Z*oVGF299KcHq"
    "wFI7>%N}jq#GLXz_mIxn`!lg@Kd=3C6IED;S*)CW7ilnb-!Ni5#Ca|3WI2xQ$y4wTv-%qMlQSvJ$*U&v>270hoy9f{gi"
    "6Gmbc0Kvak9h>-G3V9j@1)L>-YUpuf^n8J8ZznZXU?~BsKmp;EqEVq2IBQKbm7qrGU%(M8+dR}g)skhtBf(ES!&=}B1="
    "qma{-l1Itlq~c`Fr;8vwIlzFh(ZQrD6LrB)ah-7_$Rh%rxTzyZ#Ji5^P2<5gg>!#E{0aT;c?$AWju%cD{uR1?;dkkx>W"
    "<hLQ*_ewy1t{{8{<WA@+w{A@6lcGSQ3JmEDT61t-i7PBzB1EwD8VNwmZZ<o|&9QkTUjTK8A`0b@s7M8HCAXyn-2i&6<n"
    "VmkrI-Q>gCqtIca!NF6`upv0;HBEh7$5sBLW$`WFm+WQ^||GFXjj}My$F}N@gyQLASZw=I>LaV3!4pmf{oFnd(&wbKFn"
    "WMMy6|4wRRSg5?YP+CYy#eR(YdBiCT9!0KTUG$rFGN`N_<K|mOY4PgfmHb8*^R{qL~2T0`kmIY)*nm-+kprd#Sm!xr5k"
    "0ek)9#{oO2IGL4aI5Is8u2&CO=i(JAO<S$Be0a10sz9oZRkBnV~ekd`3j)1zC5?R-n15`2}%S?@9%s}@Ny-S)$=Ng=JE"
    "W)R%DiG0UY(wt7`$n+<<mYd~grKi2cghS60hK426DR3~SRi;U@mpNp34MOt}T5q?%F9yFs3R`Xzfp9Cc?Vi-`&4m9!-$"
    "nH@Rg3#MrQ4IDj6zz!1_BN>1L1pIshNG~iI9jiHzv}l6VjeEsQSC7hLCl`lcr+1tG#jTW-&yHc0PKJW2JbGA|!4)3)j&"
    "uMb)KEME+B1)5H5Y225m<7>v8!$TOpD9_p!^TUW6=1<Lva9}0B_{`b%BBko5m}SZdG~|?tpnARsaM0Xo!k3LA5#oEUyE"
    ">#oaboXM8;Xv{<AWypdHvR!koZT{N0q4}&zo-7s&ynOf3<gra_026c8u2BmnGsz!NK*FBcCPc4XsW@@O)LLlaR4ZXz@B"
    "WYw;F=kbQg>IDq2LQ9ogUC)Oz~@3v#`#wI(lR31M0r7^LZhtsP0p=PLUY4J#>u!Z8p-NdEm+d-Nx%>E!!@Uv^CFb`YeI"
    "l!BW==!D~0yDJ8)Xc)HpS@f<M>K04P0RkJ73mOq*FeL)!RAPfWwG@H7s^9c`rmUm1&as#nB=4NAQWz85=GF>T^V63FXB"
    ")c1({6ah;cPd=C`kfIF05qW?h#1OPz^l1H~o<ki>9uDHt$BAUqe((Ix32mf`pcz``)_3lE;wT2LLZ*{t{>%k6O9g7W8i"
    "xK0RY|Gb7?8?Wxr)VCYbY@sGk_6M({vJSBWch;ZY|3c10Y`w#O)U23@*g1)n@sWNJD932$N#y6I8vBw7wGzkeRbyR`si"
    "cDoP8*IXB^T6ai3CPilh;J@Ai2MbT-8Bj8UfzK4ANDPz!}rUZh58F(()g$Tq4jI^Ar`+%_N7KS#^"
)
_LEAST_WORDS = 12
# Twelve words of three letters and what parts them.
_LEAST_PHRASE = 47
# What stands between the words of a phrase: spaces, commas, numbers of a list, line breaks.
_PHRASE_WORD = re.compile(r"(?<![^\W_])[a-z]{3,8}(?![^\W_])", re.IGNORECASE)
_BETWEEN_WORDS = re.compile(r"[\s,;|>\-\"'\[\]]{1,12}(?:\(?\d{1,2}[.):]?[\s\-]{0,4})?")
_RUN_OF_WORDS = re.compile(
    rf"(?<![^\W_])[A-Za-z]{{3,8}}+(?:(?:{_BETWEEN_WORDS.pattern})[A-Za-z]{{3,8}}+)*+"
)
_WORD_OF_ANY = re.compile(r"[^\W\d_]{1,12}")
_LETTERS_TOGETHER = re.compile("[A-Za-z]+")
_SHORT_TEXT_FOR_PHRASES = 1000
_MOST_WORDS = 24
_SHORTEST_PHRASE_WORD = 3
_LONGEST_PHRASE_WORD = 8
_LEAST_SMALL = 2
# Words that no list holds and that prose in its language cannot do without.
_SMALL_WORDS = frozenset(
    "a and are as at be by for from has he his i if in is it its me my of on or so"  # noqa: SIM905 - shorter
    " the to was we with your der die das und ist ein eine nicht mit von zu im le la"
    " les de des et est un une du que el los las en y es del o do da e em um uma per"
    " il di in che и в на не с что это".split()
)


@text_cache(4096)
def is_phrase_word(word: str) -> bool:
    """Whether a lower-case word may be one of the list: never a wrong no, a wrong yes in fifty."""
    bits = _phrase_filter()
    return all(bits[place >> 3] >> (place & 7) & 1 for place in _filter_places(word))


def listed_phrases(text: str) -> Iterator[tuple[int, int]]:
    """Spans of twelve or more words of the list in a row; linear in the text."""
    for first, last in _stretches(text):
        for found in _RUN_OF_WORDS.finditer(text, first, last):
            start, end = found.span()
            if end - start >= _LEAST_PHRASE and _has_many_words(text, start, end):
                yield from _phrases_within(text, start, end)


def _has_many_words(text: str, start: int, end: int) -> bool:
    """Whether there are as many different ones as ``_is_phrase`` asks for."""
    return len(set(_PHRASE_WORD.findall(text, start, end))) > _LEAST_WORDS // 2


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Where so many words of the right length follow one another that a phrase is possible.

    The last word of a run may be the head of a longer one, so that one less is asked for.
    """
    if len(text) <= _SHORT_TEXT_FOR_PHRASES and not _may_hold_stretch(text):
        return
    codes = code_points(text)
    begins, ends = edges(_phrase_letters().marked(codes))
    if len(begins) < _LEAST_WORDS:
        return
    sizes = ends - begins
    fits = (sizes >= _SHORTEST_PHRASE_WORD) & (sizes <= _LONGEST_PHRASE_WORD)
    breaks = ~_phrase_signs().marked(codes)
    gaps = np.stack((ends[:-1], begins[1:]), axis=1).ravel()
    links = fits[1:] & fits[:-1] & ~np.logical_or.reduceat(breaks, gaps)[::2]
    firsts, lasts = edges(links)
    long = lasts - firsts >= _LEAST_WORDS - 2
    for first, last in zip(firsts[long].tolist(), lasts[long].tolist(), strict=True):
        yield int(begins[first]), int(ends[min(last + 1, len(ends) - 1)])


def _may_hold_stretch(text: str) -> bool:
    """Whether as many words of the right length follow one another; faster in a short text."""
    if len(text) < _LEAST_PHRASE:
        return False
    together = 0
    for word in _LETTERS_TOGETHER.findall(text):
        fits = _SHORTEST_PHRASE_WORD <= len(word) <= _LONGEST_PHRASE_WORD
        together = together + 1 if fits else 0
        if together >= _LEAST_WORDS - 1:
            return True
    return False


@cache
def _phrase_letters() -> SignSort:
    return SignSort(string.ascii_letters)


@cache
def _phrase_signs() -> SignSort:
    """Letters, and whatever may stand between the words of a phrase."""
    spaces = "".join(sign for sign in map(chr, range(128)) if sign.isspace())
    return SignSort(string.ascii_letters + string.digits + spaces + ",;|>-\"'[]().:")


def _phrases_within(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    start = end = 0
    run: list[str] = []
    for match in _PHRASE_WORD.finditer(text, first, last):
        if run and not _BETWEEN_WORDS.fullmatch(text, end, match.start()):
            if _is_phrase(run):
                yield start, end
            run = []
        word = match.group().lower()
        if is_phrase_word(word):
            start = start if run else match.start()
            end = match.end()
            run.append(word)
        else:
            if _is_phrase(run):
                yield start, end
            run = []
    if _is_phrase(run):
        yield start, end


def _is_phrase(run: list[str]) -> bool:
    """Long enough, and not one word again and again."""
    return len(run) >= _LEAST_WORDS and len(set(run[:24])) > _LEAST_WORDS // 2


def announced_phrase(text: str, position: int) -> int:
    """The end of the phrase that begins at a place where one is announced; -1 for none.

    Twelve words at least, of any alphabet, as there are lists in ten languages; a full stop, or a
    sign that phrases do not hold, ends them. Prose has small words among its first twelve.
    """
    end = position
    small = 0
    words: list[str] = []
    while len(words) < _MOST_WORDS and (match := _WORD_OF_ANY.match(text, position)):
        words.append(match.group().lower())
        small += words[-1] in _SMALL_WORDS
        if small >= _LEAST_SMALL:
            return -1
        end = match.end()
        if not (gap := _BETWEEN_WORDS.match(text, end)):
            break
        position = gap.end()
    return end if len(words) >= _LEAST_WORDS else -1


def _filter_places(word: str) -> Iterator[int]:
    data = word.encode()
    first, second = zlib.crc32(data), zlib.crc32(data[::-1] + data) | 1
    return (((first >> 3) + turn * (second >> 2)) % _FILTER_BITS for turn in range(_FILTER_HASHES))


@cache
def _phrase_filter() -> bytes:
    return b85decode(_PHRASE_FILTER)
