"""Knowing when nothing fits, for any embedding model and any store.

What a cosine of 0.4 means differs from model to model, and the best of 5,000 memories comes nearer
to anything than the best of five. So the gate asks: how near do prompts come that are known to have
nothing to do with anybody? The null prompts below are embedded once per model; the nearest memory
of each gives a mean and a spread for this store (a null distribution, as score normalisation in
speaker verification takes it from a cohort of impostors: Auckenthaler et al., "Score Normalization
for Text-Independent Speaker Verification Systems", 2000). A query's cosine counts in such spreads
above that mean, which no shift or stretch of the model's scale can change.

A model that has not learned a script finds all texts in it alike, so a query is held against null
prompts in its own script.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from adaptive.core.messages import head_and_tail
from adaptive.core.ports import Vectors

Script = Literal["latin", "cyrillic", "arabic", "han", "kana", "korean", "other"]

_NULL_TEXTS: Mapping[Script, str] = {
    "latin": """
        Write a Python function that sorts a list of numbers | Fix the bug in this JavaScript code:
        for (let i = 0; i <= items.length; i++) | How do I undo the last commit in git? | Explain
        the difference between TCP and UDP | Write a SQL query that joins two tables and counts the
        rows | What does a segmentation fault mean in C? | Create a responsive web page with HTML
        and CSS | Design a REST API for an online shop | What is the time complexity of quicksort? |
        Solve the equation 3x + 7 = 22 | What is the derivative of sin(x) * x^2? | A train covers
        240 km in 3 hours. What is its average speed? | How many ways are there to choose 3 cards
        out of 52? | Prove that the sum of two even numbers is even | Convert 68 degrees Fahrenheit
        to Celsius | If a coat costs 40 dollars after a discount of 20 percent, what did it cost
        before? | Write a short story about a dragon and a lighthouse keeper | Write a poem about
        autumn in four lines | Draft a formal letter of complaint to a company | Write a product
        description for wireless headphones | Suggest ten titles for an article on climate change |
        Rewrite this paragraph so that it sounds more professional | Correct the spelling and
        grammar of the following text | Summarise the following article in three sentences | Write a
        speech for a graduation ceremony | Make an outline for an essay about the French Revolution
        | Continue this story: The door opened and nobody was there. | Write a dialogue between a
        detective and a suspect | Translate the following sentence into Spanish: Where is the train
        station? | What does the Latin phrase carpe diem mean? | What is another word for cheerful?
        | What is the capital of Australia? | Who painted the Mona Lisa? | When did the Second World
        War end? | What is the tallest mountain in the world? | List the countries of South America
        | What caused the fall of the Roman Empire? | How does photosynthesis work? | Why is the sky
        blue? | Explain relativity in simple words | What is the difference between a virus and a
        bacterium? | How do vaccines work? | What is the chemical formula of table salt? | How does
        a nuclear reactor produce electricity? | What is inflation and how do central banks fight
        it? | What is the difference between a stock and a bond? | How does a bill become a law? |
        What is a neural network? | Act as a pirate and tell about the sea | You are a job
        interviewer. Ask the first question. | Pretend to be a medieval knight and describe a battle
        | Act as a terminal and answer with the output only | Imagine a conversation between Newton
        and Darwin | Hello, how are you? | Tell me a joke | Thanks, that was helpful | What can you
        do? | Extract all names and dates from the text below and return them as JSON | Classify the
        following review as positive or negative | Sort these words in alphabetical order: pear,
        apple, fig | Turn this list into a table with two columns | Count how often the letter e
        occurs in this sentence | Give the main points of the text as bullets | How long does it
        take to boil an egg? | What removes a red wine stain from a carpet? | Compare electric cars
        and petrol cars | Schreibe eine Funktion, die prüft, ob eine Zahl prim ist | Was ist die
        Hauptstadt von Kanada? | Übersetze den folgenden Satz ins Englische | Wie entsteht ein
        Regenbogen? | Explique la différence entre le climat et la météo | Écris un poème sur la mer
        | ¿Cuál es la raíz cuadrada de 144? | Escribe un resumen del siguiente texto | Qual è la
        differenza tra un vulcano e una montagna? | Escreva uma história curta sobre um robô
    """,
    "cyrillic": """
        Напиши функцию для сортировки списка | Почему трава зелёная? | Какая столица у Бразилии? |
        Переведи это предложение на английский | Сколько будет 15 умножить на 12? | Сочини короткую
        сказку о драконе | Кто написал «Войну и мир»? | Исправь ошибки в этом тексте | Объясни, как
        работает двигатель | Привет, как дела?
    """,
    "han": """
        请把下面的句子翻译成英文 | 用代码写一个计算器程序 | 巴西的首都是哪里？ |
        写一个关于龙的短篇故事 | 解释一下相对论 | 十二乘以十五等于多少？ | 总结下面的文章 |
        为什么天空是蓝色的？ | 这段代码有什么错误？ | 你好，你能做什么？
    """,
    "kana": """
        カナダの首都はどこですか | 次の文章を英語に翻訳してください |
        リストを並べ替える関数を書いてください | 空はなぜ青いのですか | 竜についての短い物語を書いて
        | 十二かける十五はいくつですか | 次の文章を要約してください | こんにちは、お元気ですか
    """,
    "korean": """
        다음 글을 요약해 주세요 | 브라질의 수도는 어디인가요? | 목록을 정렬하는 함수를 작성해 줘 |
        하늘은 왜 파란가요? | 이 문장을 영어로 번역해 줘 | 용에 대한 짧은 이야기를 써 줘 | 12 곱하기
        15는 얼마예요? | 안녕하세요, 무엇을 할 수 있나요?
    """,
    "arabic": """
        اكتب قصيدة عن البحر | ما هي عاصمة البرازيل؟ | ترجم الجملة التالية إلى الإنجليزية | لماذا
        السماء زرقاء؟ | اكتب دالة لترتيب قائمة من الأرقام | كم يساوي اثنا عشر ضرب خمسة عشر؟ | لخص
        النص التالي | اشرح كيف تعمل الطائرة | من كتب ألف ليلة وليلة؟ | مرحبا، كيف حالك؟
    """,
}
_NULLS_BY_SCRIPT: Mapping[Script, list[str]] = {
    script: " ".join(texts.split()).split(" | ") for script, texts in _NULL_TEXTS.items()
}
NULL_PROMPTS: tuple[str, ...] = tuple(
    prompt for prompts in _NULLS_BY_SCRIPT.values() for prompt in prompts
)
_SCRIPT_LETTERS: tuple[tuple[Script, re.Pattern[str]], ...] = (
    ("latin", re.compile("[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]")),
    ("cyrillic", re.compile("[\u0400-\u052f]")),
    ("arabic", re.compile("[\u0600-\u06ff]")),
    # A Han character says about what two letters do; Japanese is told by its kana.
    ("kana", re.compile("[\u3041-\u30ff]")),
    ("han", re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("korean", re.compile("[\uac00-\ud7a3]")),
)
_LONGEST_SAMPLE = 2000
# Few null prompts of a script say little of their spread; that of all counts as this many more.
_BORROWED_PROMPTS = 10
# A store about what a null prompt asks (a programmer's) must not widen the spread.
_CUT_FROM = 0.9
# Far below the spread of any real model; keeps a store of one odd vector from dividing by zero.
_LEAST_SPREAD = 1e-4

# "I" and "my" in the languages of the stop words. Left out are "me", of which "tell me" is most,
# also in other languages, what means something else in one of them ("im", "eu", "soy"), and the
# "i" of loops.
_SELF = re.compile(
    r"(?<![\w=<(\[./])(?<!War )I(?![\w\]]|\s*[=<+*/.)])"
    r"|(?:^|\b(?:am|do|did|can|could|should|would|will|was|have|had) )i\b"
    r"|\b(?:if|when|what|where|how|that|and|but) i\b"
    r"|(?i:\b(?:my|mine|myself|(?:for|near|around|about|of|with) me"
    r"|ich|mein(?:e[mnrs]?)?|mich|je|mon|ma|mi|mis|mío|mía|yo|conmigo|tengo"
    r"|meu|meus|minha|minhas|comigo|mio|mia|miei|mie"
    r"|я|меня|мной|мой|моя|моё|мое|мои|моего|моей|моему|моих|моим|мою|أنا|عندي|لدي)\b)"
    r"|(?<![给給告诉訴帮幫为為让讓])我|咱|私|僕|俺|나의|나는|내가|저는|제가"
)
# Anybody's "how do I", and telling the assistant what to do.
_IMPERSONAL = re.compile(
    r"\bhow (?:do|can|could|should|would|might) i\b"
    r"|\bi(?:['’]d| would)? (?:want|need|like) you\b"
    r"|\bi(?:['’]ll| will) (?:give|provide|type|ask|send|tell)\b|\bwie (?:kann|soll|muss) ich\b",
    re.IGNORECASE,
)
_LONGEST_PERSONAL = 240


@dataclass(frozen=True, slots=True)
class NullLevel:
    """How near the nearest memory comes to a prompt that has nothing to do with the user."""

    mean: float
    spread: float

    def standing(self, cosine: Vectors) -> Vectors:
        """Cosines in spreads above what an unrelated prompt reaches."""
        return ((cosine - self.mean) / self.spread).astype(np.float32)


def null_levels(nearest: Vectors) -> dict[Script, NullLevel]:
    """The null distribution of a store for each script.

    ``nearest`` are the cosines of ``NULL_PROMPTS``, in their order, with the nearest memory.
    """
    general = _level(nearest[: len(_NULLS_BY_SCRIPT["latin"])])
    levels: dict[Script, NullLevel] = {"latin": general}
    start = 0
    for script, prompts in _NULLS_BY_SCRIPT.items():
        own = nearest[start : start + len(prompts)]
        start += len(prompts)
        if script != "latin":
            level, size = _level(own), len(prompts)
            squares = size * level.spread**2 + _BORROWED_PROMPTS * general.spread**2
            spread = (squares / (size + _BORROWED_PROMPTS)) ** 0.5
            levels[script] = NullLevel(level.mean, spread)
    levels["other"] = _level(nearest[len(_NULLS_BY_SCRIPT["latin"]) :])
    return levels


def _level(nearest: Vectors) -> NullLevel:
    """Mean and spread with the highest values cut down to a quantile (winsorised)."""
    cut = np.minimum(nearest, np.quantile(nearest, _CUT_FROM))
    return NullLevel(float(cut.mean()), max(float(cut.std()), _LEAST_SPREAD))


def script_of(text: str) -> Script:
    """The script that most of a text is written in."""
    sample = head_and_tail(text, _LONGEST_SAMPLE)
    counts = Counter[Script](
        {script: len(letters.findall(sample)) for script, letters in _SCRIPT_LETTERS}
    )
    counts["han"] *= 2
    if counts["kana"]:
        counts["kana"] += counts.pop("han")
    elif not counts.total() and not any(one.isalpha() for one in sample):
        return "latin"  # nothing but digits and signs: they are everybody's
    script, count = counts.most_common(1)[0]
    others = sum(one.isalpha() for one in sample)
    return script if count * 2 >= others else "other"


def speaks_of_self(text: str) -> bool:
    """Whether a short message is about the person who writes it.

    Such a message is far more likely to need a memory than another of the same cosine: "Can I eat
    satay sauce?" has no word in common with an allergy to peanuts. Long messages are left out: they
    carry other people's words.
    """
    if len(text) > _LONGEST_PERSONAL:
        return False
    return _SELF.search(_IMPERSONAL.sub("", text)) is not None
