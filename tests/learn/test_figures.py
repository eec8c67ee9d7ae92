"""Figures are compared by value, however they are written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.derivation import Said
from adaptive.learn.figures import Figures
from tests.rates import over

TODAY = date(2026, 6, 8)  # a Monday
ONES = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight"),
    *("nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen"),
    *("sixteen", "seventeen", "eighteen", "nineteen"),
]
TENS = [
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
]


def spelled(number: int) -> str:
    """A whole number in English words."""
    if number < len(ONES):
        return ONES[number]
    if number < 100:
        tens = TENS[number // 10 - 2]
        return f"{tens}-{ONES[number % 10]}" if number % 10 else tens
    for value, name in ((1000, "thousand"), (100, "hundred")):
        if number >= value:
            rest = f" {spelled(number % value)}" if number % value else ""
            return f"{spelled(number // value)} {name}{rest}"
    return ""


def unsaid(sentence: str, said: str) -> str:
    """The first figure of a sentence that does not follow from what was said today."""
    return Said(Figures(said), TODAY).unsaid(Figures(sentence))


@dataclass(frozen=True)
class Case:
    """What was said, a sentence, and the first figure of it that does not follow."""

    said: str
    sentence: str
    lacking: str = ""


CASES = [
    Case("٤٥٠ درهم", "450"),
    Case("۱۴۵۰", "1,450"),
    Case("४५ किलो", "45"),
    Case("৪৫", "45"),
    Case("๔๕", "45"),
    Case("４５", "45"),
    Case("1,450", "1450"),
    Case("1.450", "1 450"),
    Case("1 450", "1'450"),
    Case("1,45,000", "145000"),
    Case("1.234,5", "1,234.5"),
    Case("85k", "85,000"),
    Case("85 thousand", "85,000"),
    Case("1.5 million", "1,500,000"),
    Case("3 lakh", "300,000"),
    Case("8万", "80000"),
    Case("350 euros", "350,000 euros", "350,000"),
    Case("7 pm", "19:00"),
    Case("7pm", "19 Uhr"),
    Case("6:30 pm", "18:30"),
    Case("from 6 to 7 pm", "6 to 7"),
    Case("at 7", "7 p.m."),
    Case("7 pm", "7 am", "7"),
    Case("5 a.m.", "17:00", "17"),
    Case("5 a.m.", "5 pm", "5"),
    Case("seventeen hens and two cats", "17 hens, 2 cats"),
    Case("Sixty-eight", "68"),
    Case("sixty eight", "86", "86"),
    Case("one of them, often", "1 and 10", "10"),
    Case("spätzehn, späten", "6 and 10", "6"),
    Case("cumplo cuarenta y tres", "43 años"),
    Case("half a gram", "0.5 g"),
    Case("85 mil reais, R$ 3 milhões", "85.000 und 3,000,000"),
    Case("二十一歳", "21"),
    Case("三万二千", "32,000"),
    Case("二〇二四年", "2024"),
    Case("二匹", "3", "3"),
    Case("我九零年出生", "1990年"),
    Case("一百零五", "105"),
    Case("一直", "2", "2"),
    Case("19:30", "19.30"),
    Case("1½ cups", "1.5"),
    Case("½ g", "0.5 g"),
    Case("14.6.2026", "14 June 2026"),
    Case("350 a month", "450 a month", "450"),
    Case("4.250", "42.500", "42.500"),
    Case("no figure", "12 cats", "12"),
    # Numbers in words, of the sentence, too.
    Case("two cats", "User has three cats", "three"),
    Case("seventy quid", "17 pounds", "17"),
    Case("quatre-vingt-douze kilos", "92 kg"),
    Case("trente et un élèves", "31 élèves"),
    Case("quinhentos e cinquenta euros", "550 €"),
    Case(
        "llevo tres años en berlín",
        "El usuario vive en Berlín desde hace trece años",
        "trece",
    ),
    Case("gano mil ochocientos", "1.800"),
    Case("gano mil ochocientos", "2.800", "2.800"),
    Case("cumplo los treintaitrés", "33"),
    Case("seit fünfundzwanzig Jahren", "25 Jahre"),
    Case("zweihundertfünfzig Euro", "250 Euro"),
    Case("meine dreijährige Tochter", "3 Jahre"),
    Case("ik ben vierenvijftig", "54"),
    Case("jag är tjugofem", "25"),
    Case("ventitré anni", "23 anni"),
    Case("una ventina d'anni", "20 years"),
    Case("hetvenegy éves", "71"),
    Case("dwadzieścia trzy lata", "23 lata"),
    Case("двадцать три года", "23"),
    Case("живу на пятом этаже", "на девятом этаже", "девятом"),
    Case("on beş yıldır evliyiz", "15 yıldır"),
    Case("hai mươi lăm tuổi", "25"),
    Case("dua puluh lima tahun", "25 tahun"),
    Case("من ۲۷ سالمه", "بیست و هفت ساله"),
    Case("خمسة وعشرون", "25"),
    Case("عندي ثلاث بنات", "٥ بنات", "٥"),
    Case("पंद्रह साल", "15 years"),
    Case("shaadi ko pandrah saal ho gaye", "15 years"),
    Case("스물아홉 살", "29세"),
    Case("อายุยี่สิบห้าปี", "25"),
    Case("我月薪两万三", "23,000"),
    Case("一个半小时", "两个半小时", "两"),
    Case("put on a hat and be on time", "6 and 10", "6"),
    Case("i'm LX on the 2nd of May", "60 on 2 May"),
    Case("municipio XIII", "13° municipio"),
    Case("the oldest of three", "User has two brothers"),
    # Halves, units and hours.
    Case("half a kilo of oats", "500 g"),
    Case("1.80 m", "180 cm"),
    Case("5 km", "50 km", "50"),
    Case("5 km", "5000 km", "5000"),
    Case("полтора года назад", "18 months ago"),
    Case("a year and a half", "18 months"),
    Case("for 24 months", "2 years"),
    Case("on a two-week holiday", "14 days"),
    Case("las siete menos cuarto", "6:45"),
    Case("halb sieben", "6:30"),
    Case("às dez da noite", "22h00"),
    Case("午後七時", "19時"),
    Case("at six", "at 19:00", "19"),
    # Years and ages.
    Case("a 1990 baby", "36 years old"),
    Case("a 1990 baby", "46 years old", "46"),
    Case("I'm 36", "born in 1990"),
    Case("I'm 36", "born in 1980", "1980"),
    Case("我是92年的", "1992年"),
    Case("昭和63年生まれ", "1988年"),
    Case("since last year", "since 2025"),
    Case("I've run ages", "since 2015", "2015"),
    # Days.
    Case("I start Friday week", "on 19 June"),
    Case("I start Friday week", "on 18 June", "18"),
    Case("in three weeks", "on 29 June 2026"),
    Case("tomorrow", "on 9 June"),
    Case("heute ist der 14.10., übermorgen", "am 16. Oktober"),
    Case("It's the 30th of december. day after tomorrow", "on 1 January"),
    Case("le mardi 3 mars, mardi prochain", "le 10 mars"),
    Case("on June 14th", "on 4 June", "4"),
    Case("on June 14th", "on 14 August", "august"),
    Case("expecting in Oct", "User's baby is due in October"),
    Case("on Mondays", "every Tuesday", "tuesday"),
    Case("born on 29/02/1992", "born on 29 February 1992"),
    Case("0.1 + 0.2 is 0.30000000000000004", "1 March", "march"),
    Case("12345678901234567890 in March", "in November", "november"),
    Case("born on 20/11/1990", "born on 20 November 1990"),
    Case("born on 11/20/1990", "born on 20 November 1990"),
    Case("since 1990-11-20", "since 20 November 1990"),
    Case("20 of 11 hens", "20 in November", "november"),
    Case("星期三下午", "on Wednesday"),
]


@over("case", CASES)
def test_figures(case: Case) -> None:
    """A number is found again in another script or way of writing, and no other number is."""
    assert unsaid(case.sentence, case.said) == case.lacking


def test_capitals_are_no_number() -> None:
    """A word in capitals that begins as a Roman numeral does holds no number."""
    assert Figures("LIVE in ILLINOIS, VILLA, XXL").numbers == []


def test_long_texts() -> None:
    """A number at the end of a long message is found, however much was said before it."""
    said = Said(Figures("a " * 6000 + "83 kg", "b " * 5000), TODAY)
    assert said.unsaid(Figures("83 kg")) == ""


@given(st.integers(0, 10**9), st.sampled_from("٠۰०০๐０"))
def test_any_script(number: int, zero: str) -> None:
    """Each number is the same in each script."""
    written = "".join(chr(ord(zero) + int(digit)) for digit in str(number))
    assert unsaid(f"{number:,}", written) == ""
    assert unsaid(written, f"{number:,}") == ""


@given(st.integers(2, 999_999))
def test_spelled(number: int) -> None:
    """A number is the same in words, and its words are no other number."""
    assert unsaid(f"{number} hens", f"{spelled(number)} hens") == ""
    assert unsaid(f"{spelled(number)} hens", f"{number} hens") == ""
    read = Figures(spelled(number)).numbers
    assert [figure.values for figure in read] == [{number}]


@given(st.text())
def test_any_text(text: str) -> None:
    """Any text can be read, and holds its own figures."""
    assert unsaid(text, text) == ""
