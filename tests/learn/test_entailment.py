"""What turns a sentence round: it has the user's words, and says something else by them."""

from __future__ import annotations

import re

from adaptive.learn.entailment import pair_features, turns_round
from adaptive.learn.proposals import read_notes
from adaptive.learn.support import begun_sentences
from tests.rates import over, rate

# Of somebody else; then what is denied, supposed or asked.
TURNED = [
    ("my sister works at a zoo", "User works at a zoo."),
    ("meine Schwester wohnt in Kiel", "Der Nutzer wohnt in Kiel."),
    ("my boss speaks Korean", "User speaks Korean."),
    ("my flatmate works at a zoo", "User works at a zoo."),
    ("my uncle plays the tuba", "User plays the tuba."),
    ("mum hates loud music", "User hates loud music."),
    ("my colleague is from Ghana", "User is from Ghana."),
    ("Tom drives a lorry", "User drives a lorry."),
    ("our neighbour keeps goats", "User keeps goats."),
    ("mein Vater hat Diabetes", "Der Nutzer hat Diabetes."),
    ("mon frère joue au rugby", "L'utilisateur joue au rugby."),
    ("mi prima vive en Sevilla", "La usuaria vive en Sevilla."),
    ("meu tio tem um sítio", "O usuário tem um sítio."),
    ("мой дядя водит автобус", "Пользователь водит автобус."),
    ("父は漁師です", "ユーザーは漁師である。"),
    ("我妈是会计", "用户是会计。"),
    ("أخي مهندس في جدة", "المستخدم مهندس في جدة."),
    ("मेरी बहन डॉक्टर है", "उपयोगकर्ता डॉक्टर है।"),
    ("amcam balıkçı", "Kullanıcı balıkçı."),
    ("I don't play golf", "User plays golf."),
    ("if I owned a horse I'd ride", "User owns a horse."),
    ("I'm not a dentist", "User is a dentist."),
    ("should I learn Dutch?", "User is learning Dutch."),
    ("ich habe keine Kinder", "Der Nutzer hat Kinder."),
    ("je ne mange pas de porc", "L'utilisateur mange du porc."),
    ("no soy abogado", "El usuario es abogado."),
    ("não tenho carro", "O usuário tem um carro."),
    ("я не пью кофе", "Пользователь пьёт кофе."),
    ("私は車を持っていません", "ユーザーは車を持っている。"),
    ("我没有孩子", "用户有孩子。"),
    ("ليس لدي سيارة", "المستخدم لديه سيارة."),
    ("I quit smoking", "User smokes."),
    ("I wish I had a garden", "User has a garden."),
    ("pretend I'm a dragon", "User is a dragon."),
    ("what is it like to be a twin", "User is a twin."),
]
SAID_SO = [
    ("I work at a zoo", "User works at a zoo."),
    ("ich wohne in Kiel", "Der Nutzer wohnt in Kiel."),
    ("I speak Korean", "User speaks Korean."),
    ("i play the tuba", "User plays the tuba."),
    ("I hate loud music", "User hates loud music."),
    ("I'm from Ghana", "User is from Ghana."),
    ("I drive a lorry", "User drives a lorry."),
    ("we keep goats", "User keeps goats."),
    ("ich habe Diabetes", "Der Nutzer hat Diabetes."),
    ("je joue au rugby", "L'utilisateur joue au rugby."),
    ("vivo en Sevilla", "La usuaria vive en Sevilla."),
    ("tenho um sítio", "O usuário tem um sítio."),
    ("я вожу автобус", "Пользователь водит автобус."),
    ("漁師です", "ユーザーは漁師である。"),
    ("我是会计", "用户是会计。"),
    ("أنا مهندس في جدة", "المستخدم مهندس في جدة."),
    ("मैं डॉक्टर हूँ", "उपयोगकर्ता डॉक्टर है।"),
    ("balıkçıyım", "Kullanıcı balıkçı."),
    ("my phone is a pixel 8", "User has a Pixel 8."),
    ("my laptop is a thinkpad x1", "User has a ThinkPad X1."),
    ("my job is teaching maths", "User teaches maths."),
    ("mon métier c'est boulanger", "L'utilisateur est boulanger."),
    ("my oven is a Bosch", "User has a Bosch."),
    ("my religion is Sikhism", "User is a Sikh."),
    ("mein Instrument ist die Oboe", "Der Nutzer spielt Oboe."),
    ("I play golf", "User plays golf."),
    ("I don't play golf", "User does not play golf."),
    ("ich habe keine Kinder", "Der Nutzer hat keine Kinder."),
    ("my sister works at a zoo", "User's sister works at a zoo."),
    ("my dad drives a lorry", "User's father drives a lorry."),
    ("my dog is called Rex", "User's dog is called Rex."),
    ("my hip hurts when I run", "User's hip hurts when running."),
    ("our son has asthma", "User's son has asthma."),
]


# Of two things that are told together, the one and the other
BOTH_SAID = [
    ("I live in Rome and work nights at a zoo", "User works nights at a zoo."),
    ("I live in Rome and work nights at a zoo", "User lives in Rome."),
    (
        "we moved to Leeds last year and I started as a plumber",
        "User started as a plumber.",
    ),
    ("I have two dogs and I'm allergic to cats", "User is allergic to cats."),
    ("I play chess on Sundays and swim on Mondays", "User swims on Mondays."),
    (
        "after ten years in banking I opened a bakery in Bath",
        "User opened a bakery in Bath.",
    ),
    ("because of my bad knee I only swim", "User only swims."),
    ("when I'm not working I paint miniatures", "User paints miniatures."),
    ("my sister lives in Oslo and I live in Bergen", "User lives in Bergen."),
    ("my wife is a nurse and I teach physics", "User teaches physics."),
    ("I drive a Volvo but want to buy a Tesla", "User wants to buy a Tesla."),
    (
        "hi there hope you are well so I'm a baker in Ghent",
        "User is a baker in Ghent.",
    ),
    (
        "can you help me plan a trip as I use a wheelchair",
        "User uses a wheelchair.",
    ),
    ("I love jazz and hate techno", "User hates techno."),
    ("I studied law in Lund and now run a farm", "User runs a farm."),
    (
        "ich wohne in Kiel und arbeite als Koch",
        "Der Nutzer arbeitet als Koch.",
    ),
    ("ich habe zwei Kinder und spiele Geige", "Der Nutzer spielt Geige."),
    (
        "je vis à Nantes et travaille comme infirmier",
        "L'utilisateur travaille comme infirmier.",
    ),
    ("vivo en Bilbao y toco el bajo", "El usuario toca el bajo."),
    ("I grew up in Cork and speak Irish", "User speaks Irish."),
    ("I quit smoking in May and started running", "User started running."),
    ("I'm 34 and vegan", "User is vegan."),
    (
        "I need a gift for my dad who loves golf and I have 50 euros",
        "User has 50 euros.",
    ),
    (
        "I run a small shop in Ghent with my brother and sell lamps",
        "User sells lamps.",
    ),
]
ONE_TURNED = [
    ("I live in Rome and my sister works at a zoo", "User works at a zoo."),
    ("I love jazz and my husband hates techno", "User hates techno."),
    (
        "I have two dogs and my son is allergic to cats",
        "User is allergic to cats.",
    ),
    ("I work in Ghent but my boss lives in Lille", "User lives in Lille."),
    (
        "ich wohne in Kiel und mein Bruder arbeitet als Koch",
        "Der Nutzer arbeitet als Koch.",
    ),
    ("I like tea but I don't drink coffee", "User drinks coffee."),
    ("I drive a Volvo but I never drive at night", "User drives at night."),
    (
        "je vis à Nantes et ma soeur travaille comme infirmière",
        "L'utilisateur travaille comme infirmier.",
    ),
]


def is_turned(pair: tuple[str, str]) -> bool:
    """Whether a sentence turns round what is quoted whole."""
    said, sentence = pair
    return turns_round(begun_sentences(said), [said], sentence)


def test_turned_round() -> None:
    """Most of what others are, and of what is denied, supposed or asked, is not so of the user."""
    rate(TURNED, is_turned).at_least(0.55)


def is_turned_note(pair: tuple[str, str]) -> bool:
    """Whether a note turns round what it quotes of its line."""
    said, sentence = pair
    (note,) = read_notes(f"1 {sentence}", [said], 0)
    return turns_round(
        begun_sentences(said), [note["evidence"]], note["content"]
    )


def test_notes_turned_round() -> None:
    """A note quotes enough of its line to tell of whom it is said, and whether it is so."""
    rate(TURNED, is_turned_note).at_least(0.55)
    rate(SAID_SO, lambda pair: not is_turned_note(pair)).at_least(0.95)


def test_one_of_two() -> None:
    """What is said beside something else follows, unless it is said of somebody else."""
    rate(BOTH_SAID, lambda pair: not is_turned_note(pair)).at_least(0.85)
    rate(ONE_TURNED, is_turned_note).at_least(0.45)


def test_said_so() -> None:
    """What is said of the same person in the same sense follows."""
    rate(SAID_SO, lambda pair: not is_turned(pair)).at_least(0.95)


def test_other_words() -> None:
    """A sentence in words of its own is not judged by its few shared ones."""
    assert not is_turned(("my spark is off sick", "User is an electrician."))


# Of two sentences or clauses with the same words, the one that is quoted
QUOTED_ONE = [
    ("My sister is vegan. I am vegan.", "I am vegan", "User is vegan."),
    (
        "My mother has diabetes. I have diabetes.",
        "I have diabetes",
        "User has diabetes.",
    ),
    (
        "My wife is a doctor, I am a doctor.",
        "I am a doctor",
        "User is a doctor.",
    ),
    (
        "Meine Schwester ist Lehrerin. Ich bin Lehrerin.",
        "Ich bin Lehrerin",
        "Der Nutzer ist Lehrerin.",
    ),
]


@over("message, quoted, claim", QUOTED_ONE)
def test_the_quoted_one_of_two_counts(
    message: str, quoted: str, claim: str
) -> None:
    """A note is judged by the sentence that is quoted, though another one has its words, too."""
    said = begun_sentences(message)
    assert not turns_round(said, [quoted], claim)
    other = re.split("[.,] ", message)[0]
    assert turns_round(said, [other], claim)


def test_copies() -> None:
    """A whole sentence that is copied says what it says; a part of it is judged."""
    message = "If I had a dog, I'd walk more."
    said = begun_sentences(message)
    assert turns_round(said, ["I had a dog"], "I had a dog")
    assert not turns_round(said, [message], message)


def test_around_a_quotation() -> None:
    """A note is judged by the sentence around its quotation, which asks, supposes or cites."""
    said = begun_sentences('Oh well. If I had "a dog" I\'d walk?')
    features = pair_features(said, ["a dog"], "User has a dog.")
    assert features >= {"q if", "q if|i", "q i|*|=", "? True", '" True'}


def test_features() -> None:
    """What both have is one mark with how its ending differs, and each word stands for any, too."""
    said = begun_sentences("my owl sings")
    features = pair_features(said, ["my owl sings"], "User singing.")
    assert features == {
        *("c user", "c -er", "c ing>s", "c ^|user", "c ^|_", "c user|="),
        *("c _|=", "c =|$", "c ^|*|=", "c user|*|$"),
        *("q my", "q -my", "q owl", "q -wl", "q s>ing", "q ^|my", "q ^|_"),
        *("q my|owl", "q my|_", "q _|owl", "q _|_", "q owl|=", "q _|="),
        *("q =|$", "q ^|*|owl", "q my|*|=", "q owl|*|$"),
        *("b ", "? False", '" False'),
    }
