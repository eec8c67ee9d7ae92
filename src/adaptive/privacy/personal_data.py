"""Finding personal data in a text: by shape, by a word nearby that names it, by a check digit.

Time is linear in the length of the text, which is not bounded, since what stood behind a bound
would pass unseen.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from adaptive.privacy.personal_shapes import SHAPES, PersonalKind, Shape
from adaptive.privacy.personal_words import Mentions
from adaptive.privacy.scanning import plain_text

# A street address: a word for a street, its name and a number, near a word of living.
_CAPITAL = "[A-Z\u00c0-\u00d6\u00d8-\u00de\u0100-\u017f\u0410-\u042f]"
_NAME = rf"{_CAPITAL}[\w'.\-]{{0,24}}"
_NAME_PART = (
    r"(?:(?:de|du|des|del|della|dello|dei|di|da|do|dos|das|la|le|les|el|las|los|y|e|et|sur|en|i|der|den|dem)"
    rf"(?!\w)|[dlDL]'[\w\-]{{2,24}}|\d{{1,2}}[º°ª]?(?= (?:[^\W\d]|#))|{_NAME})"
)
_HOUSE = r"\d{1,5} ?(?:[A-Za-zа-я](?!\w))?(?:[/\-] ?\d{1,4}[A-Za-z]?|/[A-Za-z])?(?!\w)"
_CODE_AND_CITY = (
    r"(?:,? (?:\d{4,5}(?: ?[A-Z]{2}(?!\w))?|\d{3} \d{2}|\d{2}-\d{3}|\d{5}-\d{3})"
    rf"(?: {_NAME})?(?!\w))?"
)
_CITY_AND_CODE = (
    rf"(?:(?:,? {_NAME}(?:[ \-]{_NAME}){{0,3}}){{0,2}},? (?:[A-Z]{{2,3}} \d{{4,5}}(?:-\d{{4}})?"
    r"|[A-Z]{1,2}\d[0-9A-Z]? ?\d[A-Z]{2}|[1-9]\d\d ?\d{3}|[A-Z]\d[A-Z] ?\d[A-Z]\d)(?!\w))?"
)
_HAN = "\u3005-\u3007\u3041-\u30ff\u4e00-\u9fff"
_ENGLISH = (
    "(?:[Ss]treet|St|[Aa]venue|Ave|[Rr]oad|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl"
    "|Square|Sq|Terrace|Way|Parkway|Pkwy|Highway|Hwy|Close|Crescent|Circle|Cir|Trail|Gardens|Grove"
    "|Row|Mews|Hill|Walk|Alley|Broadway|Green|Quay|Loop|Plaza|Wharf|Yard)"
)
_FLAT = r"(?:Apt|Unit|Suite|Flat|Floor|#)\.? ?#?[0-9A-Za-z\-]{1,6}(?!\w)"
_PATTERNS = (
    # 12 Main Street, Apt 4, Springfield, IL 62701
    rf"(?<![0-9A-Za-z])(?<!\d[-./])(?:{_FLAT}, )?\d{{1,5}}[A-Za-z]?(?:[-/]\d{{1,4}})?,? "
    rf"(?:(?:\d{{1,3}}(?:st|nd|rd|th)|{_NAME}) ){{1,4}}{_ENGLISH}(?![\w'])\.?"
    rf"(?: (?:NW|NE|SW|SE|[NSEW])(?!\w))?(?:,? {_FLAT})?{_CITY_AND_CODE}",
    r"(?<!\w)(?:[Pp]\.? ?[Oo]\.? [Bb]ox|Postfach|Apartado|Caixa Postal|Postbus) \d{1,6}(?!\w)",
    # Lange Straße 44, 10115 Berlin; Keizersgracht 123
    rf"(?<!\w)(?:{_CAPITAL}[^\W\d_]{{1,24}}\.?[ \-]){{0,3}}(?={_CAPITAL})[^\W\d_]{{0,24}}?"
    r"(?i:stra[sß]e|strasse|str\.|weg|platz|allee|gasse|ring|ufer|damm|hof|chaussee|steig|graben"
    r"|markt|straat|laan|plein|gracht|kade|singel|dijk|steeg|pad|gatan?|vägen|ve[ij]en|vej|gade|katu"
    r"|tie|gränd)"
    rf" ?{_HOUSE}{_CODE_AND_CITY}",
    # 3 bis avenue Victor Hugo, 69006 Lyon
    r"(?<![0-9A-Za-z])\d{1,4}(?: ?(?:bis|ter|quater|[A-D])(?!\w))?,? (?i:rue|avenue|av\.|bd\.?"
    r"|boulevard|place|chemin|allée|impasse|quai|cours|route|square|passage|faubourg|sentier)"
    rf"(?: {_NAME_PART}){{1,6}}{_CODE_AND_CITY}",
    # Via Roma, 22, 10121 Torino; ул. Ленина, д. 5, кв. 12
    r"(?<!\w)(?i:calle|c/|avenida|avda\.?|av\.?|paseo|plaza|carrera|cra\.?|calzada|ronda|pasaje|rua"
    r"|r\.|travessa|praça|alameda|estrada|largo|via|viale|piazza|corso|vicolo|strada|ul\.|ulic[aęy]"
    r"|al\.|alej[ai]|jl\.|jalan|str\.|οδός|вул\.|pl\.|plac|os\.|osiedl[eu]|ул\.|улиц[аеу]|пр\.|пр-т|проспекте?|пер\."
    r"|переул[а-я]{2,3}|бульваре?|набережн[а-я]{2}|шоссе|площад[ьи]) ?"
    rf"{_NAME_PART}(?: {_NAME_PART}){{0,5}},? ?(?:n[.º°or]{{1,2}} ?|núm(?:ero|\.)? ?|número |#"
    rf"|civico |д\. ?|дом |[Nn]o\.? ?)?{_HOUSE}"
    r"(?:,? (?:к\.|корп\.|кв\.|квартира|m\.|lok\.|piso|apto\.?|int\.) ?\d{1,4}"
    rf"|,? \d{{1,2}} ?[º°ªoa]\.?(?: ?[A-Z])?(?!\w))?{_CODE_AND_CITY}",
    # Тверская улица, дом 7; Atatürk Caddesi No: 12
    rf"(?<!\w)(?:{_NAME},? ){{1,4}}(?:(?:utca|út|tér|ул\.|улиц[аеу]|пр-т|проспекте?|пер\."
    r"|переул[а-я]{2,3}|бульваре?|шоссе|набережн[а-я]{2}|площад[ьи]),? (?:д\. ?|дом )?|(?:Cad(?:\."
    r"|desi)|Sok(?:\.|ak|ağı)|Bulvarı|Mah(?:\.|allesi)),? ?[\w. ]{0,40}?(?i:no|numara)\.?:? ?)"
    rf"{_HOUSE}(?:,? (?:кв\.|D|Daire|Kat)[:.]? ?\d{{1,3}}){{0,2}}",
    # By signs of their scripts. What tells of living stands right before it.
    rf"(?:[{_HAN}]{{0,12}}[在到给于是址住はをに])?(?P<value>(?:〒 ?\d{{3}}-\d{{4}} ?)?"
    rf"[{_HAN}]{{2,24}}?(?:(?:大道|路|街|道|巷|弄|胡同|村)[{_HAN}]{{0,4}}\d{{1,5}}(?:弄|号院|号|號)"
    rf"(?:[{_HAN}]{{0,8}}[0-9A-Z]{{1,4}}(?:号楼|楼|栋|幢|座|单元|层|室|号|樓)){{0,4}}"
    rf"|[市区町村郡][{_HAN}]{{0,10}}\d{{1,4}}(?:丁目|番地?|-\d{{1,4}})"
    r"(?:(?:-|の)?\d{1,4}(?:番地?|号)?){0,3}))",
    r"(?:[\uac00-\ud7a3]{1,8}(?:시|도|구|군) ){0,3}[\uac00-\ud7a3]{1,10}(?:대로|로|길)"
    r"(?: ?\d{1,4}번?길)? ?\d{1,4}(?:-\d{1,3})?(?!\d)(?:,? ?\d{1,4}[동호]){0,2}",
    r"(?:רחוב|רח'|שדרות|דרך)(?: [\u05d0-\u05ea\"'\-]{2,20}){1,3} \d{1,4}(?!\d)",
    r"(?:[Ss]ố )?\d{1,4}[\w/]{0,6},? (?i:đường|phố|ngõ|hẻm)(?: [^\W\d_]{1,9}){1,4}",
    r"(?:\d{1,4} )?(?:شارع|طريق|حي|ميدان)(?: [\u0600-\u06ff]{2,20}){1,5}?[،,]? ?"
    r"(?:(?:رقم|مبنى|عمارة|منزل|شقة) ){0,2}\d{1,4}(?!\d)|\d{1,4} شارع [\u0600-\u06ff]{2,20}",
    r"(?:मकान|फ्लैट|घर) (?:नंबर|संख्या|नं\.?) ?\d{1,5}[\w/\-]{0,6}"
    r"(?:,? (?!(?:में|पर|से) )[\u0900-\u097f\d.]{1,20}){1,4}"
    r"|\d{1,5}[\w/\-]{0,6},?(?: [\u0900-\u097f]{2,20}){1,4} (?:मार्ग|रोड|नगर|गली|विहार)",
)
_ADDRESSES = (*(Shape("address", re.compile(one), None, {"residence"}, True) for one in _PATTERNS),)
# So many characters before a value, and behind it, may a word stand that tells what it is.
_BEFORE, _BEHIND = 70, 40


@dataclass(frozen=True, slots=True)
class Finding:
    """What stands where in a text as it was given."""

    kind: PersonalKind
    start: int
    end: int


def find_personal_data(text: str) -> tuple[Finding, ...]:
    """All personal data, by place, without overlaps; of those the longest, then the first shape."""
    plain, places = plain_text(text)
    mentions = Mentions(plain)
    found = [
        one
        for shape in (*SHAPES, *_ADDRESSES)
        if shape.sign in plain and not (shape.needed and shape.words.isdisjoint(mentions.subjects))
        for match in shape.pattern.finditer(plain)
        if (one := _judged(shape, match, mentions))
    ]
    chosen: list[Finding] = []
    for one in sorted(found, key=lambda one: one.start):
        if chosen and one.start < chosen[-1].end:
            one = max(chosen.pop(), one, key=lambda one: one.end - one.start)
        chosen.append(one)
    return tuple(
        replace(one, start=places[one.start], end=places[one.end - 1] + 1) for one in chosen
    )


def _judged(shape: Shape, match: re.Match[str], mentions: Mentions) -> Finding | None:
    """What was matched, if it is named where it must be, and its check holds."""
    start, end = match.span("value") if "value" in match.re.groupindex else match.span()
    nearest = mentions.before(shape.words, start, _BEFORE)
    if mentions.before(shape.against, start, _BEFORE) > nearest:
        return None
    named = nearest >= 0 or mentions.within(shape.words, start, end + _BEHIND)
    if (shape.needed and not named) or (shape.holds and not shape.holds(match, named)):
        return None
    return Finding(shape.kind, start, end)
