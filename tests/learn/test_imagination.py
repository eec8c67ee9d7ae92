"""What a message imagines, and what it means."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.imagination import imagined_parts
from tests.rates import over

WHOLLY_IMAGINED = [
    "If I lived in Oslo, how long would I sleep in winter?",
    "What would my taxes be if I earned twice as much",
    "Imagine we had a boat.",
    "So, what if I was allergic to bees?",
    "Let's say I weigh 90 kg.",
    "I wish I had a garden.",
    "Were I a bird, I'd be in Lisbon.",
    "Stell dir vor, ich bin Pilotin.",
    "Wenn wir ein Haus am Meer hätten, wären wir glücklich.",
    "Mal angenommen, ich habe vier Kinder.",
    "Et si j'habitais à Nice ?",
    "What if my house were on Mars?",
    "If only I had wings.",
    "If we owned a farm we would keep sheep.",
    "Imaginons que je sois avocat.",
    "Supongamos que tengo un barco.",
    "¿Y si yo fuera piloto?",
    "Si tuviera un jardín, plantaría rosas.",
    "Se eu morasse no Porto, iria a pé.",
    "Suponha que eu tenho três cães.",
    "Se fossi ricco, comprerei una barca.",
    "Immagina che io viva a Napoli.",
    "Если бы я жил в Сочи, я бы плавал.",
    "Допустим, у меня есть лодка.",
    "假设我有三个孩子。",
    "もし私が東京に住んでいたら。",
    "Let's role-play: I am a queen.",
    "Roleplay! You are my butler.",
    "Pretend that I'm your captain. I have a wooden leg.",
    "Wollen wir ein Rollenspiel machen? Ich bin die Gräfin.",
    "Tu mal so, als wäre ich dein Chef. Ich heiße Karl.",
    "Faisons un jeu de rôle. Je suis le roi.",
    "Hagamos un juego de rol. Soy el rey.",
    "Facciamo finta che io sia un re. Ho un castello.",
    "我们来角色扮演吧。我是国王。",
    "Tell a story in which I am a giant.",
    "Schreib eine Geschichte, in der ich auf dem Mond wohne.",
    "Écris un conte où je suis une sorcière.",
    "Escribe un cuento en el que vivo en Marte.",
]
MEANT = [
    "I live in Oslo.",
    "If I move to Oslo, who will water my plants?",
    "If my train is late I read.",
    "I imagine you know that I live in Porto.",
    "I suppose I am a morning person.",
    "Ask me if I like jazz.",
    "What if it rains when I cycle to work on Monday?",
    "If I had to choose I'd say I prefer tea.",
    "If I remembered correctly, would I ask?",
    "If I was tired after work I took the tram.",
    "Imagine my surprise when I got the job at Bosch!",
    "Imagine! I got the job.",
    "Suppose you wanted to visit me in Porto.",
    "As if I had nothing to do, I have three kids.",
    "Ich habe die Stelle angenommen.",
    "¿Y si te digo que vivo en Sevilla?",
    "E se ti dicessi che abito a Pisa?",
    "Et si on parlait de mon travail ?",
    "假设检验是我在大学教的课。",
    "I play role-playing games every Friday.",
    "Act as a nutritionist. I am 35 and weigh 80 kg.",
    "Role-play a job interview with me. I am a nurse.",
    "My son plays the role of a tree in the school play.",
    "I love the story of how my parents met.",
    "Wenn ich nach Graz ziehe, brauche ich eine Wohnung.",
    "Ich mag Rollenspiele.",
    "Si je déménage à Lyon, je vendrai la voiture.",
    "Si voy a Madrid, llamo a mi tía.",
    "Me encantan los juegos de rol.",
    "Se vou ao Porto, visito a minha mãe.",
    "Se vado a Roma, prendo il treno.",
    "Если я поеду в Сочи, я возьму собаку.",
    "如果下雨我就坐地铁。",
]


@over("words", WHOLLY_IMAGINED, at_least=0.95)
def test_imagined(words: str) -> None:
    """Nothing of these messages is meant but own things."""
    parts = imagined_parts(words)
    assert len(parts.imagined) > 0.4 * len(words)
    assert len(parts.meant) < 0.6 * len(words)


@over("words", MEANT, at_least=0.95)
def test_meant(words: str) -> None:
    """Open conditions, personas of the assistant and hobbies imagine nothing of the user."""
    assert imagined_parts(words).imagined == ""


@dataclass(frozen=True, slots=True)
class Mixed:
    """A message, and words that stand in one of its parts only."""

    id: str
    words: str
    imagined: str
    meant: str


MIXED = (
    Mixed("but", "If I lived in Oslo I'd ski, but I live in Porto.", "ski", "Porto"),
    Mixed("before it", "I live in Porto and wonder: if I had wings?", "wings", "Porto"),
    Mixed("own things", "If I were rich I'd sell my bakery.", "rich", "bakery"),
    Mixed("next sentence", "Imagine I am a king. I drive a Skoda.", "king", "Skoda"),
    Mixed("next paragraph", "Pretend I'm a king. I rule.\n\nI drive a Skoda.", "rule", "Skoda"),
    Mixed("doch", "Wenn ich ein Auto hätte, doch ich fahre Rad.", "Auto", "Rad"),
    Mixed("pero", "Si tuviera un coche, pero voy en bici.", "coche", "bici"),
    Mixed("但", "假如我有车就好了，但我骑自行车。", "有车", "自行车"),
)


@over("case", MIXED, at_least=0.85)
def test_mixed(case: Mixed) -> None:
    """What is meant stands beside what is imagined."""
    parts = imagined_parts(case.words)
    assert case.imagined in parts.imagined
    assert case.meant not in parts.imagined or case.id == "own things"
    assert case.meant in parts.meant
    assert case.imagined not in parts.meant


SCRAPS = """
if I were imagine pretend role-play but my boat wenn ich hätte si . ? \n\n 假如 但
"""


@given(st.one_of(st.text(max_size=300), st.lists(st.sampled_from(SCRAPS.split(" "))).map(" ".join)))
def test_any_message(words: str) -> None:
    """Any message has two parts, the same each time, which hold nothing but its words."""
    parts = imagined_parts(words)
    assert parts == imagined_parts(words)
    assert set(f"{parts.imagined}{parts.meant}") <= set(words.replace("’", "'")) | {" "}


@over("sign", ["if i ", "imagine ", "a", " ", "wenn ich a", "si j'", "\n", "我"])
def test_long_messages(sign: str) -> None:
    """Of a message of any length the beginning is read."""
    assert imagined_parts(sign * 50_000).meant
