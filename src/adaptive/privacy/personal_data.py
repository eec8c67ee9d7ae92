"""Finding personal data in a text: by shape, by a word nearby that names it, by a check digit.

Time is linear in the length of the text, which is not bounded, since what stood behind a bound
would pass unseen.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Set
from dataclasses import replace

from adaptive.privacy.personal_shapes import SHAPES, Shape
from adaptive.privacy.scanning import Finding, any_of, plain_text

# The closed table of words that name what a number or a line is, all languages together.
# Stems in small letters, parted by bars; a space at the end means that the word ends there. In
# scripts with capitals a stem stands at the head of a word, in others anywhere.
_STEMS: Mapping[str, str] = {
    "phone": "phone|telephone|tel |mob|cel|call|text me|dial|fax|landline|reach me|reach her"
    "|contact|my number|telefon|handy|anruf|ruf |erreich|durchwahl|festnetz|rückruf|meine nummer"
    "|téléphone|joindre|teléfono|fijo|móvil|llam|mi número|ligue|whats|meu número|chiam"
    "|mio numero|bel me|bellen|mijn nummer|komórk|zadzwo|dzwoni|mój numer|телефон|тел |моб|звони"
    "|позвони|мой номер|по номеру|cep |电话|手机|联系|電話|手機|携帯|連絡先|전화|휴대폰|연락|هاتف"
    "|تلفون|جوال|موبايل|اتصل|تواصل|मेरा नंबर|मेरे नंबर|फ़ोन|फोन|मोबाइल|कॉल|संपर्क|नंबर पर|portable"
    "|liga |joignable|new number|neue nummer|nouveau numéro|nuevo número|novo número|nuovo numero"
    "|nowy numer|новый номер|zap |telegram|sms|ring |his number|her number|reach him|puhelin"
    "|我的号码|号码是|番号は|رقمي|mon numéro|son numéro|benim numaram",
    "id": "id card|national id|national insurance|ni number|tax id|tax number|steuer|ausweis"
    "|documento|nif |contribuinte|rg |codice fisc|sin |rut |cuit|cédula|curp|rfc |cnpj|nip |pan "
    "|nhs|medicare|bsn|инн |证件号|マイナンバー|個人番号|주민등록|هويت|هوية|पैन|पहचान|nino |nin "
    "|cnic|tin |dowód|cpf|aadhaar|aadhar|uidai|आधार|снилс|身份证|身份證|tc |tckn|kimlik|sécu|nir "
    "|numéro de sécu|dni |pesel|personnummer|personnr|henkilötunnu|hetu |rodné č|ahv|svnr"
    "|sozialvers|rentenvers|versicherungsnummer|versichertennummer|idnr|cpr|fødselsnummer|egn "
    "|amka|αμκα|αφμ|jmbg|oib |cnp |pps |תעודת|מספר זהות|ת ז|căn cước|cccd|cmnd|ktp"
    "|رقم الهوية|بطاقة|ипн|іпн|иин|рнокпп|identidad|seguridad social|carte vitale|numéro fiscal"
    "|número fiscal|cidadão|burgerservice|sofinummer|carta d'identità|carte d'identité|在留カード"
    "|外国人登録|社保|személyi|nie |บัตรประชาชน|id num|nik |identity",
    "ssn": "ssn|social sec|soc sec|seguro social",
    "passport": "passport|reisepass|passeport|passaporte|passaporto|paspoort|paszport|паспорт"
    "|pasaport|护照|パスポート|여권|جواز|पासपोर्ट|passnummer|загран|hộ chiếu|דרכון|passin|passnr"
    "|pass nr|reisedokument|útlevél|διαβατήριο|cestovn|旅券",
    "ip": "ip |server|host|ping|ssh|router|dns|login|connect|failed|blocked|address|vpn|dhcp"
    "|адрес|сервер|adres|dirección|地址|服务器|サーバ|خادم|عنوان|सर्वर",
    "coordinates": "coord|gps|lat |latitude|lon |lng |longitude|koordinat|estoy en|координат|坐标"
    "|座標|経度|緯度|إحداثيات|location|standort|ubicaci|位置|좌표|współrz|נ צ|קואורדינט",
    "wallet": "wallet|bitcoin|btc|eth |solana|crypto|usdt|xrp|litecoin|doge|cartera|portafoglio"
    "|portfel|кошел|cüzdan|钱包|ウォレット|محفظ|वॉलेट",
    "residence": "live |lives|lived|address|home|house|moved|moving|resid|ship|deliver|mail "
    "|mailing|send |sent |apt |flat |pick me up|come to|my place|landlord|tenant|parcel|letter to"
    "|invoice to|wohn|anschrift|zu hause|ziehe|liefer|schick|paket|habite|domicil|je vis|livr"
    "|déménag|chez moi|vivo |direcci|enví|casa |entreg|moro |endereço|envie|abit|indirizzo|spedi"
    "|consegn|woon|adres|thuis|stuur|bezorg|pakket|mieszka|wysł|wyśl|dostaw|paczk|жив|адрес"
    "|достав|отправ|дом |oturu|yaşıyor|gönder|kargo|teslim|住|地址|寄到|送到|快递|自宅|送って"
    "|주소|살고|살아|배송|택배|보내|أسكن|أعيش|عنوان|بيت|रहता|रहती|पता |घर |भेज|living|apartment"
    "|staying|zuhause|manda|evim|réside|trasferi|pick up|drop off|courier|переех|улиц|квартир"
    "|我家|家在|搬到|搬家|邮寄|收件|收货|家は|引っ越|郵送|届|이사|우리 집|כתובת|רחוב|גר |גרה "
    "|taşın|سكن|منزل|मकान|寄给",
    "birth": "born|dob |bday|birth|gebor|geburt|geb |né le|née le|naissance|anniversaire|naci"
    "|nací|fecha de nac|cumple|nasc|aniversário|nato |compleanno|sono nat|geboorte|urodz|родил"
    "|рожден|рождён|doğum|出生|生日|生于|誕生日|生まれ|生年月日|출생|생년월일|태어|مواليد|ميلاد"
    "|ولد|जन्म|पैदा|d o b|dateofbirth|doğdu|ngày sinh|sinh ngày|sinh năm|född|födelse|født|fødsel"
    "|turning |né |née |cumplo|compio|jarig|ur |nata |день рож|др |生辰|تولد|date de naiss|narod"
    "|synny|생일|i turned ",
    "counter": "order|invoice|ticket|tracking|isbn|serial|firmware|model |article|reference"
    "|product|flight|build |rfc |patent|transaction|confirmation|booking|shipment|commit|port "
    "|revision|release|vin |score|views|licen|error|issue|chapter|section|page|receipt|hash"
    "|bestell|rechnung|auftrag|sendung|seriennummer|commande|suivi|référence|pedido|factura"
    "|seguimiento|versi|versã|rastre|ordine|fattura|bestelnummer|serienummer|zamówien|seryjn"
    "|wersj|заказ|серийн|артикул|трек|верси|sipariş|sürüm|takip|订单|单号|序列号|型号|版本|注文"
    "|追跡|製造番号|型番|バージョン|주문|송장|버전|الطلب|طلب|الشحنة|التتبع|إصدار|ऑर्डर|चालान"
    "|ट्रैकिंग|संस्करण|lotter|update|upgrade|v |rev |ios |macos |kernel|driver|python|windows"
    "|numero di s|numéro de s|número de s|kundenn",
}
# Names a home as well as a word does: the post code of a city.
_POST_CODE = re.compile(
    "[A-Z]{2} [0-9]{5}(?![0-9])|, [0-9]{4,5}(?: [A-Z]{2})? [A-Z]"
    "|[A-Z][0-9]{1,2} [0-9][A-Z]{2}(?![0-9A-Za-z])| [0-9]{6}(?![0-9])"
)


def _key(words: str) -> str:
    """Letters and digits alone, which tell a stem however its words are parted."""
    return "".join(filter(str.isalnum, words))


def _pattern(stem: str) -> str:
    parted = re.escape(stem.rstrip()).replace(r"\ ", r"[\W_]{1,2}")
    return parted + (r"(?![^\W\d_])" if stem.endswith(" ") else "")


_SUBJECTS: dict[str, set[str]] = {}
for _subject, _stems in _STEMS.items():
    for _stem in _stems.split("|"):
        _SUBJECTS.setdefault(_key(_stem), set()).add(_subject)
_LONGEST_FIRST = sorted("|".join(_STEMS.values()).split("|"), key=len, reverse=True)
_NAMING = re.compile(
    r"(?:(?<![A-Za-z\u00c0-\u058f])|(?=[\u0590-\uffff]))"
    f"(?:{any_of(map(_pattern, _LONGEST_FIRST))})"
)


class Mentions:
    """Where a text names subjects, for questions about what is named near a place."""

    def __init__(self, text: str) -> None:
        small = text.replace("İ", "i").lower()  # the only letter that is longer in small letters
        named = [(*one.span(), _SUBJECTS[_key(one[0])]) for one in _NAMING.finditer(small)]
        codes = [(*one.span(), {"residence"}) for one in _POST_CODE.finditer(text)]
        self._named = sorted(named + codes, key=lambda one: one[:2])
        self._starts = [start for start, *_ in self._named]
        self.subjects = {one for *_, named in self._named for one in named}

    def before(self, subjects: Set[str], place: int, reach: int) -> int:
        """Where the last mention ends that lies so near before a place; else -1."""
        for at in range(bisect_left(self._starts, place) - 1, -1, -1):
            _, end, named = self._named[at]
            if end < place - reach:
                break
            if end <= place and not named.isdisjoint(subjects):
                return end
        return -1

    def within(self, subjects: Set[str], low: int, high: int) -> bool:
        """Whether one of them is named there."""
        first, last = bisect_left(self._starts, low), bisect_right(self._starts, high)
        return any(not subjects.isdisjoint(named) for *_, named in self._named[first:last])


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
PERSONAL_SHAPES = (
    *SHAPES,
    *(Shape("address", re.compile(one), None, {"residence"}, True) for one in _PATTERNS),
)
# So many characters before a value, and behind it, may a word stand that tells what it is.
_BEFORE, _BEHIND = 70, 40


def find_personal_data(text: str) -> tuple[Finding, ...]:
    """All personal data, by place, without overlaps; of those the longest, then the first shape."""
    plain, places = plain_text(text)
    mentions = Mentions(plain)
    found = [
        one
        for shape in PERSONAL_SHAPES
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
    other = mentions.before(shape.against, start, _BEFORE)
    # What another line speaks of, as another message, does not tell what this one holds.
    if other > nearest and "\n" not in match.string[other:start]:
        return None
    named = nearest >= 0 or mentions.within(shape.words, start, end + _BEHIND)
    if (shape.needed and not named) or (shape.holds and not shape.holds(match, named)):
        return None
    return Finding(shape.kind, start, end)
