"""Which messages may hold a fact about the user, and which need not be sent to a model."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.worth import (
    NO_WORDS,
    ONLY_ASKING,
    ONLY_PASTED,
    ONLY_POLITE,
    has_first_person,
    reason_to_skip,
)
from tests.rates import over

WORTH = [
    # said straight out
    "I live in Porto.",
    "i'm allergic to nuts",
    "My sister's name is Ana.",
    "We got a puppy last week!",
    "im from Vigo",
    "Ana got the job!",
    "Moved to Porto yesterday. Any tips?",
    "Yes.",
    "No, in Lisbon.",
    "Correct.",
    "Max",
    '"Max"',
    "Sort of, since 2019",
    "More than ten years in Porto.",
    "Allergic to nuts, vegetarian, two kids",
    "Play tennis on Mondays.",
    "Find it hard to sleep lately",
    "Complete beginner here.",
    "Python is a nice language.",
    # along with a question, an order or a pasted text
    "What can I cook? My son eats no eggs.",
    "Can I eat satay sauce?",
    "What should we name our dog?",
    "Write a poem about my dog Biscuit",
    "Translate my CV, please",
    "Was in Porto last week, any ideas for next time?",
    "Ana moved out, what should she do?",
    "Can you help me with a letter to my landlord?",
    "How do I tell my wife that we are moving?",
    "Fix this, it's for my job at Siemens:\n```\nx = 1\n```",
    "Translate this: Hola.\n\nThanks! My Spanish is poor.",
    "https://example.com/me is my page",
    "Give me a recipe, Ana is coming and she is vegetarian.",
    "You know Ana got married, right?",
    # LoCoMo-like chat
    "Wow, that's cool, Caroline! What happened?",
    "Gonna continue my edu and check out career options.",
    "Hey! Good to see you! I'm swamped with the kids & work.",
    "Thanks! Been painting a lot since last year.",
    "That sounds fun. Took the kids to the lake on Sunday.",
    # commands to memory
    "Remember that Ana is vegetarian",
    "Make a note: Ana is vegetarian",
    "Forget everything",
    # other languages, also without a pronoun
    "Ich wohne in Köln.",
    "Suche eine Wohnung in Porto",
    "Kann keine Nüsse essen, was gibt es?",
    "Was schenke ich meiner Mutter?",
    "J'habite à Lyon.",
    "Que faire avec mes enfants à Lyon ?",
    "Vivo en Vigo.",
    "¿Dónde vivo?",
    "Escribo novelas",
    "¿Qué puede comer mi hijo?",
    "Moro no Porto.",
    "O que a minha filha pode comer?",
    "Ho due figli.",
    "Cosa può mangiare mio figlio?",
    "Живу в Москве",
    "Что подарить моей маме?",
    "Куда поехать, если живу в Казани?",
    "我住在里斯本。",
    "我的狗叫什么好？",
    "小明结婚了，你知道吗？",
    "找工作中。",
    "ポルトに住んでいます。",
    "猫を飼っています",
    "ポルトに住んでいますが、いい店はどこですか？",
    "私は何を食べられますか？",
    "저는 서울에 살아요.",
    "서울에 살아요.",
    "Mieszkam w Krakowie.",
    "أنا أعيش في القاهرة",
]

TRACE = """Traceback (most recent call last):
  File "/app/main.py", line 12, in <module>
    run()
ValueError: my value is wrong"""
LOG = """2026-03-05 10:11:12 INFO server started
2026-03-05 10:11:13 ERROR my.module: I failed"""
CODE = """# my helper
def greet(name):
    # I say hello
    return f"my {name}"

print(greet("me"))"""
JSON = '{"name": "Ana", "city": "Porto", "note": "I like tea"}'
MAIL = "From: Bob\nSubject: my holidays\n\nI live in Vienna."


@dataclass(frozen=True)
class Skipped:
    """A message that holds nothing, and why."""

    words: str
    reason: str


SKIPPED = [
    Skipped("", NO_WORDS),
    Skipped("  \n\t", NO_WORDS),
    Skipped("👍", NO_WORDS),
    Skipped("???", NO_WORDS),
    Skipped("42", NO_WORDS),
    Skipped(":-) !!", NO_WORDS),
    Skipped("12:30, 5 + 7 = 12", NO_WORDS),
    Skipped(TRACE, ONLY_PASTED),
    Skipped(f"What is wrong?\n{TRACE}", ONLY_PASTED),
    Skipped(LOG, ONLY_PASTED),
    Skipped(CODE, ONLY_PASTED),
    Skipped(f"Fix this code:\n```python\n{CODE}\n```", ONLY_PASTED),
    Skipped(f"Please explain.\n\n{CODE}", ONLY_PASTED),
    Skipped("```\nI live in Porto\n```", ONLY_PASTED),
    Skipped("~~~\nI live in Porto", ONLY_PASTED),
    Skipped(JSON, ONLY_PASTED),
    Skipped(f"Convert this to YAML\n{JSON}", ONLY_PASTED),
    Skipped('[\n  {"id": 1},\n  {"id": 2}\n]', ONLY_PASTED),
    Skipped("https://example.com/my-page", ONLY_PASTED),
    Skipped("Summarize https://example.com/i-am", ONLY_PASTED),
    Skipped("> I live in Porto\n> and my dog is ill", ONLY_PASTED),
    Skipped(f"Translate into German:\n{MAIL}", ONLY_PASTED),
    Skipped(MAIL, ONLY_PASTED),
    Skipped("Translate this: I live in Porto and my dog is ill", ONLY_PASTED),
    Skipped("Summarize the following text:\n\nI was born in Vienna.\n\nWe moved.", ONLY_PASTED),
    Skipped("Übersetze ins Englische: Ich wohne in Köln", ONLY_PASTED),
    Skipped("Traduis ce texte : J'habite à Lyon", ONLY_PASTED),
    Skipped("Traduce al inglés: Vivo en Vigo", ONLY_PASTED),
    Skipped("Traduza para o inglês: Moro no Porto", ONLY_PASTED),
    Skipped("Traduci in inglese: Abito a Roma", ONLY_PASTED),
    Skipped("Переведи на английский: Я живу в Москве", ONLY_PASTED),
    Skipped("请翻译：我住在里斯本", ONLY_PASTED),
    Skipped("英語に翻訳してください：私は猫を飼っています", ONLY_PASTED),
    Skipped("What does `my_list[i]` do?", ONLY_PASTED),
    Skipped('Translate "I live in Porto" into French', ONLY_ASKING),
    Skipped("What is the capital of France?", ONLY_ASKING),
    Skipped("how do I undo the last commit in git", ONLY_ASKING),
    Skipped("Explain relativity like I'm five.", ONLY_ASKING),
    Skipped("Write a poem about autumn. Make it rhyme.", ONLY_ASKING),
    Skipped("Can you explain photosynthesis?", ONLY_ASKING),
    Skipped("Could you please tell me a joke?", ONLY_ASKING),
    Skipped("I want you to act as a pirate.", ONLY_ASKING),
    Skipped("Give me three ideas", ONLY_ASKING),
    Skipped("Do cats purr?", ONLY_ASKING),
    Skipped("Hi! Who painted the Mona Lisa?", ONLY_ASKING),
    Skipped("What gave you the idea?", ONLY_ASKING),
    Skipped("How have you been? What's up with you?", ONLY_ASKING),
    Skipped("When are you opening the studio?", ONLY_ASKING),
    Skipped("continue", ONLY_ASKING),
    Skipped("shorter please", ONLY_ASKING),
    Skipped("Was ist die Hauptstadt von Kanada?", ONLY_ASKING),
    Skipped("Wie kann ich Git installieren?", ONLY_ASKING),
    Skipped("Erkläre mir die Relativitätstheorie", ONLY_ASKING),
    Skipped("Quelle est la capitale du Canada ?", ONLY_ASKING),
    Skipped("Écris un poème sur la mer", ONLY_ASKING),
    Skipped("¿Cuál es la capital de Canadá?", ONLY_ASKING),
    Skipped("Explícame la fotosíntesis", ONLY_ASKING),
    Skipped("Qual é a capital do Canadá?", ONLY_ASKING),
    Skipped("Escreva um poema sobre o mar", ONLY_ASKING),
    Skipped("Qual è la capitale del Canada?", ONLY_ASKING),
    Skipped("Spiegami la fotosintesi", ONLY_ASKING),
    Skipped("Какая столица у Бразилии?", ONLY_ASKING),
    Skipped("Расскажи мне сказку о драконе", ONLY_ASKING),
    Skipped("法国的首都是哪里？", ONLY_ASKING),
    Skipped("你好，请给我讲一个笑话", ONLY_ASKING),
    Skipped("フランスの首都はどこですか？", ONLY_ASKING),
    Skipped("カメラの使い方を教えてください", ONLY_ASKING),
    Skipped("프랑스의 수도는 어디인가요?", ONLY_ASKING),
    Skipped("Thanks!", ONLY_POLITE),
    Skipped("Thanks, that was very helpful!", ONLY_POLITE),
    Skipped("Hello! How are you?", ONLY_POLITE),
    Skipped("Bye!", ONLY_POLITE),
    Skipped("Vielen Dank!", ONLY_POLITE),
    Skipped("Merci beaucoup", ONLY_POLITE),
    Skipped("Muchas gracias.", ONLY_POLITE),
    Skipped("Grazie mille!", ONLY_POLITE),
    Skipped("Спасибо!", ONLY_POLITE),
    Skipped("谢谢你！", ONLY_POLITE),
    Skipped("ありがとうございます。", ONLY_POLITE),
]


@over("words", WORTH, at_least=0.97)
def test_worth_sending(words: str) -> None:
    """What may hold a fact is sent to the model."""
    assert reason_to_skip(words) is None


@over("case", SKIPPED, at_least=0.95)
def test_not_worth_sending(case: Skipped) -> None:
    """What certainly holds no fact is not sent, and has its reason."""
    assert reason_to_skip(case.words) == case.reason


def test_tables_are_large() -> None:
    """At least sixty messages of each sort are looked at."""
    assert len(WORTH) >= 60
    assert len(SKIPPED) >= 60


@pytest.mark.parametrize(
    "words",
    [
        "What is it? " * 400,
        "Explain this:" + " I am" * 20000,
        "```\n" + "my code\n" * 12000,
        "？" * 9,
    ],
)
def test_long_messages(words: str) -> None:
    """A message of any length gets an answer."""
    assert reason_to_skip(words) in (None, ONLY_PASTED, NO_WORDS)


@given(st.text(max_size=400))
def test_any_words(words: str) -> None:
    """Any message is judged, and one's own statement behind it makes it worth sending."""
    assert reason_to_skip(words) in (None, NO_WORDS, ONLY_PASTED, ONLY_ASKING, ONLY_POLITE)
    assert reason_to_skip(f"I live in Porto.\n{words}") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My dog is ill.", True),
        ("Как меня зовут", True),
        ("How do I sort a list?", False),
        ("Tell me a joke", False),
        ("Сколько будет дважды два", False),
        ("World War I ended", False),
    ],
)
def test_first_person(text: str, expected: bool) -> None:
    """Set phrases such as "how do I" are not about anybody."""
    assert has_first_person(text) is expected
