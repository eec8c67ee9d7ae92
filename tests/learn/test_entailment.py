"""What turns a sentence round: it has the user's words, and says something else by them."""

from __future__ import annotations

from adaptive.learn.entailment import pair_features, turns_round
from adaptive.learn.notation import read_notes
from tests.rates import rate

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


def test_turned_round() -> None:
    """Most of what others are, and of what is denied, supposed or asked, is not so of the user."""
    rate(TURNED, lambda pair: turns_round([pair[0]], pair[1])).at_least(0.6)


def is_turned_note(pair: tuple[str, str]) -> bool:
    """Whether a note turns round what it quotes of its line."""
    said, sentence = pair
    (note,) = read_notes(f"1 {sentence}", [said], 0)
    return turns_round([note["evidence"]], note["content"])


def test_notes_turned_round() -> None:
    """A note quotes enough of its line to tell of whom it is said, and whether it is so."""
    rate(TURNED, is_turned_note).at_least(0.6)
    rate(SAID_SO, lambda pair: not is_turned_note(pair)).at_least(0.95)


def test_said_so() -> None:
    """What is said of the same person in the same sense follows."""
    rate(SAID_SO, lambda pair: not turns_round([pair[0]], pair[1])).at_least(
        0.95
    )


def test_other_words() -> None:
    """A sentence in words of its own is not judged by its few shared ones."""
    assert not turns_round(["my spark is off sick"], "User is an electrician.")


def test_features() -> None:
    """Shared words are one mark, and words that are not known another."""
    assert pair_features(["my owl is grey"], "User is grey.", {"my"}) == {
        *("c _", "c _ before", "c ^|_", "c _|=", "c =|=", "c =|$"),
        *("c ^|_|=", "c _|=|=", "c =|=|$"),
        *("q my", "q my before", "q _", "q _ before"),
        *("q ^|my", "q my|_", "q _|=", "q =|=", "q =|$"),
        *("q ^|my|_", "q my|_|=", "q _|=|=", "q =|=|$"),
    }
