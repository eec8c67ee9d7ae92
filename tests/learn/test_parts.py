"""What somebody typed in a message, told from what they pasted or cited in it."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.parts import (
    masked_citations,
    message_parts,
    quoted_sentences,
    without_inline_code,
    without_quotations,
)
from tests.rates import over


@dataclass(frozen=True)
class Case:
    """A message, and its typed and its pasted part."""

    id: str
    words: str
    typed: str
    pasted: str = ""


CASES = [
    Case("empty", "", ""),
    Case("prose", "I like tea.\nAnd you?", "I like tea.\nAnd you?"),
    Case("fence", "See:\n```py\nx\n```\nOk?", "See:\n\nOk?".replace("\n\n", "\n"), "```py\nx\n```"),
    Case("open fence", "See\n```\nI live here", "See", "```\nI live here"),
    Case("other fence inside", "```\n~~~\na\n```\nb", "b", "```\n~~~\na\n```"),
    Case("citation", "> I live here\nDo you?", "Do you?", "> I live here"),
    Case("a smiley is no citation", ">:( I hate it", ">:( I hate it"),
    Case("address", "https://a.example/x\nIs it good?", "Is it good?", "https://a.example/x"),
    Case("table", "| a | b |\nWhat?", "What?", "| a | b |"),
    Case(
        "code with its comments",
        "# my helper\ndef f(x):\n    return x\nWhat does it do?",
        "What does it do?",
        "# my helper\ndef f(x):\n    return x",
    ),
    Case("heading is no comment", "# About me\nI like tea.", "# About me\nI like tea."),
    Case("prose with a colon", "For breakfast I like:\ntea", "For breakfast I like:\ntea"),
    Case("prose with semicolons", "I like tea;\nI hate milk;", "I like tea;\nI hate milk;"),
    Case("prose with brackets", "I moved (finally)\nto Porto", "I moved (finally)\nto Porto"),
    Case("public transport", "public transport is fine (bus)", "public transport is fine (bus)"),
    Case("diary", "2024-03-05 I moved to Porto", "2024-03-05 I moved to Porto"),
    Case("log", "2024-03-05 10:11:12 started\nWhy?", "Why?", "2024-03-05 10:11:12 started"),
    Case(
        "trace",
        "ValueError: bad\n    at a.b(C.java:1)",
        "",
        "ValueError: bad\n    at a.b(C.java:1)",
    ),
    Case(
        "mail",
        "Is it spam?\nFrom: Bob\nSubject: us\n\nI live here",
        "Is it spam?",
        "From: Bob\nSubject: us\n\nI live here",
    ),
    Case("a journey is no mail", "From: Porto\nTo: Rome\nI fly", "From: Porto\nTo: Rome\nI fly"),
    Case("fence on one line", "```x = 1```\nI like it", "I like it", "```x = 1```"),
    Case("one header is none", "To: my mother\nI like tea", "To: my mother\nI like tea"),
    Case("order and text", "Translate this: I live here", "Translate this:", "I live here"),
    Case(
        "order to a language",
        "Hi! Please translate to German: I sing",
        "Hi! Please translate to German:",
        "I sing",
    ),
    Case(
        "order above the text",
        "Summarize the following text\n\nI sing.",
        "Summarize the following text",
        "I sing.",
    ),
    Case(
        "order above code", "Fix this:\n```\nx\n```\nI sing.", "Fix this:\nI sing.", "```\nx\n```"
    ),
    Case(
        "thanks below",
        "Correct this:\nI sing.\nThanks, I sing well!",
        "Correct this:\nThanks, I sing well!",
        "I sing.",
    ),
    Case("no order", "Correct me if wrong: I live here", "Correct me if wrong: I live here"),
    Case(
        "somebody's work", "I edit this magazine\nI live here", "I edit this magazine\nI live here"
    ),
    Case(
        "handed over",
        "Here's the email I got:\nI live here",
        "Here's the email I got:",
        "I live here",
    ),
    Case(
        "about oneself",
        "Here is a text about me:\nI live here",
        "Here is a text about me:\nI live here",
    ),
    Case("German", "Korrigiere diesen Text: Ich singe", "Korrigiere diesen Text:", "Ich singe"),
    Case("Chinese", "请把下面的话翻译成英语：我唱歌", "请把下面的话翻译成英语：", "我唱歌"),
    Case(
        "order in the second sentence",
        "I need it today. Please translate this: I live here",
        "I need it today. Please translate this:",
        "I live here",
    ),
    Case(
        "German, second sentence",
        "Es eilt! Übersetze ins Englische: Ich singe",
        "Es eilt! Übersetze ins Englische:",
        "Ich singe",
    ),
    Case(
        "Chinese, second sentence",
        "我很急。请翻译成英语：我唱歌",
        "我很急。请翻译成英语：",
        "我唱歌",
    ),
    Case(
        "somebody's work, second sentence",
        "I like Mondays. I translate this kind of text: contracts",
        "I like Mondays. I translate this kind of text: contracts",
    ),
    Case("a translator", "我在做翻译工作\n我住在里斯本", "我在做翻译工作\n我住在里斯本"),
]


@over("case", CASES, at_least=0.95)
def test_message_parts(case: Case) -> None:
    """Typed are one's own words and orders, pasted is what they are about."""
    parts = message_parts(case.words)
    assert (parts.typed, parts.pasted.strip()) == (case.typed, case.pasted)


def test_orders_stand_near_the_beginning() -> None:
    """Far below, an order hands nothing over."""
    words = "a\n" * 60 + "Translate this: I live here"
    assert message_parts(words).pasted == ""


@over(
    "text, rest, quoted",
    [
        ('He wrote "I live in a big house" to Eva', "He wrote   to Eva", "I live in a big house"),
        ('I love "The Lord of the Rings"', 'I love "The Lord of the Rings"', ""),
        ('Call me "Max"', 'Call me "Max"', ""),
        ("„Ich wohne in einem Haus“ stand da", "  stand da", "Ich wohne in einem Haus"),
        ("« j'habite dans une maison »", " ", " j'habite dans une maison "),
        ("他说「我住在里斯本的老城区里」", "他说 ", "我住在里斯本的老城区里"),
        ("It's Eva's and Ana's dog we walk", "It's Eva's and Ana's dog we walk", ""),
        ("She said 'I don't live here any more'", "She said  ", "I don't live here any more"),
        ('My TV has 55" and hers 32" or so', 'My TV has 55" and hers 32" or so', ""),
    ],
    at_least=0.85,
)
def test_quoted_sentences(text: str, rest: str, quoted: str) -> None:
    """Sentences in quotation marks are somebody's; titles, names and inches are not."""
    assert quoted_sentences(text) == (rest, quoted)


def test_citations_are_masked_or_dropped() -> None:
    """A mask keeps every place in the text, dropping leaves a space."""
    text = 'Say "hello" and `x` see https://a.example/b'
    masked = masked_citations(text)
    assert len(masked) == len(text)
    assert masked.startswith('Say "\0\0\0\0\0" and `\0` see h')
    assert without_quotations(text) == "Say   and `x` see https://a.example/b"
    assert without_inline_code(text) == 'Say "hello" and   see  '


@given(st.text(max_size=400))
def test_nothing_is_made_up(words: str) -> None:
    """Every line of the parts stands in the message, and masks keep the length."""
    parts = message_parts(words)
    for line in (*parts.typed.splitlines(), *parts.pasted.splitlines()):
        assert line.strip() in words
    assert len(masked_citations(words)) == len(words)


UNITS = ["a", " ", "a\n", '"', '"a ', "' a", "“", "“a ", "{[(", "(\n", "`a", ">", "<a", "From: a\n"]
UNITS += ["translate ", "a = b\n", "=", "```\n", "\u2028a", "a:\n", "http://", "何", "请，"]


@over("unit", UNITS)
def test_very_long_messages(unit: str) -> None:
    """A hundred thousand characters of anything are told apart."""
    words = unit * (100_000 // len(unit))
    parts = message_parts(words)
    assert len(parts.typed) + len(parts.pasted) <= len(words) + 1
    quoted_sentences(words)
