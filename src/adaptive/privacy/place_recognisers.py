"""Recognisers of street addresses and of coordinates."""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import re

from adaptive.privacy.recogniser import HEAD, Lead, Recogniser

_CAPITAL = r"[A-Z\u00c0-\u00d6\u00d8-\u00de\u0100-\u017f\u0410-\u042f]"
_NAME = rf"{_CAPITAL}[\w'.\-]{{0,24}}"
_ROMANCE_JOINTS = (
    "de|du|des|del|della|dello|dei|degli|delle|dell|di|da|do|dos|das|la|le|les|el|las|los|y|e|et"
    "|aux?|sur|sous|en|san|santa"
)
_ROMANCE_WORD = (
    rf"(?:(?:{_ROMANCE_JOINTS})(?!\w)|[dlDL]'[\w\-]{{2,24}}"
    rf"|[0-9]{{1,2}}[ºª°]?(?= (?:[^\W\d]|#))|{_NAME})"
)
_HOUSE = r"[0-9]{1,5} ?(?:[A-Za-z](?![\w]))?(?:[/\-] ?[0-9]{1,4}[A-Za-z]?|/[A-Za-z])?(?![\w])"
_ENGLISH_TYPES = (
    "Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Square|Sq"
    "|Terrace|Ter|Way|Parkway|Pkwy|Highway|Hwy|Close|Crescent|Cres|Circle|Cir|Trail|Gardens|Grove"
    "|Row|Mews|Hill|Walk|Alley|Broadway|Green|Quay|Loop|Plaza|Wharf"
)
_POST_CODE = (
    r"(?:[A-Z]{2} [0-9]{5}(?:-[0-9]{4})?|[A-Z]{1,2}[0-9][0-9A-Z]? ?[0-9][A-Z]{2}"
    r"|[A-Z]{2,3} [0-9]{4}|[1-9][0-9]{2} ?[0-9]{3}|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9])"
)


_DRAWING = re.compile(r"(?:scale|translate|rotate|skew|matrix|bezier|rgba?|hsla?|vec)\w{0,3}\($")
_MEASURE = re.compile(
    r" ?(?:[mnμ]?s|[mck]?m|kg|px|sec|usd|eur|db|[kmg]?hz|[kmg]b|k?w|v|mph|fps|[%€$])(?!\w)",
    re.IGNORECASE,
)


def _coordinates_fit(match: re.Match[str]) -> bool:
    """Within the globe, and no part of a longer list of numbers."""
    latitude = abs(float(match["latitude"]))
    longitude = abs(float(match["longitude"]))
    text = match.string
    before = text[max(match.start() - 12, 0) : match.start()].rstrip(" ([")
    behind = text[match.end() : match.end() + 5].lstrip(" ")
    listed = before[-1:] in {",", ";"} and before[:-1][-1:].isdigit()
    more = behind[:1] in {",", ";"} and behind[1:].strip(" -+")[:1].isdigit()
    if _MEASURE.match(text, match.end()) or _DRAWING.search(
        text, max(match.start() - 16, 0), match.start()
    ):
        return False
    # Two shares of one, as in vectors, are on the open sea off Ghana.
    return latitude + longitude > 1 and latitude <= 90 and longitude <= 180 and not (listed or more)


def _address(
    name: str,
    pattern: str,
    clues: str,
    *leads: Lead,
    score: float = 0.3,
    trim: str = "",
    numbered: bool = False,
) -> Recogniser:
    return Recogniser(
        "address",
        name,
        "" if leads else "digit",
        pattern,
        score,
        0.8,
        "residence",
        reach=(70, 45),
        clues=tuple(clues.split("|")),
        numbered=numbered,
        trim=trim,
        leads=frozenset(leads),
        countered=False,
    )


_CITY = rf"(?:,? {_NAME}(?:[ \-]{_NAME}){{0,3}})"
ADDRESS_RECOGNISERS = (
    _address(
        "post office box",
        r"(?<!\w)(?:(?i:p\. ?o\.|po) ?(?i:box)|Postfach|Apartado(?: de [Cc]orreos)?|Caixa Postal"
        r"|Casella [Pp]ostale|Postbus|BP|а/я|[Ss]krytka pocztowa) ?(?:[Nn][.ºr]\.? ?)?"
        r"[0-9]{1,6}(?![0-9A-Za-z])"
        rf"(?:(?:,? {_NAME}(?:[ \-]{_NAME}){{0,2}}){{0,2}},? (?P<sure>{_POST_CODE})(?!\w)"
        rf"|,? [0-9]{{5}} {_NAME})?",
        " box| postfach| apartado| caixa| casella| postbus| bp | а я | skrytka",
    ),
    _address(
        "English",
        rf"{HEAD}[0-9]{{1,5}}[A-Za-z]?(?:[-/][0-9]{{1,4}})?,? "
        rf"(?:(?:[0-9]{{1,3}}(?:st|nd|rd|th)|{_NAME}) ){{1,4}}(?:{_ENGLISH_TYPES})(?![\w'])\.?"
        r"(?: (?:NW|NE|SW|SE|[NSEW])(?!\w))?"
        r"(?:,? (?:Apt|Apartment|Unit|Suite|Ste|Flat|Floor|#)\.? ?#?[0-9A-Za-z\-]{1,6}(?!\w))?"
        rf"(?:{_CITY}{{0,2}},? (?P<sure>{_POST_CODE})(?!\w))?",
        " st| ave| road| rd| boul| blvd| lane| ln| dr| court| ct| pl| sq| ter| way| park| pkwy"
        "| high| hwy| green| quay| loop| plaza| wharf| close| cres| cir| trail| gard| grov| row"
        "| mews| hill| walk| all| broad",
        *range(1, 6),
    ),
    _address(
        "English, small letters",
        rf"{HEAD}[0-9]{{1,5}} (?!(?:way|more|of|the|times?|blocks?|on|in|to|main(?! )|days?|min)\b)"
        r"[a-z]{3,20}(?: [a-z]{3,20})? (?:street|avenue|road|lane|drive|boulevard|terrace"
        r"|crescent|parkway)(?!\w)",
        " street| avenue| road| lane| drive| boulevard| terrace| crescent| parkway",
        *range(1, 6),
        score=0.2,
    ),
    _address(
        "German",
        rf"(?<!\w)(?:{_CAPITAL}[\w.]{{1,24}}[ \-]){{0,3}}(?:{_CAPITAL}?[\w]{{1,24}}?"
        r"(?:[Ss]tra(?:ß|ss)e|[Ss]tr\.|weg|Weg|platz|Platz|allee|Allee|gasse|ring|ufer|damm"
        r"|chaussee|steig|steg|graben|markt|hof)|(?<=[\w.][ \-])(?:Stra(?:ß|ss)e|Str\.|Weg|Platz"
        rf"|Allee|Gasse|Ring|Ufer|Damm|Chaussee|Graben|Markt)) ?{_HOUSE}"
        rf"(?:,? (?P<sure>[0-9]{{4,5}}) {_NAME})?",
        "straße|strasse|str |weg|platz|allee|gasse|ring|ufer|damm|chaussee|steig|steg|graben"
        "|markt|hof",
        numbered=True,
    ),
    _address(
        "German, with a preposition",
        r"(?<!\w)(?:Am|An der|An den|Auf der|Auf dem|Im|In der|In den|Unter den|Zum|Zur|Hinter der)"
        rf" {_NAME}(?: {_NAME})? {_HOUSE}(?:,? (?P<sure>[0-9]{{4,5}}) {_NAME})?",
        " am | an de| auf de| im | in de| unter den | zum | zur | hinter der ",
        score=0.25,
    ),
    _address(
        "French",
        rf"{HEAD}[0-9]{{1,4}}(?: ?(?:bis|ter|quater|[A-D])(?!\w))?,? (?i:rue|avenue|av\.|boulevard"
        r"|bd\.?|place|chemin|allée|impasse|quai|cours|route|square|passage|faubourg|sentier)"
        rf"(?: {_ROMANCE_WORD}){{1,6}}(?:,? (?P<sure>[0-9]{{5}}) {_NAME})?",
        " rue | avenue | av | boulevard | bd | place | chemin | allée | impasse | quai | cours "
        "| route | square | passage | faubourg | sentier ",
        *range(1, 5),
    ),
    _address(
        "Spanish, Portuguese, Italian",
        r"(?<!\w)(?i:calle|c/|avenida|avda\.?|av\.?|paseo|plaza|pza\.?|carrera|cra\.?|calzada|ronda"
        r"|travesía|jirón|pasaje|glorieta|rua|r\.|travessa|praça|alameda|estrada|rodovia|largo|via"
        rf"|viale|v\.le|piazza|p\.za|corso|c\.so|vicolo|strada"
        rf"|camino) ?{_ROMANCE_WORD}(?: {_ROMANCE_WORD}){{0,5}}"
        r",? ?(?:n[.º°o]{1,2} ?|núm(?:ero|\.)? ?|número |#|civico )?"
        rf"{_HOUSE}(?:,? [0-9]{{1,2}} ?[º°ªoa]\.?(?: ?[A-Z])?(?!\w))?"
        rf"(?:,? (?P<sure>[0-9]{{4,5}}(?:-[0-9]{{3}})?) {_NAME})?",
        " calle | c | avenida| avda | av | paseo | plaza | pza | carrera | cra | calzada | ronda "
        "| travesía | jirón | pasaje | glorieta | rua | r | travessa | praça | alameda | estrada "
        "| rodovia | largo | via | viale | v le | piazza | p za | corso | c so | vicolo | strada "
        "| camino ",
    ),
    _address(
        "Dutch",
        rf"(?<!\w)(?:{_CAPITAL}[\w.]{{1,24}} ){{0,3}}{_CAPITAL}[\w]{{1,24}}?(?:straat|laan|weg"
        rf"|plein|gracht|kade|singel|dijk|steeg|dreef|hof|pad|plantsoen) {_HOUSE}"
        rf"(?:,? (?P<sure>[1-9][0-9]{{3}} ?[A-Z]{{2}})(?!\w)(?: {_NAME})?)?",
        "straat|laan|weg|plein|gracht|kade|singel|dijk|steeg|dreef|hof|pad|plantsoen",
        numbered=True,
    ),
    _address(
        "Polish",
        r"(?<!\w)(?i:ul\.|ulic[ay]|ulicę|al\.|alej[ai]|alejach|pl\.|plac[u]?|os\.|osiedl[eu])"
        rf"(?: (?:[0-9]{{1,2}} )?(?:{_NAME}|i|im\.)){{1,4}} "
        rf"{_HOUSE}(?: ?m\. ?[0-9]{{1,4}})?(?:,? (?P<sure>[0-9]{{2}}-[0-9]{{3}}) {_NAME})?",
        " ul | ulic| al | alej| pl | plac| os | osiedl",
    ),
    _address(
        "Russian",
        r"(?<!\w)(?:(?i:ул\.|улиц[аеу]|пр\.|пр-т|просп\.|проспект[е]?|пер\.|переул[а-я]{2,3}"
        r"|бульвар[е]?|б-р|наб\.|набережн[а-я]{2}|шоссе|площад[ьи]|пл\.) ?"
        rf"{_NAME}(?: {_NAME}){{0,2}}|{_NAME}(?: {_NAME})? (?i:ул\.|улиц[аеу]|пр-т|проспект[е]?"
        r"|пер\.|переул[а-я]{2,3}|бульвар[е]?|шоссе|набережн[а-я]{2}|площад[ьи]))"
        r",? (?:д\. ?|дом )?[0-9]{1,4}(?: ?[а-яА-Я](?!\w))?(?!\w)(?:[/\-][0-9]{1,3})?"
        r"(?:,? (?:к\.|корп\.|корпус|стр\.) ?[0-9]{1,3})?(?P<sure>,? (?:кв\."
        r"|квартира) ?[0-9]{1,4})?",
        " ул | улиц| пр | просп| пер | переул| бульвар| б р | наб| шоссе| площад| пл ",
    ),
    _address(
        "Turkish",
        rf"(?<!\w){_NAME}(?: {_NAME}){{0,3}} (?:Caddesi|Cad\.|Cd\.|Sokak|Sokağı|Sok\.|Sk\.|Bulvarı"
        r"|Blv\.|Mahallesi|Mah\.),? ?(?:[\w. ]{0,40}?)(?:No|no|NO|Numara|numara)\.?:? ?"
        r"[0-9]{1,4}[A-Z]?(?:/[0-9]{1,4})?(?:,? (?:D|Daire|Kat)[:.]? ?[0-9]{1,3}){0,2}",
        " cadde| cad | cd | sokak| sokağ| sok | sk | bulvar| blv | mahalle| mah ",
    ),
    _address(
        "Indonesian",
        rf"(?<!\w)(?:Jalan|Jln\.?|Jl\.?|Gang|Gg\.?) {_NAME}(?: (?:{_NAME}|[IVX]{{1,4}})){{0,4}},?"
        r" (?:No\.?|Nomor|nomor"
        r"|no\.?) ?[0-9]{1,4}[A-Z]?(?:,? RT ?\.?[0-9]{1,3}/RW ?\.?[0-9]{1,3})?",
        " jalan | jln | jl | gang | gg ",
    ),
    _address(
        "Chinese",
        r"[\u4e00-\u9fff]{2,30}(?:大道|路|街|道|巷|弄|胡同|村)[\u4e00-\u9fff]{0,4}[0-9]{1,5}"
        r"(?:弄|号院|号|號)"
        r"(?:[\u4e00-\u9fff]{0,8}[0-9]{1,4}(?:号楼|楼|栋|幢|座|单元|层|室|号"
        r"|樓)){0,4}(?:[0-9]{1,4}室)?",
        "路|街|道|巷|弄|胡同|村",
        trim="[\u4e00-\u9fff]{0,28}(?:住在|住址|家住|我住|现住|地址|家在|公司在|位于|寄到|寄给|送到|搬到|[在到给是于往了])",
    ),
    _address(
        "Japanese",
        r"(?:〒 ?(?P<sure>[0-9]{3}-[0-9]{4}) ?)?[\u3005-\u3007\u3041-\u30ff\u4e00-\u9fff]{2,24}"
        r"[市区町村郡][\u3005-\u3007\u3041-\u30ff\u4e00-\u9fff]{0,10}[0-9]{1,4}"
        r"(?:丁目(?:[0-9]{1,3}(?:番地?|-)(?:の?[0-9]{1,3}号?)?)?|番地?(?:の?[0-9]{1,3}号?)?"
        r"|-[0-9]{1,4}(?:-[0-9]{1,4})?)(?: ?[\w\u30a1-\u30ff]{1,20} ?[0-9]{1,4}号室)?",
        "市|区|町|村|郡",
        trim="[\u3005-\u3007\u3041-\u30ff\u4e00-\u9fff]{0,20}(?:住所|自宅|[はがにへを])(?=.{0,6}[都道府県市区])",
    ),
    _address(
        "Korean",
        r"(?:[\uac00-\ud7a3]{1,8}(?:시|도|구|군) ){0,3}[\uac00-\ud7a3]{1,10}(?:대로|로|길)"
        r"(?: ?[0-9]{1,4}번?길)? ?[0-9]{1,4}(?:-[0-9]{1,3})?(?![0-9])"
        r"(?: ?[0-9]{1,4}동)?(?: ?[0-9]{1,4}호)?",
        "로|길",
    ),
    _address(
        "Arabic",
        r"(?:[0-9]{1,4} )?(?:شارع|طريق|حي|جادة"
        r"|ميدان) [\u0600-\u06ff]{2,20}(?: [\u0600-\u06ff]{2,20})"
        r"{0,4}?[،,]? ?(?:رقم |مبنى |عمارة |بناية |منزل |فيلا |شقة )?(?:رقم )?[0-9]{1,4}(?![0-9])"
        r"|[0-9]{1,4} (?:شارع|طريق) [\u0600-\u06ff]{2,20}(?: [\u0600-\u06ff]{2,20})?",
        "شارع|طريق| حي |جادة|ميدان",
    ),
    _address(
        "Hindi",
        r"(?:मकान|फ्लैट|फ़्लैट|प्लॉट|घर|हाउस|दुकान) (?:नंबर|संख्या|नं\.?"
        r"|न\.) ?[0-9]{1,5}[\w/\-]{0,6}"
        r"(?:,? (?!(?:में|पर|से|को|के|का|की|है|हूँ|हैं|और|मेरा"
        r"|रह)(?![\u0900-\u097f]))[\u0900-\u097f0-9]{2,20}){1,4}"
        r"|[0-9]{1,5}[\w/\-]{0,6},? [\u0900-\u097f]{2,20}"
        r"(?: [\u0900-\u097f]{2,20}){0,3} (?:मार्ग|रोड|नगर|गली|कॉलोनी|स्ट्रीट|विहार"
        r"|सेक्टर)(?: [0-9]{1,3})?",
        "मकान|फ्लैट|फ़्लैट|प्लॉट|घर|हाउस|दुकान|मार्ग|रोड|नगर|गली|कॉलोनी|स्ट्रीट|विहार|सेक्टर",
    ),
)
_MINUTES = r"[0-9]{1,2}(?:\.[0-9]{1,6})? ?['\u2032]"
_SECONDS = r"(?: ?[0-9]{1,2}(?:\.[0-9]{1,6})? ?(?:[\"\u2033\u201d]|''))?"
COORDINATE_RECOGNISERS = (
    Recogniser(
        "coordinates",
        "decimal degrees",
        "decimals",
        r"(?<![0-9A-Za-z_.,])(?P<latitude>[-+]?[0-9]{1,2}\.[0-9]{4,15})(?:,| |, |; ?|/| / )"
        r"(?P<longitude>[-+]?[0-9]{1,3}\.[0-9]{4,15})(?![0-9A-Za-z_%])",
        0.75,
        0.95,
        "coordinates",
        fits=_coordinates_fit,
        countered=False,
    ),
    Recogniser(
        "coordinates",
        "few decimals",
        "decimals",
        r"(?<![0-9A-Za-z_.,])(?P<latitude>[-+]?[0-9]{1,2}\.[0-9]{2,15})(?:, ?|; ?| / | and | und "
        r"| et | y )"
        r"(?P<longitude>[-+]?[0-9]{1,3}\.[0-9]{2,15})(?![0-9A-Za-z_%])(?! ?[€$£¥])",
        0.2,
        0.8,
        "coordinates",
        reach=(40, 20),
        fits=_coordinates_fit,
    ),
    Recogniser(
        "coordinates",
        "with hemispheres",
        "decimals",
        r"(?<![0-9A-Za-z_.,])(?P<latitude>[0-9]{1,2}(?:\.[0-9]{1,12})?) ?° ?[NSns],? ?"
        r"(?P<longitude>[0-9]{1,3}(?:\.[0-9]{1,12})?) ?° ?[EWOewo](?![0-9A-Za-z])"
        r"|(?<![0-9A-Za-z_.,])[0-9]{1,2}\.[0-9]{2,12} ?[NS],? "
        r"[0-9]{1,3}\.[0-9]{2,12} ?[EWO](?![0-9A-Za-z])"
        r"|(?<![0-9A-Za-z])[NS] ?[0-9]{1,2}\.[0-9]{2,12}°?,? "
        r"[EWO] ?[0-9]{1,3}\.[0-9]{2,12}°?(?![0-9A-Za-z])",
        0.9,
        countered=False,
    ),
    Recogniser(
        "coordinates",
        "degrees and minutes",
        "decimals",
        r"(?<![0-9A-Za-z.,])[0-9]{1,2}(?: |° ?)[0-5]?[0-9]\.[0-9]{1,6} ?['\u2032]? ?[NSns],? ?"
        r"[0-9]{1,3}(?: |° ?)[0-5]?[0-9]\.[0-9]{1,6} ?['\u2032]? ?[EWOewo](?![0-9A-Za-z])",
        0.9,
        countered=False,
    ),
    Recogniser(
        "coordinates",
        "degrees, minutes, seconds",
        "degrees",
        rf"(?<![0-9A-Za-z])[0-9]{{1,2}} ?° ?{_MINUTES}{_SECONDS} ?[NSns],? {{0,2}}"
        rf"[0-9]{{1,3}} ?° ?{_MINUTES}{_SECONDS} ?[EWOewo](?![0-9A-Za-z])",
        0.95,
        countered=False,
    ),
    Recogniser(
        "coordinates",
        "named",
        "decimals",
        r"(?:(?i:lat(?:itude)?)[\"']?(?: ?[:=] ?| )|[緯纬]度 ?[:：は]?"
        r" ?)\+?(?P<latitude>-?[0-9]{1,2}\.[0-9]{1,15})"
        r"[,;&、，度]{0,2} ?(?:and )?[\"']?(?:(?i:lon(?:g(?:itude)?)?|lng)[\"']?(?: ?[:=] ?| )"
        r"|[経经]度 ?[:：は]? ?)\+?"
        r"(?P<longitude>-?[0-9]{1,3}\.[0-9]{1,15})",
        0.95,
        fits=_coordinates_fit,
        countered=False,
    ),
)
