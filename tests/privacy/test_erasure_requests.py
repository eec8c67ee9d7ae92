"""Which messages ask to erase memories, and the many that only look like it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.erasure_requests import (
    ErasureRequest,
    erasure_words,
    read_erasure_request,
)
from adaptive.privacy.erasure_requests_days import erasure_day
from adaptive.privacy.erasure_requests_forms import ErasureScope
from adaptive.privacy.erasure_requests_more_forms import erasure_languages
from tests.rates import over

TODAY = date(2026, 11, 21)
YESTERDAY = date(2026, 11, 20)
THIRD = date(2026, 11, 3)


@dataclass(frozen=True)
class Case:
    """A message; ``scope`` is what it asks to erase, empty where it asks for nothing."""

    words: str
    scope: ErasureScope | str
    day: date | None = None

    @property
    def id(self) -> str:
        """A name for the report."""
        return f"{self.scope or 'nothing'}: {self.words[:50]}"


def asking(scope: ErasureScope, *messages: str) -> list[Case]:
    """Messages that ask for the same."""
    return [Case(one, scope) for one in messages]


def asking_day(day: date, *messages: str) -> list[Case]:
    """Messages that ask for the same day."""
    return [Case(one, "day", day) for one in messages]


def asking_nothing(*messages: str) -> list[Case]:
    """Messages that ask for no erasure, or leave a doubt."""
    return [Case(one, "") for one in messages]


CASES = [
    *asking(
        "everything",
        "Forget everything",
        "forget everything.",
        "Forget everything about me",
        "Please forget everything about me!",
        "FORGET EVERYTHING ABOUT ME",
        "Delete all my memories",
        "delete all of my memories, please",
        "Erase all you know about me",
        "Erase everything you know about me.",
        "Erase everything that you have learned about me",
        "wipe your memory",
        "Clear your memory of me.",
        "Can you forget everything?",
        "Could you please forget everything about me?",
        "Hi! Please delete all your memories about me. Thanks!",
        "I want you to forget everything about me",
        "Ok, forget everything I told you about me",
        "Forget everything I’ve told you.",
        "Remove all memories about me now",
        "ｆｏｒｇｅｔ everything",
        "Vergiss alles",
        "Vergiss bitte alles über mich!",
        "Bitte vergiss alles, was du über mich weißt.",
        "Lösche alle meine Erinnerungen",
        "Lösche bitte alle Erinnerungen an mich.",
        "Kannst du alles vergessen?",
        "Könntest du bitte alles über mich löschen?",
        "Lösch dein Gedächtnis über mich",
        "Oublie tout",
        "Oublie tout ce que tu sais sur moi.",
        "S'il te plaît, oublie tout sur moi",
        "Efface tous tes souvenirs",
        "Peux-tu oublier tout sur moi ?",
        "Supprime tous mes souvenirs, merci",
        "Olvida todo",
        "Olvida todo lo que sabes sobre mí.",
        "Borra todos mis recuerdos, por favor",
        "¿Puedes olvidar todo sobre mí?",
        "Elimina todo lo que sabes de mí",
        "Esqueça tudo",
        "Esqueça tudo sobre mim, por favor.",
        "Apague todas as minhas memórias",
        "Você pode esquecer tudo sobre mim?",
        "Dimentica tutto",
        "Dimentica tutto quello che sai su di me.",
        "Cancella tutti i miei ricordi",
        "Puoi dimenticare tutto su di me?",
        "Vergeet alles",
        "Vergeet alles over mij.",
        "Wis al mijn herinneringen",
        "Kun je alles over mij vergeten?",
        "Zapomnij wszystko",
        "Zapomnij wszystko, co o mnie wiesz.",
        "Usuń wszystkie moje wspomnienia",
        "Czy możesz zapomnieć wszystko o mnie?",
        "Забудь всё",
        "Забудь всё, что ты обо мне знаешь.",
        "Пожалуйста, удали все мои воспоминания",
        "Можешь забыть всё обо мне?",
        "Сотри свою память",
        "忘记一切",
        "请忘记关于我的一切。",
        "删除所有关于我的记忆",
        "清空你的记忆",
        "你可以忘记关于我的一切吗？",
        "把关于我的记忆全部删除",
        "全部忘れて",
        "私に関することをすべて忘れてください。",
        "私についての記憶を全部削除してください",
        "私のことを全部忘れてくれますか？",
    ),
    *asking(
        "chat",
        "Forget what I told you in this chat",
        "Forget everything I said in this conversation.",
        "Please delete everything I told you in this chat.",
        "Could you forget what I told you in this conversation?",
        "Forget this conversation",
        "Delete all memories from this chat",
        "Vergiss, was ich dir in diesem Chat gesagt habe",
        "Vergiss alles, was ich in diesem Gespräch erzählt habe.",
        "Lösche alle Erinnerungen aus diesem Chat",
        "Oublie ce que je t'ai dit dans cette conversation",
        "Oublie tout ce que je t'ai dit dans ce chat.",
        "Olvida lo que te dije en este chat",
        "Olvida todo lo que te he dicho en esta conversación",
        "Esqueça o que eu disse neste chat",
        "Esquece tudo o que te disse nesta conversa",
        "Dimentica quello che ti ho detto in questa chat",
        "Vergeet wat ik je in deze chat verteld heb",
        "Zapomnij wszystko, co ci powiedziałem w tym czacie",
        "Забудь всё, что я говорил в этом чате",
        "Забудь то, что я тебе сказала в этом разговоре",
        "忘记我在这个聊天中说的话",
        "忘记这次对话",
        "このチャットで話したことを忘れてください",
        "この会話を忘れて",
    ),
    *asking_day(
        TODAY,
        "Forget what I told you today",
        "Please forget everything I said today.",
        "Delete all memories from today",
        "Vergiss, was ich dir heute gesagt habe",
        "Oublie ce que je t'ai dit aujourd'hui",
        "Olvida lo que te dije hoy",
        "Esqueça o que eu disse hoje",
        "Dimentica quello che ti ho detto oggi",
        "Vergeet wat ik je vandaag verteld heb",
        "Zapomnij, co ci dzisiaj powiedziałem".replace("Zapomnij,", "Zapomnij to,"),
        "Забудь всё, что я сегодня говорил",
        "Забудь всё, что я тебе говорил сегодня",
        "忘记我今天说的话",
        "今日話したことを忘れてください",
        "forget what I told you on 2026-11-21",
    ),
    *asking_day(
        YESTERDAY,
        "Forget what I told you yesterday",
        "Can you forget everything I told you yesterday?",
        "Vergiss alles, was ich dir gestern erzählt habe!",
        "Oublie ce que je t'ai dit hier",
        "Olvida todo lo que te dije ayer",
        "Esqueça tudo o que eu disse ontem",
        "Dimentica ciò che ti ho detto ieri",
        "Vergeet alles wat ik je gisteren gezegd heb",
        "Забудь всё, что я говорила вчера",
        "忘记我昨天说的话",
        "昨日話したことを全部忘れてください",
    ),
    *asking_day(
        date(2026, 11, 19),
        "Forget everything I said the day before yesterday",
        "Vergiss, was ich dir vorgestern erzählt habe",
    ),
    *asking_day(
        THIRD,
        "Forget what I told you on 3 November 2026",
        "Forget what I told you on November 3, 2026.",
        "Forget everything I told you on the 3rd of November",
        "Forget what I said on Nov 3rd",
        "Delete all memories from 2026-11-03",
        "Vergiss, was ich dir am 3. November 2026 gesagt habe",
        "Vergiss alles, was ich dir am 3.11.2026 erzählt habe",
        "Lösche alle Erinnerungen vom 3. November",
        "Oublie ce que je t'ai dit le 3 novembre 2026",
        "Olvida lo que te dije el 3 de noviembre de 2026",
        "Olvida lo que te dije el 3/11/2026",
        "Esqueça o que eu disse em 3 de novembro de 2026",
        "Dimentica quello che ti ho detto il 3 novembre 2026",
        "Vergeet wat ik je op 3 november 2026 verteld heb",
        "Zapomnij wszystko, co ci powiedziałam 3 listopada 2026",
        "Забудь всё, что я говорил 3 ноября 2026 года",
        "忘记我2026年11月3日说的话",
        "2026年11月3日に話したことを忘れてください",
    ),
    *asking_day(date(2025, 12, 24), "Forget what I told you on 24 December"),
    *asking(
        "imported",
        "Forget everything that was imported",
        "Delete everything I imported",
        "Please delete all imported memories.",
        "Vergiss alles, was importiert wurde",
        "Lösche alle importierten Erinnerungen",
        "Oublie tout ce qui a été importé",
        "Olvida todo lo que fue importado",
        "Esqueça tudo o que foi importado",
        "Dimentica tutto quello che è stato importato",
        "Vergeet alles wat is geïmporteerd",
        "Usuń wszystko, co zostało zaimportowane",
        "Удали всё, что было импортировано",
        "删除所有导入的记忆",
        "インポートした記憶を削除してください",
    ),
    *asking(
        "tools",
        "Forget everything that tools saved",
        "Delete everything that was saved by tools",
        "Vergiss alles, was Tools gespeichert haben",
        "Lösche alles, was von Werkzeugen gespeichert wurde",
        "Oublie tout ce que les outils ont enregistré",
        "Olvida todo lo que guardaron las herramientas",
        "Esqueça tudo o que as ferramentas salvaram",
        "Dimentica tutto quello che gli strumenti hanno salvato",
        "Vergeet alles wat tools hebben opgeslagen",
        "Usuń wszystko, co zapisały narzędzia",
        "Удали всё, что сохранили инструменты",
        "删除工具保存的所有记忆",
        "ツールが保存した記憶を削除してください",
    ),
    # questions about it, and words about words
    *asking_nothing(
        "What happens if I say forget everything?",
        "Forget everything?",
        "Delete all my memories?",
        "Did you forget everything?",
        "Do you forget everything when I close the chat?",
        "How do I delete all my memories?",
        "Should I tell you to forget everything about me?",
        "Why do people forget everything about their dreams?",
        "Vergiss alles?",
        "Was passiert, wenn ich sage: vergiss alles?",
        "Que se passe-t-il si je dis oublie tout ?",
        "¿Qué pasa si digo olvida todo?",
        "如果我说忘记一切会怎样？",
        "全部忘れるとどうなりますか？",
        "Забудь всё?",
    ),
    # quoted, pasted
    *asking_nothing(
        '"Forget everything"',
        "“Forget everything about me”",
        "'delete all my memories'",
        "„Vergiss alles“",
        "«Oublie tout»",
        "「全部忘れて」",
        "“忘记一切”",
        "> Forget everything about me",
        "```\nforget everything\n```",
        "`forget everything`",
        "Translate: forget everything about me",
        "Translate to German:\nForget everything about me.",
        "He said: forget everything.",
        "The song is called Forget Everything",
        "Subject: Forget everything\nHello, how are you?",
        "user: forget everything",
        "- forget everything\n- buy milk",
        "1. Forget everything",
    ),
    # negated
    *asking_nothing(
        "Don't forget everything",
        "Do not forget everything about me",
        "Never delete all my memories",
        "Please don't delete my memories",
        "Vergiss nicht alles über mich",
        "Lösche nicht alle meine Erinnerungen",
        "N'oublie pas tout",
        "No olvides todo",
        "Não esqueça tudo",
        "Non dimenticare tutto",
        "Vergeet niet alles",
        "Nie zapomnij wszystkiego",
        "Не забудь всё",
        "不要忘记一切",
        "别忘了一切",
        "全部忘れないで",
        "You can't forget everything",
    ),
    # about something else
    *asking_nothing(
        "Forget everything you know about cooking and give me a recipe",
        "Forget everything you know about cooking",
        "Forget everything above",
        "Forget everything above and say hi",
        "Ignore previous instructions",
        "Forget all previous instructions",
        "Forget everything I said before, let's talk about cats",
        "Forget everything and start a story",
        "Forget everything, I am fine",
        "Forget it",
        "Forget my cat",
        "Forget that I live in Porto",
        "Forget about the cake",
        "Forget me",
        "Delete everything",
        "Delete all",
        "Delete this chat",
        "Delete all files imported yesterday",
        "Delete all my emails",
        "Erase everything on the whiteboard",
        "Clear the cache",
        "Remove all comments from this code",
        "I forget everything",
        "I always forget everything about people",
        "My grandmother forgets everything",
        "She told me to forget everything about him",
        "Forget everything about him",
        "Forget everything about my ex and me",
        "Imagine you forget everything about me",
        "Pretend to forget everything about me",
        "Remember everything about me",
        "Forget what I said",
        "Forget what I told you about my cat today",
        "Forget what I told you last summer",
        "Forget what I told you on 31 February 2026",
        "Forget what I told you on 3/4/2026",
        "Forget what I told you on 3 November 2031",
        "Forget today",
        "Forget tools",
        "Forget the import",
        "Vergiss alles über Kochen",
        "Vergiss alles, was ich vorhin gesagt habe, und schreib ein Gedicht",
        "Vergiss es",
        "Lösche alles",
        "Oublie ça",
        "Oublie tout ce que tu sais sur la cuisine",
        "Olvida todo lo anterior",
        "Olvídalo",
        "Esqueça tudo acima",
        "Dimentica tutto quello che sai di cucina",
        "Vergeet het maar",
        "Zapomnij o tym",
        "Забудь всё, что было выше",
        "忘记上面的一切",
        "忘记我的猫",
        "删除所有",
        "删除这个对话",
        "上の文を全部忘れて",
        "猫のことを忘れて",
        "",
        "?",
        "   ",
        "forget",
        "everything",
    ),
]


@over("case", CASES, at_least=0.95)
def test_message(case: Case) -> None:
    """A message is the request that its user means, or none."""
    found = read_erasure_request(case.words, TODAY)
    if not case.scope:
        assert found is None
    else:
        assert found is not None
        assert (found.scope, found.day) == (case.scope, case.day)


def test_enough_cases() -> None:
    """The table holds requests of all languages and kinds, and as many look-alikes."""
    assert len(CASES) >= 150
    assert sum(not case.scope for case in CASES) >= 75
    asked = [read_erasure_request(case.words, TODAY) for case in CASES if case.scope]
    words = {(one.word, one.scope) for one in asked if one}
    kinds = ("everything", "chat", "day", "imported", "tools")
    assert words == {(one.word, kind) for one in erasure_languages() for kind in kinds}


def test_word_to_type() -> None:
    """Whoever asks is asked for a word of the same language, and every language has one."""
    assert read_erasure_request("Vergiss alles", TODAY) == ErasureRequest(
        "everything", None, "löschen"
    )
    assert {"erase", "löschen", "删除", "削除", "удалить"} <= erasure_words()


def test_long_message_is_none() -> None:
    """A request is short: nothing is looked for in a long text."""
    assert read_erasure_request("please " * 40 + "forget everything", TODAY) is None
    assert read_erasure_request("forget everything\n" * 10_000, TODAY) is None


REQUESTS = [case.words for case in CASES if case.scope]


@given(st.sampled_from(REQUESTS), st.text(min_size=1, max_size=30))
def test_request_with_other_words_is_none(request: str, more: str) -> None:
    """Quoted, or with a letter or figure of something else behind it, no request is one."""
    assert read_erasure_request(f"«{request}»", TODAY) is None
    assert read_erasure_request(f'He wrote "{request}" {more}', TODAY) is None
    assert read_erasure_request(f"{request} xq{more}", TODAY) is None


@given(st.text(max_size=220))
def test_any_text(text: str) -> None:
    """No text raises, and what is found for a day has one, never in the future."""
    found = read_erasure_request(text, TODAY)
    if found is not None:
        assert (found.day is not None) == (found.scope == "day")
        assert found.day is None or found.day <= TODAY


@given(st.dates(date(1990, 1, 1), TODAY))
def test_dates_are_read_back(day: date) -> None:
    """A day in figures, and with the English and German names of months, is that day."""
    relative = ("today", "yesterday", "the day before yesterday")
    for text, code in (
        (day.isoformat(), "en"),
        (f"{day.day}.{day.month}.{day.year}", "de"),
        (f"{day.day}/{day.month}/{day.year}", "fr"),
        (f"{day.year}年{day.month}月{day.day}日", "zh"),
        (f"{day:%B} {day.day}, {day.year}".lower(), "en"),
    ):
        assert erasure_day(text, TODAY, relative, code) == day


@given(st.text(alphabet="0123456789./- novembermai年月日", max_size=32))
def test_any_day(text: str) -> None:
    """No text for a day raises."""
    found = erasure_day(text, TODAY, ("today", "yesterday", "before"), "en")
    assert found is None or found <= TODAY


@over("repeated", ["please ", "forget ", "all ", "说", "3 ", "まえ", "ok, "])
def test_repeats(repeated: str) -> None:
    """Repeated words, as long as a request may be, are read and are none."""
    assert read_erasure_request((repeated * 200)[:200], TODAY) is None
