"""Write the labelled set: made-up values in the sentences of ``labelled/sentences.txt``.

``python tests/privacy/make_labelled.py`` writes ``labelled/cases.json``; always the same. Of every
three sentences the last was set aside (``held_out``) until the recognisers were done; what they
scored on those then, before anything was changed for them, stands in ``benchmarks/privacy.py``.
"""

# ruff: noqa: E501, SIM905 - values in rows

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "src"))

from adaptive.privacy import checksums, national_ids, wallet_checksums  # noqa: E402
from adaptive.privacy.payment_recognisers import card_holds, iban_holds  # noqa: E402

SENTENCES = HERE / "labelled" / "sentences.txt"
CASES = HERE / "labelled" / "cases.json"
EACH = {True: 3, False: 4}
Chance = random.Random

NAMES = (
    "anna.koch marek.w li.na j_doe priya ivan.petrov yuki sara.lopez tom+news omar.k elif".split()
)
HOSTS = "example.com mail.example.org firma.example.de correo.es posta.it uni-nord.edu web.com.br".split()
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

ADDRESSES = {
    "en": "12 Maple Street|48 Queens Road, Leeds LS6 3QT|2210 North Willow Avenue, Austin, TX 78704"
    "|7B Harbour Lane|301 Oak Drive Apt 12|95 St. Mark's Place, New York, NY 10009",
    "de": "Lindenstraße 14|Goethestr. 7a, 80336 München|Am Alten Markt 3|Kastanienallee 82, 10435"
    " Berlin|Rosenweg 5|Lange Gasse 12",
    "fr": "14 rue des Lilas|8 bis avenue Victor Hugo, 69002 Lyon|25 boulevard de la Liberté"
    "|3 place du Marché|112, chemin des Vignes|6 allée Jean Moulin, 31000 Toulouse",
    "es": "calle Mayor 12|Avenida de la Constitución, 45|Paseo del Prado 8, 28014 Madrid"
    "|C/ San Juan, 3|Plaza de España 7|calle de la Luna, n.º 19",
    "pt": "Rua das Flores, 123|Avenida Paulista, 1578|Travessa do Carmo, 9|Rua Augusta 450"
    "|Praça da República, 22|Alameda Santos, 700",
    "it": "via Garibaldi 15|Via Roma, 22, 10121 Torino|Corso Vittorio Emanuele 88|piazza Dante 4"
    "|viale dei Tigli, 31|Vicolo Stretto 2",
    "nl": "Kerkstraat 21|Prinsengracht 263, 1016 GV Amsterdam|Julianalaan 8|Dorpsweg 45a"
    "|Oude Singel 12|Wilhelminaplein 3",
    "pl": "ul. Długa 15|ul. Marszałkowskiej 104/5|al. Niepodległości 22, 02-653 Warszawa"
    "|ulicy Polnej 7|ul. Jana Pawła 9 m. 3|pl. Wolności 2",
    "ru": "ул. Ленина, д. 15, кв. 8|Невский проспект, 28|улица Гагарина, дом 7|пр. Мира, 101"
    "|ул. Садовая 12|Лесной переулок, д. 3",
    "zh": "北京市海淀区中关村大街27号|上海市浦东新区世纪大道100号|杭州市西湖区文三路90号"
    "|解放路58号3单元402室|广州市天河区体育西路103号|人民南路12号",
    "ja": "東京都渋谷区神南1-2-3|大阪市北区梅田3丁目1番1号|京都市左京区吉田本町36-1"
    "|北海道札幌市中央区大通西4丁目|横浜市西区みなとみらい2-2-1|福岡市博多区博多駅前3-25-21",
    "ar": "شارع التحرير 25|12 شارع النيل|شارع الملك فهد، مبنى 40|طريق الجامعة 8|حي الورود 16"
    "|شارع الحرية رقم 9",
    "hi": "मकान नंबर 24, गांधी नगर, जयपुर|12 नेहरू मार्ग|फ्लैट नंबर 302, शांति विहार"
    "|45 स्टेशन रोड|प्लॉट नंबर 8, सेक्टर 15, नोएडा|मकान संख्या 7, रामपुर गली",
    "tr": "Atatürk Caddesi No: 12|Gül Sokak No 5/3|Bağdat Cad. No:210 D:8|Çınar Mahallesi Lale"
    " Sokak No: 7|İnönü Bulvarı No: 44|Zafer Sok. No:3",
}
MONTHS = {
    "en": "January March April June September December",
    "de": "Januar März April Juni September Dezember",
    "fr": "janvier mars avril juin septembre décembre",
    "es": "enero marzo abril junio septiembre diciembre",
    "pt": "janeiro março abril junho setembro dezembro",
    "it": "gennaio marzo aprile giugno settembre dicembre",
    "nl": "januari maart april juni september december",
    "pl": "stycznia marca kwietnia czerwca września grudnia",
    "ru": "января марта апреля июня сентября декабря",
    "ar": "يناير مارس أبريل يونيو سبتمبر ديسمبر",
    "hi": "जनवरी मार्च अप्रैल जून सितंबर दिसंबर",
    "tr": "Ocak Mart Nisan Haziran Eylül Aralık",
}
PHONES = {
    "en": "(212) 555-0NNN|+44 20 7946 0NNN|07700 900NNN|+1 415-555-0NNN|312.555.0NNN",
    "de": "+49 30 901820NNN|030 9018 2NNN|0171 39 200NN|+49 (0)89 1234NNN|0221/4710NNN",
    "fr": "01 99 00 NN NN|+33 6 39 98 NN NN|06.39.98.NN.NN|0639 98 NN NN",
    "es": "+34 612 345 NNN|612 34 5N NN|+34 91 123 4NNN|912 345 NNN",
    "pt": "(11) 9 8765-4NNN|+55 21 99876-5NNN|(31) 3456-7NNN|+351 912 345 NNN",
    "it": "+39 347 123 4NNN|347 1234NNN|06 6982 1NNN|+39 02 8646 3NNN",
    "nl": "06-1234 5NNN|+31 6 12345NNN|020-123 4NNN|06 12345NNN",
    "pl": "601 234 NNN|+48 22 123 4N NN|+48 601234NNN|22 123 4N NN",
    "ru": "+7 912 345-6N-NN|8 (912) 345-6N-NN|+7 (495) 123-4N-NN|8-916-123-4N-NN",
    "zh": "138123456NN|+86 139 1234 5NNN|010-8765 4NNN|137-1234-5NNN",
    "ja": "090-1234-5NNN|03-1234-5NNN|+81 80 1234 5NNN|０９０－１２３４－５NNN",
    "ar": "+20 100 123 4NNN|0100 123 4NNN|+966 50 123 4NNN|٠١٠٠١٢٣٤NNN",
    "hi": "+91 98765 43NNN|98765 43NNN|9876543NNN|+91-9876543NNN",
    "tr": "+90 532 123 4N NN|0532 123 4N NN|0 532 123 45 NN|05321234NNN",
}
IBANS = {"de": ("DE", 18), "fr": ("FR", 23), "es": ("ES", 20), "pt": ("PT", 21), "it": ("IT", 0)}
IBANS |= {"nl": ("NL", 0), "pl": ("PL", 24), "tr": ("TR", 22), "ar": ("SA", 20), "en": ("GB", 0)}


def digits(chance: Chance, count: int, first: str = "123456789") -> str:
    """Random digits, the first one of some."""
    return chance.choice(first) + "".join(chance.choice("0123456789") for _ in range(count - 1))


def filled(chance: Chance, pattern: str) -> str:
    """A pattern with a digit for each N."""
    return re.sub("N", lambda _: chance.choice("0123456789"), pattern)


def until(make: Callable[[], str], holds: Callable[[str], bool], valid: bool = True) -> str:
    """The first made value whose checksum holds, or does not."""
    while True:
        value = make()
        if holds("".join(filter(str.isalnum, value)).upper()) == valid:
            return value


def day(chance: Chance, language: str, first: int, last: int) -> str:
    """A day as the language writes it."""
    year, month, number = chance.randint(first, last), chance.randint(1, 12), chance.randint(1, 28)
    if language in {"zh", "ja"}:
        return chance.choice((f"{year}年{month}月{number}日", f"{year}-{month:02}-{number:02}"))
    name = chance.choice(MONTHS[language].split())
    joint = {"es": " de ", "pt": " de "}.get(language, " ")
    dotted = "." if language in {"de", "pl", "ru", "tr"} else "/"
    worded = f"{number}{'.' if language == 'de' else ''}{joint}{name}{joint}{year}"
    if language == "en":
        worded = chance.choice((f"{name} {number}, {year}", f"{number} {name} {year}"))
    numeric = f"{number:02}{dotted}{month:02}{dotted}{year}"
    return chance.choice((worded, numeric, f"{year}-{month:02}-{number:02}"))


def card(chance: Chance, valid: bool) -> str:
    """A card number in one of the usual groupings."""
    start, count = chance.choice((("4", 16), ("51", 16), ("5425", 16), ("37", 15), ("6011", 16)))
    plain = until(
        lambda: start + digits(chance, count - len(start), "0123456789"),
        card_holds if valid else checksums.luhn_holds,
        valid,
    )
    groups = re.findall(".{1,4}", plain) if count == 16 else [plain[:4], plain[4:10], plain[10:]]
    return chance.choice((plain, " ".join(groups), "-".join(groups)))


def iban(chance: Chance, language: str, valid: bool) -> str:
    """An IBAN of a country of the language."""
    country, count = IBANS.get(language, ("DE", 18))
    if country == "GB":
        body = "NWBK" + digits(chance, 14)
    elif country == "NL":
        body = "ABNA" + digits(chance, 10)
    elif country == "IT":
        body = "X" + digits(chance, 22)
    else:
        body = digits(chance, count)
    check = 98 - checksums.mod_97(body + country + "00")
    if not valid:
        check = (check + chance.randint(3, 60)) % 97
    plain = f"{country}{check:02}{body}"
    assert iban_holds(plain) == valid
    return chance.choice((plain, " ".join(re.findall(".{1,4}", plain))))


def italian_code(chance: Chance) -> str:
    """Something of the form of a codice fiscale."""
    letters = "".join(chance.choice("BCDFGLMNPRSTV") for _ in range(6))
    month = chance.choice("ABCDEHLMPRST")
    return (
        f"{letters}{digits(chance, 2)}{month}{chance.randint(1, 28):02}H{digits(chance, 3)}"
        + chance.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    )


def national_id(chance: Chance, language: str, valid: bool) -> str:
    """An id of a country of the language."""
    ids = national_ids
    makers: dict[str, tuple[Callable[[], str], Callable[[str], bool]]] = {
        "en": (lambda: filled(chance, "4NN NNN NNNN"), ids.british_nhs_holds),
        "de": (
            lambda: chance.choice(
                (filled(chance, "8NNNNNNNNNN"), filled(chance, "4N NNN NNN NNN"))
            ),
            ids.german_tax_id_holds,
        ),
        "fr": (lambda: filled(chance, "2 8N 05 7N 1NN 0NN NN"), ids.french_nir_holds),
        "es": (
            lambda: filled(chance, "NNNNNNNN") + chance.choice("TRWAGMYFPDXBNJZSQVHLCKE"),
            ids.spanish_dni_holds,
        ),
        "pt": (
            lambda: filled(chance, chance.choice(("NNN.NNN.NNN-NN", "NNNNNNNNNNN"))),
            ids.brazilian_cpf_holds,
        ),
        "it": (lambda: italian_code(chance), ids.italian_code_holds),
        "nl": (lambda: filled(chance, "1NNNNNNNN"), ids.dutch_bsn_holds),
        "pl": (lambda: filled(chance, "8N0N1NNNNNN"), ids.polish_pesel_holds),
        "ru": (lambda: filled(chance, "1NN-NNN-NNN NN"), ids.russian_snils_holds),
        "zh": (
            lambda: filled(chance, "11010519NN0N1NNNN") + chance.choice("0123456789X"),
            ids.chinese_id_holds,
        ),
        "ja": (
            lambda: filled(chance, chance.choice(("NNNNNNNNNNNN", "NNNN NNNN NNNN"))),
            ids.japanese_my_number_holds,
        ),
        "hi": (
            lambda: filled(chance, chance.choice(("5NNN NNNN NNNN", "7NNNNNNNNNNN"))),
            ids.indian_aadhaar_holds,
        ),
        "tr": (lambda: filled(chance, "4NNNNNNNNNN"), ids.turkish_id_holds),
    }
    make, holds = makers[language]
    return until(make, holds, valid)


def mexican(chance: Chance) -> str:
    """A CURP."""
    letter = "BCDFGHJKLMNPQRSTVWXYZ"
    return until(
        lambda: (
            "GOMC"
            + filled(chance, "8N0N1N")
            + "HDF"
            + "".join(chance.choice(letter) for _ in range(3))
            + filled(chance, "0N")
        ),
        national_ids.mexican_curp_holds,
    )


def wallet(chance: Chance, valid: bool) -> str:
    """A wallet of Bitcoin or Ethereum."""
    if chance.random() < 0.5:
        small = "0x" + "".join(chance.choice("0123456789abcdef") for _ in range(40))
        proof = wallet_checksums.keccak_256(small[2:].encode()).hex()
        mixed = "0x" + "".join(
            a.upper() if (b >= "8") == valid else a for a, b in zip(small[2:], proof, strict=False)
        )
        return chance.choice((small, mixed)) if valid else mixed
    import hashlib

    content = bytes([0]) + chance.randbytes(20)
    check = hashlib.sha256(hashlib.sha256(content).digest()).digest()[:4]
    if not valid:
        check = bytes([check[0] ^ 1]) + check[1:]
    value, text = int.from_bytes(content + check, "big"), ""
    while value:
        value, rest = divmod(value, 58)
        text = BASE58[rest] + text
    return "1" + text


def pair(chance: Chance) -> str:
    """Coordinates in some notation."""
    north, east = chance.uniform(20, 60), chance.uniform(5, 120)
    minutes = f"{int(north)}°{chance.randint(1, 59)}'{chance.randint(1, 59)}\"N"
    return chance.choice(
        (
            f"{north:.5f}, {east:.5f}",
            f"{north:.6f},{-east:.6f}",
            f"{north:.4f}° N, {east:.4f}° E",
            f"{minutes} {int(east)}°{chance.randint(1, 59)}'{chance.randint(1, 59)}\"E",
        )
    )


def passport(chance: Chance, language: str) -> str:
    """A number as the countries of the language give them."""
    patterns = {"de": "C01X00T47|L0NXTNNP3", "fr": "1NAV6NNNN", "es": "AAA0NNNNN|XDB2NNNNN"}
    patterns |= {"pt": "FN4NNNNN|CZ1NNNNN", "it": "YA7NNNNNN", "nl": "BWR4NNPN7", "pl": "ZE8NNNNNN"}
    patterns |= {"ru": "45 0N 1NNNNN|4509 6NNNNN", "zh": "E8NNNNNNN", "ja": "TK1NNNNNN"}
    patterns |= {
        "ar": "A2NNNNNNN",
        "hi": "M7NNNNNN",
        "tr": "U1NNNNNNN",
        "en": "5NNNNNNNN|53NNNNNNN",
    }
    pattern = chance.choice(patterns[language].split("|"))
    return pattern if pattern == "C01X00T47" else filled(chance, pattern.replace("XN", "X8"))


def address6(chance: Chance) -> str:
    """An IPv6 address."""
    return f"2001:db8:{chance.randrange(1, 9999):x}::{chance.randrange(16, 65535):x}:{chance.randrange(1, 99)}"


def value_for(slot: str, chance: Chance, language: str) -> str:
    """A value for a slot."""
    hexadecimal = "0123456789abcdef"

    def hexed(count: int) -> str:
        return "".join(chance.choice(hexadecimal) for _ in range(count))

    mark = chance.choice(":-")
    makers: dict[str, Callable[[], str]] = {
        "email": lambda: (
            f"{chance.choice(NAMES)}{chance.choice(('', '84', '_x'))}@{chance.choice(HOSTS)}"
        ),
        "phone": lambda: filled(chance, chance.choice(PHONES[language].split("|"))),
        "card": lambda: card(chance, True),
        "badcard": lambda: card(chance, False),
        "iban": lambda: iban(chance, language, True),
        "badiban": lambda: iban(chance, language, False),
        "id": lambda: national_id(chance, language, True),
        "id2": lambda: until(
            lambda: filled(chance, "77NNNNNNNNNN"), national_ids.russian_inn_holds
        ),
        "badid": lambda: national_id(chance, language, False),
        "ssn": lambda: filled(chance, "2NN-4N-3NNN"),
        "badssn": lambda: filled(
            chance, chance.choice(("000-4N-3NNN", "666-2N-1NNN", "21N-00-3NNN"))
        ),
        "passport": lambda: passport(chance, language),
        "ip": lambda: filled(chance, chance.choice(("192.168.N.2N", "10.1N.7.N", "203.0.113.1N"))),
        "ip6": lambda: address6(chance),
        "mac": lambda: mark.join(hexed(2) for _ in range(6)),
        "url": lambda: (
            chance.choice(("https", "ftp", "postgres", "redis", "ssh"))
            + f"://{chance.choice(('deploy', 'admin', 'bob'))}:{hexed(7)}Q!@{chance.choice(HOSTS)}"
            + chance.choice(("", "/data", ":2222/x"))
        ),
        "address": lambda: chance.choice(ADDRESSES[language].split("|")),
        "dob": lambda: day(chance, language, 1940, 2012),
        "wallet": lambda: wallet(chance, True),
        "badwallet": lambda: wallet(chance, False),
        "geo": lambda: pair(chance),
        "order": lambda: filled(
            chance,
            chance.choice(("NNNNNNNNN", "NNN-NNNNNNN-NNNNNNN", "A-NNNNNNNN", "NNNN-NNNN-NNNN")),
        ),
        "date": lambda: day(chance, language, 2015, 2030),
        "isbn": lambda: filled(
            chance, chance.choice(("978-3-16-14N41N-N", "97803NNNNNNNN", "3-540-NNNNN-X"))
        ),
        "version": lambda: filled(
            chance, chance.choice(("N.1N.N", "1.N.N.4", "10.N.1.2N", "2024.1N.N"))
        ),
        "price": lambda: filled(
            chance,
            chance.choice(("€ 1.2NN.500", "$1,2NN,000", "1 250 0NN €", "4NN.99 USD", "¥12NN000")),
        ),
        "count": lambda: filled(chance, chance.choice(("1N NNN", "24NN", "3,NNN,NNN", "1NNNNN"))),
        "tracking": lambda: filled(
            chance,
            chance.choice(
                ("1Z999AA1NNNNNNNNN4", "00340434NNNNNNNNNNNN", "RR1NNNNNNNNDE", "4NN NNN NNN NNN")
            ),
        ),
        "image": lambda: chance.choice(
            ("logo@2x.png", "icon-512@3x.webp", "bg@2x.jpg", "banner_1920x1080.jpg")
        ),
        "repo": lambda: "git@code.example.org:team/app.git",
        "hash": lambda: hexed(chance.choice((7, 40))),
        "time": lambda: filled(chance, chance.choice(("1N:30", "0N:15:4N"))),
        "netmask": lambda: chance.choice(("255.255.255.0", "127.0.0.1", "0.0.0.0")),
        "badip": lambda: filled(chance, "300.1N.2.1"),
        "badmac": lambda: ":".join(hexed(2) for _ in range(8)),
        "vector": lambda: ", ".join(f"{chance.uniform(-1, 1):.4f}" for _ in range(5)),
        "years": lambda: chance.choice(("1914-1918", "1805 - 1815", "1618–1648", "1999/2000")),
        "uuid": lambda: f"{hexed(8)}-{hexed(4)}-4{hexed(3)}-a{hexed(3)}-{hexed(12)}",
        "serial": lambda: filled(
            chance,
            chance.choice(("SN-2NNNNNNNN", "C02XNNNNJGH5", "NNNNN-NNNNN-NNNNN", "NNNNNNNNNN")),
        ),
        "percent": lambda: filled(chance, "1N.5N%"),
    }
    if slot == "id" and language == "en":
        return national_id(chance, "en", True)
    return makers[slot]()


def cases() -> list[dict[str, object]]:
    """All cases."""
    made: list[dict[str, object]] = []
    lines = [
        line.split("|", 2)
        for line in SENTENCES.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    for number, (language, kind, sentence) in enumerate(lines):
        chance = random.Random(f"{language} {sentence}")
        for turn in range(EACH[kind != "-"]):
            text, spans = "", []
            for part in re.split(r"(\{\w+\})", sentence):
                value = part
                if part.startswith("{"):
                    curp = "CURP" in sentence or "tax identifier" in sentence
                    value = mexican(chance) if curp else value_for(part[1:-1], chance, language)
                    if kind != "-":
                        spans.append([len(text), len(text) + len(value), kind])
                text += value
            made.append(
                {
                    "id": f"{number}-{turn}",
                    "language": language,
                    "held_out": number % 3 == 2,
                    "text": text,
                    "spans": spans,
                }
            )
    return made


if __name__ == "__main__":
    rows = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases())
    CASES.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
