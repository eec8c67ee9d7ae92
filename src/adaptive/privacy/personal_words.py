"""The closed table of words that name what a number or a line is, all languages together."""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Set

from adaptive.privacy.scanning import any_of

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
    """A stem however its words are parted."""
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
