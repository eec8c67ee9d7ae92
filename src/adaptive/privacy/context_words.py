"""Words near a number that tell what it is, in sixteen languages.

A space at the head of a word means that a word begins there, one at its end that it ends there;
what is written without spaces has none. They are looked for in small letters, with a space for
whatever is neither letter, mark nor digit.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache

from adaptive.privacy.unicode_text import SignTable, respelt

CONTEXT_WORDS: Mapping[str, str] = {
    "phone": " phone| telephone| tel | ph | mob | cel | call | calls | called | calling | mobile"
    "| cell | cellphone"
    "| whatsapp| telegram| signal | sms | text me| text him| text her| dial | fax| landline"
    "| hotline"
    "| ring me| ring her| ring him| reach me| reach her| reach him| reachable| voicemail| contact"
    "| my number| his number| her number| their number"  # English
    "| telefon| handy| anruf| ruf | rufe| rufen| anzurufen| erreichbar| erreichen| erreichst"
    "| erreicht| mobil| durchwahl| festnetz| rückruf| nummer ist| meine nummer| tel nr"  # German
    "| téléphone| portable| appel| joindre| joignable| numéro de tél| mon numéro| son numéro"
    "| teléfono| marca el | márcame| fijo | móvil| celular| llama| llame| llámame| llámanos"
    "| mi número| su número| llamar"
    "| telefone| telemóvel| ligue| ligar| liga me| liga para| meu número| zap "
    "| telefono| cellulare| chiama| chiamare| chiamami| chiamarmi| mio numero| recapito| numero è"
    "| telefoon| mobiel| bel me| bel mij| bel naar| bellen| belt | bereikbaar| te bereiken"
    "| mijn nummer| zijn nummer| haar nummer"
    "| komórk| zadzwo| dzwoni| numer tel| mój numer| kontakt"
    "| телефон| тел | моб | тлф | звони| позвони| мобильн| сотов| набери| мой номер"
    "| номер для связи| ватсап"
    "|电话|手机|联系我|联系方式|致电|拨打|打给|微信|座机|電話|手機"
    "|携帯|けいたい|ケータイ|連絡先|電話|かけて"
    "|전화|휴대폰|핸드폰|연락처|연락"
    "| هاتف|تلفون|تليفون| الهاتف| هاتفي| رقمي| جوال| الجوال| موبايل| اتصل| للاتصال| تواصل"
    "| التواصل| واتساب| بهاتف"
    "| मेरा नंबर| मेरे नंबर|我的号码|我号码|私の番号|제 번호|내 번호| फ़ोन| फोन| मोबाइल| कॉल"
    "| संपर्क| व्हाट्सएप| नंबर पर"
    "| ara | arayın| arayabil| aray| cep | numaram | gsm | iletişim"
    "| telepon| telpon| hubungi| nomor hp| no hp| hp | ponsel",
    "card": " card| visa| mastercard| amex| american express| maestro| discover| unionpay| rupay"
    "| debit| credit| cvv| cvc| karte| kreditkarte| bankkarte| carte| carte bleue| tarjeta| cartão"
    "| carta di credito| carta | bancomat| creditcard| pinpas| kart| karta| karty| kartą"
    "| карт|信用卡|银行卡|卡号|借记卡|カード|카드| بطاقة| البطاقة| بطاقتي| कार्ड| kredi kart"
    "| kartu",
    "iban": " iban| account| bank| konto| compte| virement| cuenta| conta| conto| bonifico"
    "| rekening"
    "| rachun| przelew| счет| счёт|账户|账号|口座| حساب| खाता| hesap| überweis",
    "ip": " ip | ipv4| ip address| server| host | ping| ssh | router| dns| gateway| subnet"
    "| адрес| from | login| logged | connect| blocked | banned | address"
    "| addr | remote| client ip| visitor| proxy | vpn | dhcp| lease| inet | resolver| айпи|地址"
    "|主机|ホスト"
    "| сервер|服务器|サーバ| خادم| सर्वर| sunucu",
    "mac": " mac | cisco| arp | ethernet| hardware| wifi| wlan| wi fi| bluetooth| router"
    "| switch | interface"
    "|地址",
    "cpf": " cpf| cadastro de pessoa| receita federal| documento| contribuinte| titular",
    "cnpj": " cnpj",
    "aadhaar": " aadhaar| aadhar| adhar| uidai| uid | आधार",
    "pan": " pan | pan card| permanent account| income tax| पैन",
    "snils": " снилс| snils| страховой номер| пенсионн",
    "inn": " инн | inn | налогоплательщик| налогов",
    "my_number": " my number|マイナンバー|個人番号| mynumber",
    "chinese_id": "身份证|身分证|身份證|证件号| resident id| id card| identity",
    "steuer_id": " steuer| idnr| tin | tax id| identifikationsnummer| steuernummer",
    "german_card": " personalausweis| ausweis| reisepass| passnummer",
    "tckn": " tc | t c | tckn| kimlik| vatandaşlık",
    "melli": " melli| کد ملی| کدملی| شماره ملی| iranian national",
    "thai_id": " thai id| thai national|บัตรประชาชน|เลขประจำตัว|ประชาชน",
    "nir": " sécurité sociale| sécu | nir | insee| carte vitale| numéro de sécu| social security",
    "nhs": " nhs",
    "nino": " national insurance| nino | ni number",
    "dni": " dni| nie | nif | documento nacional| identidad",
    "codice": " codice fiscale| cod fisc| c f ",
    "pesel": " pesel",
    "bsn": " bsn| burgerservice| sofinummer| sofi ",
    "nif": " nif | contribuinte| número fiscal| finanças",
    "rrn": "주민등록| resident registration| rrn ",
    "sin": " sin | social insurance| numéro d assurance sociale| nas ",
    "nik": " nik | ktp| nomor induk| kependudukan",
    "cnic": " cnic| nadra| شناختی| identity card",
    "nin": " nin | bvn | nimc| national identification| bank verification",
    "ahv": " ahv| avs | oasi | sozialversicherung| navs",
    "curp": " curp",
    "ssn": " ssn| social security| social sec| seguro social| itin| taxpayer| soc sec",
    "passport": " passport| reisepass| passnummer| pass nr| passeport| pasaporte| passaporte"
    "| passaporto| paspoort| paszport| паспорт| загранпаспорт|护照|護照|パスポート|旅券|여권| جواز"
    "| الجواز| पासपोर्ट| pasaport| paspor",
    "coordinates": " coordinates| coords| gps| lat | latitude| lon | lng | longitude| location"
    "| located| koordinaten| standort| coordonnées| coordenadas| coordinate| coördinaten"
    "| współrzędne| координат|坐标|座標|経度|经度| إحداثيات| निर्देशांक| koordinat",
    "wallet": " wallet| bitcoin| btc| eth | ethereum| solana| sol | crypto| usdt| usdc| xmr| monero"
    "| krypto| cripto| portefeuille| billetera| cartera| carteira| portafoglio| portfel| кошел"
    "|钱包|錢包|ウォレット|지갑| محفظ| वॉलेट| cüzdan| dompet| polkadot| phantom",
    "residence": " live | lives | living | lived | address| home | house | moved | moving | reside"
    "| residing| staying| stay at| ship | shipped| shipping| deliver| mail | mailed| mailing| send "
    "| sent | apartment| apt | flat | pick me up| pick us up| come to| come over| visit me"
    "| visit us"
    "| my place| office is| office at| works at| my work| located| meet me| neighbor| neighbour"
    "| billing| parcel| invoice to| house is| drop it| based at| registered at| our new| i m at"
    "| wohn| adresse| anschrift| zuhause| zu hause | daheim | umgezogen| ziehe| lieferung"
    "| liefer| schick| sende| paket"
    "| besuch| gemeldet| hausnummer| sitzt in der| büro"
    "| habite| habitons| domicili| demeurant| je vis | vis au| vis à| vit au| réside| demeure"
    "| domicile| livr| envoy| déménag"
    "| chez moi| logement| appartement| loge "
    "| vivo | vive | vivimos| dirección| domicilio| resido| reside| envía| enviar| enviad| casa"
    "| mudé| mudamos| entrega| piso | entregar| manda"
    "| moro | mora | moramos| endereço| morada| resido| envie| mudei| apartamento| mudou"
    "| abito| abita| abitiamo| indirizzo| residente| risiedo| spedi| consegn| trasferit| vivo in"
    "| woon| adres| thuis| verhuis| stuur| bezorg| lever| pakket"
    "| mieszka| zamieszka| wysł| wyślij| dostaw| przeprowadz| zameldowan| przesyłk| paczk"
    "| живу| живет| живёт| прожива| адрес| доставк| доставить| доставьте| переехал"
    "| прописан| зарегистрирован| отправ| дом "
    "|住在|地址|住址|家住|居住|寄到|寄给|送到|搬到|收货|住所|自宅|住んで|引っ越|送って|届けて"
    "|宛先|届け"
    "|주소|살고|살아|산다|삽니다|거주|이사|배송|집은|보내"
    "| أسكن| أعيش| اسكن| العنوان| عنوان| عنواني| عنوانه| يسكن| تسكن| منزل| بيت| نسكن| إقامت"
    "| التوصيل"
    "| रहता| रहती| रहते| पता | पते | घर | निवास| भेज| डिलीवर"
    "| oturu| yaşıyor| adres| ikamet| evim| taşındı| gönder| kargo| teslim"
    "| tinggal| alamat| rumah| kirim| pindah",
    "birth": " born| dob | d o b | bday| b day| birth| birthday| birthdate"
    "| geboren| geburt| geb |ofbirth | né le| née le| né un| née un| naissance| anniversaire"
    "| nació| nací| fecha de nac| f nac"
    "| nacido| nacida| nacimiento| cumpleaños| cumple | nasc | nasci| nascid| nascimento"
    "| aniversário"
    "| nato il| nata il| nato a | nata a | nato l| nata l| nascita| compleanno| nacque| è nato"
    "| sono nat| geboorte"
    "| verjaar| jarig| urodz| ur | urodzin| родил| рожден| дата рожд| д р | г р | рождён| днюха"
    "|出生|生日|生于|誕生日|生まれ|生年月日|출생|생년월일|생일|태어"
    "| مواليد| الميلاد| ميلاد| ولد | ولدت| وُلد| जन्म| पैदा| doğum| doğdu| doğan| doğdum"
    "| lahir| ulang tahun| kelahiran",
}
# What is counted, ordered, shipped or published has numbers as well.
COUNTER_WORDS = (
    " order| firmware| versi| versã| version| wersj| верси| прошивк|版本|バージョン|버전| sürüm"
    "|الإصدار|إصدار| संस्करण| वर्ज"
    "| invoice| ticket| tracking| isbn| issn| ean | ean13| upc | gtin| sku | serial| version"
    "| ver | model | part no| part number| article no| item | reference| ref | case no| case number"
    "| batch| lot | product| flight| build | imei| rfc | patent| doi | barcode| purchase"
    "| transaction"
    "| confirmation| booking| parcel no| shipment| id of the| commit| port | revision| release"
    "| catalog| vin | score| population| views| votes| downloads| followers| policy no| licence no"
    "| license key| coupon| voucher| gift card| loyalty| error| issue| chapter| section| page"
    "| kundennr| vertragsnr| vertragsnummer| mitgliedsn| matrikel| bestell| rechnung| auftrag"
    "| sendung| seriennummer| artikel| aktenzeichen| vorgang"
    "| kundennummer| buchung| fahrgestell| referenz| produkt| lieferschein| paketnummer"
    "| commande| facture| suivi| numéro de série| référence| colis| dossier| réservation| client n"
    "| pedido| factura| seguimiento| número de serie| referencia| reserva| envío| expediente"
    "| fatura| rastreio| rastreamento| número de série| referência| protocolo| nota fiscal"
    "| ordine| fattura| spedizione| seriale| riferimento| pratica| prenotazione| tracciamento"
    "| bestelling| bestelnummer| factuur| serienummer| referentie| zending| klantnummer"
    "| ordernummer"
    "| zamówien| faktur| seryjn| przesyłki nr| referenc| partii| rezerwacj| katalogow"
    "| заказ| накладн| серийн| артикул| трек| счет фактур| счёт фактур| бронирован| партии| версии"
    "|订单|发票|单号|序列号|型号|编号|快递|批次|運單|注文|請求書|追跡|製造番号|品番|型番|伝票"
    "|予約番号"
    "|주문|송장|일련번호|운송장|예약"
    "| طلب| الطلب| فاتورة| الفاتورة| الشحنة| تسلسلي| التتبع| الحجز"
    "| ऑर्डर| चालान| इनवॉइस| बिल | सीरियल| ट्रैकिंग| बुकिंग"
    "| sipariş| fatura| takip| seri no| seri numarası| rezervasyon| kargo no"
    "| pesanan| faktur| resi | nomor seri| no order"
)
# Between a word of birth and a date, these tell of something else.
NO_BIRTH_WORDS = (
    " party| cake| gift| present | card | dinner| sale | parade| concert| expires| expiry| valid"
    "| issued| feier| kuchen| geschenk| gâteau| cadeau| fiesta| regalo| festa| bolo| feest| taart"
    "| przyjęci| tort | вечеринк| подар|派对|蛋糕|礼物|パーティー|ケーキ|파티| حفل| पार्टी| parti"
    "| pesta| kado"
)

_ID_SUBJECTS = [
    "cpf",
    "cnpj",
    "aadhaar",
    "pan",
    "snils",
    "inn",
    "my_number",
    "chinese_id",
    "steuer_id",
    "german_card",
    "tckn",
    "melli",
    "thai_id",
    "nir",
    "nhs",
    "nino",
    "dni",
    "codice",
    "pesel",
    "bsn",
    "nif",
    "rrn",
    "sin",
    "nik",
    "cnic",
    "nin",
    "ahv",
    "curp",
    "ssn",
    "passport",
]

# Of numbers with dots: what has editions or chapters.
VERSION_WORDS = (
    " update | updated | upgrade| release | kapitel| abschnitt| ziffer| chapitre| capítulo"
    "| capitolo| clause| paragraph| appendix| пункт| глава| раздел| oid | v "
)

SUBJECTS = (*CONTEXT_WORDS, "counter", "no birth", "another number", "version")


@cache
def words_of(subject: str) -> tuple[str, ...]:
    """The words of a subject; those of ``counter`` and so on speak against."""
    table = {
        "counter": COUNTER_WORDS,
        "no birth": NO_BIRTH_WORDS,
        "version": f"{COUNTER_WORDS}|{VERSION_WORDS}",
        "another number": "|".join((COUNTER_WORDS, *map(CONTEXT_WORDS.__getitem__, _ID_SUBJECTS))),
    }
    return tuple(dict.fromkeys((table.get(subject) or CONTEXT_WORDS[subject]).split("|")))


class _PiiSmallLetters(SignTable):
    """A table for ``respelt``: small letters, and a space for what parts words."""

    def __missing__(self, code: int) -> int:
        small = chr(code).lower()
        # The Turkish capital has two characters in small letters.
        kept = small if len(small) == 1 else small[0]
        value = ord(kept) if unicodedata.category(kept)[0] in "LMN" else 32
        self[code] = value
        return value


_PII_SMALL_LETTERS = _PiiSmallLetters()


def words_only(text: str) -> str:
    """A text in small letters with spaces between its words; every character keeps its place."""
    return respelt(text, _PII_SMALL_LETTERS)
