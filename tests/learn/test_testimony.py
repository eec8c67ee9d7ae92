"""Whether a fact is what the user said of themselves."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.testimony import (
    is_borne_out,
    is_imagined,
    is_of_somebody_else,
    is_told_in,
    is_turned_around,
)
from tests.rates import over


@dataclass(frozen=True, slots=True)
class Said:
    """A message, and a fact that a model made of it."""

    words: str
    fact: str


OF_ANOTHER = [
    Said("My sister is allergic to nuts.", "User is allergic to nuts."),
    Said("My uncle Ben owns a boat and sails to Malta.", "User owns a boat."),
    Said("My uncle Ben owns a boat and sails to Malta.", "User sails to Malta."),
    Said("My boss drives a red Tesla, believe it or not?", "User drives a Tesla."),
    Said("Eva works at Siemens.", "User works at Siemens."),
    Said("She plays the harp.", "User plays the harp."),
    Said("I have a cousin who lives in Malmo.", "User lives in Malmo."),
    Said("My wife doesn't eat meat.", "User does not eat meat."),
    Said("Mein Bruder arbeitet bei Bosch.", "Der Nutzer arbeitet bei Bosch."),
    Said("Mein Vater wohnt in Linz.", "User lives in Linz."),
    Said("Ma mère parle italien.", "L'utilisateur parle italien."),
    Said("Mi madre vive en Sevilla.", "El usuario vive en Sevilla."),
    Said("Meu irmão mora em Braga.", "O usuário mora em Braga."),
    Said("Mia sorella abita a Pisa.", "L'utente abita a Pisa."),
    Said("Моя сестра живёт в Омске.", "Пользователь живёт в Омске."),
    Said("我哥哥住在广州。", "用户住在广州。"),
]
OF_THE_USER = [
    Said("My sister is allergic to nuts, me too.", "User is allergic to nuts."),
    Said("My brother lives in Berlin and so do I.", "User lives in Berlin."),
    Said("My wife and I moved to Braga.", "User moved to Braga."),
    Said("My partner and me live in Graz.", "User lives in Graz."),
    Said("My sister lives in Berlin. We share a flat.", "User lives in Berlin."),
    Said("My mother says I have high blood pressure.", "User has high blood pressure."),
    Said("My doctor found that I'm allergic to nuts.", "User is allergic to nuts."),
    Said("My boss plays golf. I play golf too.", "User plays golf."),
    Said("My sister lives in Berlin.", "User's sister lives in Berlin."),
    Said("My sister lives in Berlin.", "User has a sister in Berlin."),
    Said("My team uses Kotlin.", "User uses Kotlin."),
    Said("My family lives in Porto.", "User lives in Porto."),
    Said("I live in Porto. Tom lives in Berlin.", "User lives in Porto."),
    Said("It made me see how I came to live in Porto.", "User lives in Porto."),
    Said("Is my sister allergic to nuts?", "User is allergic to nuts."),
    Said("Desayuno pan todos los días.", "El usuario desayuna pan."),
    Said("My husband works nights so the kids are with me.", "User works nights."),
    Said("My dad is Italian so I speak Italian.", "User speaks Italian."),
    Said("Tom, I live in Berlin.", "User lives in Berlin."),
    Said("My son and I love pizza.", "User loves pizza."),
    Said("Retired teacher from Porto.", "User is a teacher."),
    Said("Meine Schwester wohnt in Graz, ich auch.", "Der Nutzer wohnt in Graz."),
    Said("Ma sœur et moi habitons à Lyon.", "L'utilisateur habite à Lyon."),
    Said("我和妹妹住在上海。", "用户住在上海。"),
]
TURNED = [
    Said("I don't like jazz.", "User likes jazz."),
    Said("I have never smoked. I don't own a car.", "User owns a car."),
    Said("No, I like jazz!", "User doesn't like jazz."),
    Said("I really love my bike. I eat fish twice a week.", "User does not eat fish."),
    Said("Ich trinke keinen Kaffee.", "Der Nutzer trinkt Kaffee."),
    Said("Je ne parle pas italien.", "L'utilisateur parle italien."),
    Said("No tengo coche.", "El usuario tiene coche."),
    Said("Não tenho carro.", "O usuário tem carro."),
    Said("Non ho un cane.", "L'utente ha un cane."),
    Said("Я не ем рыбу.", "Пользователь ест рыбу."),
    Said("我不吃鱼。", "用户吃鱼。"),
]
STRAIGHT = [
    Said("No, I like jazz.", "User likes jazz."),
    Said("Nein, ich trinke Kaffee.", "Der Nutzer trinkt Kaffee."),
    Said("Don't I like jazz?", "User likes jazz."),
    Said("I don't like jazz in the morning.", "User likes jazz."),
    Said("I used to like jazz.", "User does not like jazz."),
    Said("I don't like free jazz but I like jazz.", "User likes jazz."),
    Said("I not only play chess, I teach it.", "User plays chess."),
    Said("I don't dislike jazz.", "User likes jazz."),
    Said("I don't just like jazz, I love it.", "User likes jazz."),
    Said("I can't stop eating chocolate.", "User eats chocolate."),
    Said("I don't like it when people smoke.", "User smokes."),
    Said("I no longer smoke.", "User no longer smokes."),
    Said("I don't live in Porto, I live in Lisbon.", "User lives in Lisbon."),
    Said("My sister doesn't like jazz. I do.", "User likes jazz."),
]
IMAGINED = [
    Said("If I lived in Oslo, would I need skis?", "User lives in Oslo."),
    Said("Wenn ich in Rom wohnte, was würde ich essen?", "Der Nutzer wohnt in Rom."),
    Said("Si j'avais un chien, où dormirait-il ?", "L'utilisateur a un chien."),
    Said("Se fossi medico, dove lavorerei?", "L'utente è medico."),
    Said("Suponha que eu moro em Faro.", "O usuário mora em Faro."),
    Said("Pretend I'm Zorro. I live in Madrid and ride a horse.", "User rides a horse."),
]
REAL = [
    Said("If I lived in Oslo I'd ski, but I live in Porto.", "User lives in Porto."),
    Said("If I had the money I'd buy a boat.", "User wants to buy a boat."),
    Said("If I move to Oslo I will need skis.", "User needs skis."),
    Said("If I were rich I'd sell my bakery in Faro.", "User has a bakery in Faro."),
    Said("I live in Oslo. What if I lived in Rome?", "User lives in Oslo."),
    Said("What if it rained on Mars?", "User likes jazz."),
    Said("I wish I lived closer to my mother in Braga.", "User's mother lives in Braga."),
    Said("I wish my flat in Faro were bigger.", "User has a flat in Faro."),
    Said("If I was ill I stayed in bed with my cat Mo.", "User has a cat named Mo."),
    Said("If only I had more time for my cello!", "User plays the cello."),
]


@over("case", OF_ANOTHER, at_least=0.93)
def test_of_somebody_else(case: Said) -> None:
    """The message tells it of another person only."""
    assert is_of_somebody_else(case.fact, case.words)


@over("case", OF_THE_USER, at_least=0.95)
def test_of_the_user(case: Said) -> None:
    """The message may tell it of the user, or the fact names the other person itself."""
    assert not is_of_somebody_else(case.fact, case.words)


@over("case", TURNED, at_least=0.85)
def test_turned_around(case: Said) -> None:
    """The message says the opposite."""
    assert is_turned_around(case.fact, case.words)


@over("case", [*STRAIGHT, *OF_THE_USER], at_least=0.95)
def test_not_turned_around(case: Said) -> None:
    """The message says nothing against it."""
    assert not is_turned_around(case.fact, case.words)


@pytest.mark.parametrize("case", IMAGINED, ids=lambda case: case.fact)
def test_imagined(case: Said) -> None:
    """The message only imagines it."""
    assert is_imagined(case.fact, case.words)


@over("case", [*REAL, *OF_THE_USER, *STRAIGHT], at_least=0.95)
def test_not_imagined(case: Said) -> None:
    """The message means it, or leaves it open."""
    assert not is_imagined(case.fact, case.words)


@pytest.mark.parametrize(
    ("fact", "told"),
    [
        ("User is a carpenter.", True),
        ("User lives in Bremen.", True),
        ("User is a carpenter and lives in Bremen.", True),
        ("User lives in Bonn.", False),
        ("User does not live in Bremen.", False),
        ("...", False),
    ],
)
def test_told_in(fact: str, told: bool) -> None:
    """A text tells a fact that it says of its writer in the same words."""
    assert is_told_in(fact, "Dear Ms Brandt, I am a carpenter and I live in Bremen.") is told


SCRAPS = "my sister I she Tom user's not no never lives in Porto likes jazz and who . ? , me too"
MESSAGES = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(SCRAPS.split())).map(" ".join))


@given(MESSAGES, MESSAGES)
def test_any_fact(fact: str, words: str) -> None:
    """Any fact is judged beside any message; what is word for word said is never refused."""
    for judge in (is_of_somebody_else, is_turned_around, is_imagined, is_told_in):
        assert judge(fact, words) in (True, False)


BORNE_OUT = [
    Said("I have a cat called Miso.", "User has a cat named Miso."),
    Said("My cat Miso is ill, what can I do?", "User has a cat named Miso."),
    Said("I'm a nurse in Porto.", "User works as a nurse in Porto."),
    Said("I have moved to Lisbon.", "User lives in Lisbon."),
    Said("I love jazz.", "User likes jazz."),
    Said("Ich wohne in Berlin.", "User lives in Berlin."),
    Said("I am allergic to peanuts. What may I eat?", "User is allergic to peanuts."),
]
NOT_BORNE_OUT = [
    Said("I live in Porto.", "User lives in Lisbon."),
    Said("I live in Porto.", "User loves the opera."),
    Said("I play the violin.", "User plays the violin and the piano."),
    Said("What jazz do people like?", "User likes jazz."),
    Said("Can you recommend a vet for my cat?", "User has a cat."),
    Said("I went to a jazz bar.", "User loves jazz."),
    Said("Porto is a town.", "User lives in Porto."),
    Said("I live in Porto.", "Anna lives in Porto."),
    Said("I live.", "User lives."),
    Said("", "User lives in Porto."),
]


@over("said", BORNE_OUT, at_least=0.85)
def test_borne_out(said: Said) -> None:
    """What stands in the user's own words, in whatever language, is borne out by them."""
    assert is_borne_out(said.fact, said.words)


@over("said", NOT_BORNE_OUT, at_least=0.85)
def test_not_borne_out(said: Said) -> None:
    """What goes beyond them, or was only asked, is not."""
    assert not is_borne_out(said.fact, said.words)
