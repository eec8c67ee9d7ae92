"""Which proposed changes may be written, and why the others may not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.screen import (
    SCREEN_RULES,
    ScreenContext,
    comparable,
    holds_listed_word,
    refusal,
    screened,
)
from adaptive.model import CATEGORIES, Draft, Operation, OutcomeStatus
from tests.fakes import hook_settings, memory
from tests.rates import over

TEA = memory("m-1", "User likes tea.")
DOG = memory("m-2", "User's dog is called Biscuit.")


def new(content: str, **fields: Any) -> Operation:
    """A proposed new fact."""
    return Operation("NEW", "", Draft(content, **fields))


def update(id: str, content: str) -> Operation:
    """A proposed change."""
    return Operation("UPDATE", id, Draft(content))


def delete(id: str) -> Operation:
    """A proposed removal."""
    return Operation("DELETE", id)


@dataclass(frozen=True)
class Case:
    """Operations where tea and dog are known, and for each its verdict, empty for accepted."""

    id: str
    operations: list[Operation]
    verdicts: list[tuple[OutcomeStatus, str] | None]
    valves: dict[str, Any] = field(default_factory=dict)


KNOWN = ("unchanged", "already known")
SAME = ("unchanged", "it already says so")
SHORT = ("rejected", "shorter than 8 characters")
HATES = update("m-1", "User hates tea.")

CASES = [
    Case("nothing", [], []),
    Case(
        "all kinds",
        [new("User lives here."), HATES, delete("m-2")],
        [None] * 3,
    ),
    Case("known", [new("User likes tea.")], [KNOWN]),
    Case("known in other letters", [new("USER  likes\ntea")], [KNOWN]),
    Case("twice in the reply", [new("User has a cat."), new("user has a cat")], [None, KNOWN]),
    Case(
        "update says the same",
        [update("m-1", "User likes tea")],
        [SAME],
    ),
    Case("update becomes another's", [update("m-1", DOG.content)], [KNOWN]),
    Case(
        "update, then the same as new",
        [HATES, new("User hates tea.")],
        [None, KNOWN],
    ),
    Case(
        "same memory twice",
        [HATES, delete("m-1")],
        [None, ("rejected", "the model changed the same memory twice")],
    ),
    Case("deleted and said anew", [delete("m-1"), new("User likes tea.")], [None, None]),
    Case("said anew and deleted", [new("User likes tea."), delete("m-1")], [None, None]),
    Case("another one deleted", [delete("m-2"), new("User likes tea.")], [None, KNOWN]),
    Case("too short", [new("Tea!")], [SHORT]),
    Case("short enough", [new("喜欢茶")], [None], {"min_memory_length": 3}),
    Case(
        "not sure",
        [new("User may move.", confidence=0.4)],
        [("rejected", "the model is not sure (0.40)")],
    ),
    Case("just sure enough", [new("User may move.", confidence=0.5)], [None]),
    Case(
        "category is off",
        [new("User wants to run.", tags=("goal",))],
        [("rejected", "goal is not to be remembered")],
        {"enable_goal_memory": False},
    ),
    Case(
        "one of its categories is on",
        [new("User wants to run.", tags=("goal", "behavior"))],
        [None],
        {"enable_goal_memory": False},
    ),
    Case("no category", [new("User wants to run.")], [None], {"enable_goal_memory": False}),
    Case(
        "refused fact is not held",
        [new("Tea!"), new("Tea!")],
        [("rejected", "shorter than 8 characters")] * 2,
    ),
    Case("deletion is never doubted", [delete("m-1")], [None], {"min_memory_length": 200}),
]


@over("case", CASES)
def test_screened(case: Case) -> None:
    """Each operation is accepted, or has an outcome with its reason; the order stays."""
    accepted, outcomes = screened(case.operations, [TEA, DOG], hook_settings(**case.valves))
    pairs = list(zip(case.operations, case.verdicts, strict=True))
    assert accepted == [operation for operation, verdict in pairs if verdict is None]
    assert [(one.status, one.content, one.reason) for one in outcomes] == [
        (verdict[0], operation.draft.content, verdict[1])
        for operation, verdict in pairs
        if verdict is not None
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("User likes tea.", " user  LIKES\ntea", True),
        ("Straße", "STRASSE", True),
        ("用户喜欢茶。", "用户喜欢茶", True),
        ("User likes tea", "User likes teas", False),
        ("User likes C", "User likes C++", False),
    ],
)
def test_comparable(one: str, other: str, same: bool) -> None:
    """Case, spaces and the final stop do not count, every other character does."""
    assert (comparable(one) == comparable(other)) is same


@dataclass(frozen=True)
class Verdicts:
    """Facts that a rule refuses, and facts like them that no rule refuses.

    The context is one in which the user sent ``words`` and the assistant was shown ``injected``.
    """

    rule: str
    refused: list[str]
    kept: list[str]
    valves: dict[str, Any] = field(default_factory=dict)
    words: str = ""
    injected: tuple[str, ...] = ()


VERDICTS = [
    Verdicts(
        "blacklist",
        [
            "User plays poker on Fridays.",
            "POKER is what User likes.",
            "User's poker-face is famous.",
            "User lost money at Poker!",
            "User filed her tax return in May.",
            "User pays church tax.",
            "Der Nutzer spielt Poker.",
            "L'utilisateur joue au poker.",
            "El usuario juega al póquer.",
            "Пользователь играет в покер.",
            "用户喜欢打扑克牌。",
            "ユーザーはポーカーが好き。",
            "사용자는 포커를 좋아한다.",
            "User eats ｓｕｓｈｉ.",
        ],
        [
            "User has a pokerwork box.",
            "User drives a taxi.",
            "User studies taxonomy.",
            "User stokes the fire.",
            "User likes sushis.",
            "Der Nutzer sammelt Pokerchips.",
            "L'utilisateur a un syntaxe favori.",
            "El usuario compra en un taxi.",
            "Пользователь покерист.",
            "用户喜欢打牌扑的克。",
            "ユーザーは歩くのが好き。",
            "사용자는 커피를 좋아한다.",
            "User likes tea.",
        ],
        {"blacklist_topics": "poker, tax ,póquer、покер,扑克，ポーカー, 포커, sushi,,  "},
    ),
    Verdicts(
        "length",
        [
            "Tea",
            "Has dog",
            "a b c d",
            "Ja",
            "Oui.",
            "Sí, sí",
            "Sim",
            "Ciao",
            "Да",
            "喜欢茶",
            "猫好き",
            "차!",
        ],
        [
            "Has a dog",
            "12345678",
            "Mag Tee.",
            "Aime Max",
            "Es de Vigo",
            "É do Porto",
            "Ha un cane",
            "Есть кот",
            "用户不喜欢喝茶。",
            "ユーザーは猫が好き。",
            "사용자는 차를 좋아함",
            "User naps",
        ],
    ),
    Verdicts(
        "conversation",
        [
            "Make it shorter",
            "Please answer in French this time.",
            "Try again",
            "User wants the answer to be shorter.",
            "User wants a shorter answer.",
            "User asked for the response in French this time.",
            "User would like the answer shorter.",
            "User wants the assistant to translate the text.",
            "User asked to shorten the above text.",
            "User requested a poem about the sea.",
            "User requested a summary.",
            "User asked for a poem about the sea.",
            "User is asking for help with Python code.",
            "User asked to continue the story.",
            "User wants the previous answer in a table.",
            "Der Nutzer bittet um eine Zusammenfassung.",
            "El usuario pide un resumen.",
            "用户要求把答案翻译成英文",
            "User is testing the memory in this conversation.",
            "User wants this email rewritten.",
            "Mach es kürzer",
            "Antworte diesmal auf Französisch.",
            "Der Nutzer möchte eine kürzere Antwort.",
            "Der Nutzer wünscht die Antwort diesmal auf Englisch.",
            "Traduis ce texte en anglais",
            "L'utilisateur veut une réponse plus courte.",
            "Hazlo más corto",
            "El usuario quiere que la respuesta sea más corta.",
            "Traduza isso para inglês",
            "O usuário quer uma resposta mais curta.",
            "Rendilo più breve",
            "L'utente vuole una risposta più breve.",
            "Сделай это короче",
            "Пользователь просит перевести текст.",
            "把它写短一点",
            "用户希望这个回答更短。",
            "もっと短くして",
            "ユーザーは今回は英語での回答を希望している。",
        ],
        [
            "User wants to be answered briefly, always.",
            "Always answer me briefly.",
            "User prefers short answers.",
            "User likes the answer in bullet points.",
            "User wants answers in French from now on.",
            "User wants the assistant to call him Max.",
            "User wants to write a novel.",
            "User asked Ana to marry him.",
            "User asked for a divorce.",
            "User asked for a raise in March.",
            "User wants to translate books for a living.",
            "User wants an answer to the adoption request.",
            "User wants a translation of her birth certificate.",
            "User requested asylum in 2015.",
            "User requests vegetarian meals on flights.",
            "User is writing a summary of her thesis.",
            "Der Nutzer will die Antwort der Behörde abwarten.",
            "User needs the letter from his bank.",
            "User makes it a habit to walk.",
            "User wants a shorter commute.",
            "User wants an answer from his bank by May.",
            "User met her husband in this chat group for runners.",
            "Antworte mir immer kurz.",
            "Der Nutzer bevorzugt kurze Antworten.",
            "Der Nutzer möchte einen Roman schreiben.",
            "L'utilisateur préfère des réponses courtes.",
            "L'utilisateur veut écrire un livre.",
            "El usuario prefiere respuestas cortas.",
            "El usuario quiere escribir un libro.",
            "O usuário prefere respostas curtas.",
            "L'utente preferisce risposte brevi.",
            "Пользователь предпочитает короткие ответы.",
            "Пользователь хочет стать переводчиком.",
            "用户喜欢简短的回答。",
            "用户想成为一名翻译。",
            "ユーザーはいつも短い回答を好む。",
            "ユーザーは翻訳の仕事をしている。",
        ],
    ),
    Verdicts(
        "question",
        [
            "Where does User live?",
            "What is the user's favourite colour",
            "User likes tea?",
            "Is User from Porto?",
            "Does the user have a dog?",
            "User asks whether cats purr.",
            "User wants to know how vaccines work.",
            "User wonders what to cook.",
            "User asked about the capital of France.",
            "Wo wohnt der Nutzer?",
            "Der Nutzer möchte wissen, wie das geht.",
            "Où habite l'utilisateur ?",
            "L'utilisateur demande si Paris est grand.",
            "¿Dónde vive el usuario?",
            "El usuario pregunta qué tiempo hace.",
            "Onde mora o usuário?",
            "Dove abita l'utente?",
            "Где живёт пользователь?",
            "Пользователь спрашивает, как работает мотор.",
            "用户住在哪里？",
            "用户想知道什么是光合作用",
            "ユーザーはどこに住んでいますか",
            "ユーザーは猫を飼っていますか？",
        ],
        [
            "User lives where he was born.",
            "User's favourite film is 'Who Framed Roger Rabbit?'",
            "User loves Who's Afraid of Virginia Woolf?",
            'User hosts the quiz "Who knows?"',
            "What User likes most is tea.",
            "When User was a child, he lived in Vigo.",
            "User asks his doctor for advice every year.",
            "User asked Eva to marry him in 2020.",
            "User is curious and reads a lot.",
            "User wonders at nature and paints it.",
            "User wants to know more about his ancestors.",
            "User asked about her pension at the office.",
            "Der Nutzer wohnt, wo er geboren ist.",
            "Der Nutzer fragt seinen Vater um Rat.",
            "L'utilisateur demande sa retraite en mai.",
            "L'utilisateur habite où il est né.",
            "El usuario vive donde nació.",
            "El usuario sabe cómo hacer pan.",
            "O usuário mora onde nasceu.",
            "L'utente abita dove è nato.",
            "Пользователь живёт там, где родился.",
            "Пользователь знает, как варить борщ.",
            "用户住在父母家。",
            "用户知道怎么做面包。",
            "ユーザーはいつか日本に住みたい。",
            "ユーザーは何でも食べる。",
        ],
    ),
    Verdicts(
        "assistant",
        [
            "As an AI language model, I have no opinion.",
            "As an AI, I cannot remember.",
            "I am an AI assistant.",
            "I recommend drinking more water.",
            "I'd suggest yoga twice a week.",
            "I'm sorry, but I cannot help.",
            "You should try yoga.",
            "You could visit Lisbon in May.",
            "The assistant recommended a book.",
            "The AI explained photosynthesis.",
            "It is recommended to sleep eight hours.",
            "Sure, here is a list of books.",
            "Let me know if you need more.",
            "User should consider a savings plan.",
            "Als KI habe ich keine Meinung.",
            "Du solltest mehr trinken.",
            "Ich empfehle dir Yoga.",
            "En tant qu'IA, je n'ai pas d'avis.",
            "Je vous recommande ce livre.",
            "Te recomiendo este libro.",
            "Como modelo de lenguaje, no tengo opinión.",
            "Você deveria beber mais água.",
            "Ti consiglio questo libro.",
            "Come IA, non ho opinioni.",
            "Как языковая модель, я не имею мнения.",
            "Вам следует больше спать.",
            "作为AI，我没有意见。",
            "建议你多喝水。",
            "AIアシスタントとして、お答えします。",
            "あなたはもっと寝た方がいいです。",
        ],
        [
            "As an AI engineer, User works on search.",
            "User is an AI researcher in Porto.",
            "I am an AI researcher.",
            "I recommended my brother for the job.",
            "User recommends the bakery in Rua Nova.",
            "User's doctor advised less salt.",
            "User's assistant is called Anna.",
            "The assistant at User's dentist is Eva.",
            "You should know that I am vegetarian.",
            "You should call me Max.",
            "User may want to move to Lisbon.",
            "You are called Jarvis by User.",
            "The assistant is to be called Jarvis.",
            "User wants you to be honest.",
            "User should take his pills at noon.",
            "User must avoid gluten.",
            "I am sorry for my late brother.",
            "I can help at the shelter on Sundays.",
            "Als KI-Ingenieur arbeitet der Nutzer in Köln.",
            "Ich rate gern bei Quizshows mit.",
            "Der Nutzer empfiehlt das Café Sol.",
            "L'utilisateur recommande ce café.",
            "En tant qu'infirmier, l'utilisateur travaille la nuit.",
            "El usuario recomienda el café Sol.",
            "Como médico, el usuario trabaja de noche.",
            "O usuário recomenda o café Sol.",
            "L'utente consiglia il bar Sole.",
            "Come medico, l'utente lavora di notte.",
            "Пользователь советует кафе «Соль».",
            "Как врач, пользователь работает ночью.",
            "作为人工智能工程师，用户住在上海。",
            "用户建议朋友多喝水。",
            "ユーザーはAIエンジニアとして働いている。",
            "ユーザーはヨガを勧めている。",
        ],
    ),
    Verdicts(
        "quoted",
        [
            "User lives in Vienna.",
            "User works as a nurse.",
            "User lives in Vienna and works as a nurse.",
            "Der Nutzer hat einen Hund namens Bello.",
            "L'utilisateur habite à Marseille.",
            "User's colleague is Gregor.",
            "Пользователь живёт в Казани.",
            "用户住在成都。",
            "User plans to move to Oslo.",
            "User owns a yellow bicycle.",
            "User's name is Heidi Brunner.",
            "User is allergic to shrimp.",
        ],
        [
            "User needs a translation by Friday.",
            "User's deadline is Friday.",
            "User likes The Old Rose.",
            "User translates texts.",
            "User has a meeting in Porto on Friday.",
            "User eats no meat.",
            "User works with Gregor on Friday.",
            "User lives in Lisbon.",
            "Der Nutzer liest gern.",
            "Пользователь живёт в Москве.",
            "用户喜欢喝茶。",
            "ユーザーは猫を飼っている。",
        ],
        words="Translation by Friday, in Porto, of 'The Old Rose' is needed.\n"
        '"i live in vienna and work as a nurse, says heidi brunner"\n'
        "> Ich habe einen Hund namens Bello. J'habite à Marseille.\n"
        "> My colleague Gregor and I plan to move to Oslo.\n"
        "> Я живу в Казани. 我住在成都。\n"
        "```\nI own a yellow bicycle, and am allergic to shrimp\n```",
    ),
    Verdicts(
        "imagined",
        [
            "User lives in Oslo.",
            "User has three kids.",
            "User is a knight.",
            "User owns a white horse.",
            "User earns 9000 euros.",
            "Der Nutzer hat ein Haus am Meer.",
            "L'utilisateur est médecin.",
            "El usuario vive en Sevilla.",
            "O usuário mora em Tavira.",
            "L'utente abita a Napoli.",
            "Пользователь живёт в Сочи.",
            "用户住在东京。",
        ],
        [
            "User lives in Porto.",
            "User works at a bakery.",
            "User wants to live in Oslo.",
            "User may move to Bergen.",
            "User used to live in Oslo.",
            "User owns a bakery in Faro.",
            "User plays golf.",
            "Der Nutzer wohnt in Graz.",
            "L'utilisateur habite à Lyon.",
            "El usuario tiene un perro.",
            "Пользователь живёт в Москве.",
            "用户住在北京。",
        ],
        words="If I lived in Oslo I'd ski, but I live in Porto. What if I had three kids?\n"
        "If I were rich I would sell my bakery in Faro. Suppose I earn 9000 euros.\n"
        "If I move to Bergen I will rent. Wenn ich ein Haus am Meer hätte! Ich wohne in Graz.\n"
        "Si j'étais médecin ! Imagina que vivo en Sevilla. Suponha que moro em Tavira.\n"
        "Immagina che io abiti a Napoli. Представь, что я живу в Сочи. 假如我住在东京。\n\n"
        "Pretend I'm a knight. I own a white horse.\n\nI play golf.",
    ),
    Verdicts(
        "another",
        [
            "User is allergic to nuts.",
            "User drives a Tesla.",
            "User lives in Berlin.",
            "User works at Siemens.",
            "User lives in Berlin and works at Siemens.",
            "User plays the harp.",
            "Der Nutzer wohnt in Graz.",
            "L'utilisateur parle italien.",
            "El usuario vive en Sevilla.",
            "O usuário mora em Braga.",
            "Пользователь живёт в Омске.",
            "用户住在广州。",
        ],
        [
            "User's sister is allergic to nuts.",
            "User has a sister with a nut allergy.",
            "User's boss drives a Tesla.",
            "User drives a Skoda.",
            "User knows Tom from Berlin.",
            "User has high blood pressure.",
            "User lives in Lisbon.",
            "User plays the cello.",
            "Der Nutzer wohnt in Wien.",
            "L'utilisateur parle allemand.",
            "Пользователь живёт в Москве.",
            "用户住在上海。",
        ],
        words="My sister is allergic to nuts. My boss drives a red Tesla, believe it or not?\n"
        "Tom lives in Berlin and works at Siemens. She plays the harp. I play the cello.\n"
        "My mother says I have high blood pressure. I live in Lisbon.\n"
        "Mein Bruder wohnt in Graz. Ma mère parle italien. Mi madre vive en Sevilla.\n"
        "Meu irmão mora em Braga. Моя сестра живёт в Омске. 我哥哥住在广州。",
    ),
    Verdicts(
        "opposite",
        [
            "User likes jazz.",
            "User owns a car.",
            "User does not eat fish.",
            "User smokes cigars.",
            "User does not play chess.",
            "User has a cat.",
            "Der Nutzer trinkt Kaffee.",
            "L'utilisateur parle italien.",
            "El usuario tiene coche.",
            "L'utente ha un cane.",
            "Пользователь ест рыбу.",
            "用户吃鱼。",
        ],
        [
            "User does not like jazz.",
            "User dislikes jazz.",
            "User likes blues.",
            "User has no car.",
            "User eats fish.",
            "User no longer smokes cigars.",
            "User teaches chess.",
            "User plays chess.",
            "Der Nutzer trinkt keinen Kaffee.",
            "L'utilisateur parle français.",
            "Пользователь не ест рыбу.",
            "用户不吃鱼。",
        ],
        words="No, I don't like jazz. I like blues. I don't own a car. I eat fish twice a week.\n"
        "I no longer smoke cigars. I not only play chess, I teach it. I have no cat.\n"
        "I play chess on Sundays. Ich trinke keinen Kaffee. Je ne parle pas italien.\n"
        "No tengo coche. Non ho un cane. Я не ем рыбу. 我不吃鱼。",
    ),
    Verdicts(
        "passing",
        [
            "User is tired today.",
            "User is tired.",
            "User is very hungry right now.",
            "User was exhausted on 5 March 2026.",
            "Ana is tired today.",
            "User has a headache.",
            "User has a headache now.",
            "User has a bad cold at the moment.",
            "User is on the train.",
            "User is currently at the airport.",
            "User is stressed today.",
            "User is feeling sick this morning.",
            "User is watching a film right now.",
            "User feels tired and hungry.",
            "User is having a bad day.",
            "User is at work right now.",
            "User is under the weather today.",
            "User is on a train to Porto right now.",
            "User had eggs for breakfast today.",
            "User slept badly last night.",
            "Der Nutzer ist heute müde.",
            "Der Nutzer hat gerade Kopfschmerzen.",
            "Der Nutzer sitzt im Zug.",
            "L'utilisatrice est fatiguée aujourd'hui.",
            "L'utilisateur a mal à la tête.",
            "L'utilisateur est dans le train.",
            "El usuario está cansado hoy.",
            "El usuario tiene hambre.",
            "La usuaria está en el tren.",
            "O usuário está cansado hoje.",
            "A usuária está com fome.",
            "L'utente è stanco oggi.",
            "L'utente ha mal di testa.",
            "L'utente è in treno.",
            "Пользователь сегодня устал.",
            "У пользователя болит голова.",
            "Пользователь в поезде.",
            "用户今天很累。",
            "用户现在头疼。",
            "用户在火车上。",
            "ユーザーは今日疲れている。",
            "ユーザーは今は頭が痛い。",
            "ユーザーは電車に乗っている。",
        ],
        [
            "User is tired of his job.",
            "User is often tired.",
            "User has had migraines since 2019.",
            "User has been tired since her illness.",
            "User is always hungry after sport.",
            "User is on the train every morning.",
            "User is bored with her studies.",
            "User has a cold house.",
            "User has a new job today.",
            "User starts a new job today.",
            "User is having surgery on 5 May 2026.",
            "User is drinking less alcohol now.",
            "User is tired of winter.",
            "User was sick for three months in 2020.",
            "User has a cold sore every winter.",
            "User is on the board of the school.",
            "User is in bed by ten every night.",
            "Der Nutzer ist müde vom Pendeln.",
            "La usuaria tiene hambre de aventuras.",
            "O usuário está com dor de cabeça há anos.",
            "Пользователь хочет есть меньше мяса.",
            "User is sick.",
            "User is happy with his new job.",
            "User eats eggs for breakfast every day.",
            "User works at the airport.",
            "User is at the gym on Mondays.",
            "Der Nutzer hat seit 2019 Migräne.",
            "Der Nutzer ist seinen Job müde geworden.",
            "Der Nutzer hat oft Kopfschmerzen.",
            "L'utilisateur est fatigué de son travail.",
            "L'utilisateur a souvent mal à la tête.",
            "El usuario está cansado de su trabajo.",
            "El usuario tiene migrañas desde 2019.",
            "O usuário está cansado do trabalho dele.",
            "L'utente è stanco del suo lavoro.",
            "L'utente ha spesso mal di testa.",
            "Пользователь устал от своей работы.",
            "У пользователя часто болит голова.",
            "用户长期头痛。",
            "用户在机场工作。",
            "ユーザーは仕事に疲れている。",
            "ユーザーは毎朝電車に乗っている。",
        ],
    ),
    Verdicts(
        "trivia",
        [
            "The capital of France is Paris.",
            "Canberra is the capital of Australia.",
            "Water boils at 100 degrees.",
            "The boiling point of water is 100 degrees.",
            "Python is a programming language.",
            "Python is a popular language for data.",
            "Latin is a language.",
            "The Earth orbits the Sun.",
            "World War II ended in 1945.",
            "The speed of light is 299,792 km/s.",
            "2 + 2 is 4",
            "There are seven continents.",
            "Porto is a city in Portugal.",
            "Jupiter is the largest planet of the solar system.",
            "Penicillin was discovered by Fleming.",
            "Die Hauptstadt von Kanada ist Ottawa.",
            "Wasser siedet bei 100 Grad.",
            "Python ist eine Programmiersprache.",
            "La capitale de la France est Paris.",
            "Python est un langage de programmation.",
            "La capital de Francia es París.",
            "El agua hierve a 100 grados.",
            "A capital da França é Paris.",
            "Python é uma linguagem de programação.",
            "La capitale della Francia è Parigi.",
            "L'acqua bolle a 100 gradi.",
            "Столица Франции — Париж.",
            "Вода кипит при 100 градусах.",
            "法国的首都是巴黎。",
            "水的沸点是100度。",
            "フランスの首都はパリです。",
            "Pythonはプログラミング言語です。",
        ],
        [
            "User lives in the capital of France.",
            "Ana is a nurse.",
            "Biscuit is a beagle.",
            "Ana was born in the capital of Portugal.",
            "User's favourite language is Python.",
            "Python is the programming language User likes.",
            "Ana's first language is Portuguese.",
            "Ana speaks three languages.",
            "My sister says Porto is a city in the north.",
            "Alfama is a quarter of Lisbon where Ana lives.",
            "Viana is a city in Portugal where Ana grew up.",
            "The bakery was founded in 2010.",
            "Max is short for Maximilian.",
            "The wifi password is hunter2.",
            "Project Orion uses PostgreSQL.",
            "Orion is a framework for testing that the team builds.",
            "Portuguese is a language spoken at home by Ana.",
            "Rex is a mammal lover.",
            "Grandma is 90.",
            "The car is a red Fiat.",
            "The house was built in 1920.",
            "There are two dogs in the house.",
            "Der Nutzer wohnt in der Hauptstadt von Kanada.",
            "Ana kocht bei Familie Kunz.",
            "Bello ist ein Hund.",
            "L'utilisateur habite la capitale de la France.",
            "Zoé est une amie.",
            "El usuario vive en la capital de Francia.",
            "Ana es una amiga.",
            "O usuário mora na capital da França.",
            "Ana é uma enfermeira.",
            "L'utente vive nella capitale della Francia.",
            "Ana è una collega.",
            "Пользователь живёт в столице Франции.",
            "Аня — медсестра.",
            "用户住在法国的首都。",
            "小明是一名医生。",
            "ユーザーはフランスの首都に住んでいる。",
            "アナは看護師です。",
        ],
    ),
    Verdicts(
        "restated",
        [
            "User lives in Porto.",
            "The user lives in Porto!",
            "Lives in Porto",
            "USER  LIVES IN PORTO",
            "User lives in Porto, Portugal.",
            "User's dog is called Biscuit.",
            "User is a nurse.",
            "Der Nutzer mag Tee.",
            "Nutzer mag Tee",
            "L'utilisateur habite à Lyon.",
            "Пользователь любит чай.",
            "用户喜欢喝茶",
            "ユーザーは猫を飼っている。",
        ],
        [
            "User lives in Lisbon.",
            "User no longer lives in Porto.",
            "User lived in Porto.",
            "User's dog is not called Biscuit.",
            "User's dog is called Rex.",
            "User was a nurse.",
            "User smokes.",
            "User's sister lives in Porto.",
            "User runs every day.",
            "Der Nutzer mag keinen Tee.",
            "L'utilisateur n'habite plus à Lyon.",
            "Пользователь не любит чай.",
            "用户不喜欢喝茶",
            "ユーザーは犬を飼っている。",
        ],
        words="And what may the weather be like on Sunday, as one who runs?",
        injected=(
            "User lives in Porto, Portugal.",
            "- User's dog is called Biscuit (since 2020).",
            "User is a nurse at the hospital.",
            "User smokes no more.",
            "User runs every day, since 2019.",
            "Der Nutzer mag Tee.",
            "L'utilisateur habite à Lyon.",
            "Пользователь любит чай.",
            "用户喜欢喝茶。",
            "ユーザーは猫を飼っている。",
        ),
    ),
]


def told(contents: list[str], verdicts: Verdicts) -> dict[str, str]:
    """For each fact the name of the rule that refuses it, empty if none does."""
    context = ScreenContext(hook_settings(**verdicts.valves), (), verdicts.words, verdicts.injected)
    names: dict[str, str] = {}
    for content in contents:
        draft = Draft(content)
        names[content] = next((one.name for one in SCREEN_RULES if one.refuses(draft, context)), "")
    return names


@over("verdicts", VERDICTS, at_least=0.85)
def test_refused(verdicts: Verdicts) -> None:
    """Each of these facts is refused, and by this rule before any other."""
    assert len(verdicts.refused) >= 12
    assert told(verdicts.refused, verdicts) == dict.fromkeys(verdicts.refused, verdicts.rule)


@over("verdicts", VERDICTS, at_least=0.85)
def test_near_misses(verdicts: Verdicts) -> None:
    """No rule refuses a fact that only resembles what is refused."""
    assert len(verdicts.kept) >= 12
    assert told(verdicts.kept, verdicts) == dict.fromkeys(verdicts.kept, "")


WHOLE = ScreenContext(hook_settings())


@dataclass(frozen=True)
class Rescue:
    """A fact, and the reason for which it is refused under these valves and words, or ``None``."""

    id: str
    content: str
    reason: str | None
    valves: dict[str, Any] = field(default_factory=dict)
    words: str = ""
    draft: dict[str, Any] = field(default_factory=dict)


OVER = "it will soon be over"
BARRED = "it holds a word that your admin has ruled out"
TIRED = "User is tired today."
RESCUES = [
    Rescue("refused", TIRED, OVER),
    Rescue("filter off", TIRED, None, {"filter_transient_states": False}),
    Rescue("trivia off", "Water boils at 100 degrees.", None, {"filter_trivia": False}),
    Rescue("whitelisted", TIRED, None, {"whitelist_keywords": "mood, Tired"}),
    Rescue("other word whitelisted", TIRED, OVER, {"whitelist_keywords": "tire"}),
    Rescue(
        "blacklist holds against the whitelist",
        TIRED,
        BARRED,
        {"whitelist_keywords": "tired", "blacklist_topics": "tired"},
    ),
    Rescue(
        "length holds against the whitelist",
        "Tired",
        "shorter than 8 characters",
        {"whitelist_keywords": "tired"},
    ),
    Rescue(
        "whitelisted against doubt",
        TIRED,
        None,
        {"whitelist_keywords": "tired"},
        "",
        {"confidence": 0},
    ),
    Rescue(
        "whitelisted against its category",
        "User wants to run.",
        None,
        {"whitelist_keywords": "run", "enable_goal_memory": False},
        "",
        {"tags": ("goal",)},
    ),
    Rescue("asked for", TIRED, None, {}, "Remember that I'm tired today"),
    Rescue(
        "asked for trivia",
        "Water boils at 100 degrees.",
        None,
        {},
        "Remember: water boils at 100 degrees.",
    ),
    Rescue(
        "something else asked for", TIRED, OVER, {}, "So tired today! Remember that I like tea."
    ),
    Rescue(
        "asked for, and doubted",
        "User may move.",
        "the model is not sure (0.40)",
        {},
        "Remember that I may move.",
        {"confidence": 0.4},
    ),
    Rescue(
        "asked for, and barred",
        "User plays poker.",
        BARRED,
        {"blacklist_topics": "poker"},
        "Remember that I play poker",
    ),
    Rescue("first rule counts", "Poker?", BARRED, {"blacklist_topics": "poker"}),
    Rescue("one Han character is two letters", "用户喜欢茶", None),
    Rescue("a reason with the valve", "用户茶", "shorter than 8 characters"),
]


@over("case", RESCUES)
def test_rescues(case: Rescue) -> None:
    """Valves switch rules off; whitelist and request overrule those that yield to them."""
    context = ScreenContext(hook_settings(**case.valves), (), case.words)
    outcome = refusal(Operation("NEW", "", Draft(case.content, **case.draft)), context)
    assert (outcome.reason if outcome else None) == case.reason


def test_order_of_rules() -> None:
    """The table is in its stated order, and each rule names a valve that exists."""
    assert [rule.name for rule in SCREEN_RULES] == [
        "blacklist",
        "length",
        "confidence",
        "category",
        *(verdicts.rule for verdicts in VERDICTS[2:]),
    ]
    valves = set(hook_settings().model_dump())
    named = {rule.valve for rule in SCREEN_RULES}
    assert {f"enable_{one}_memory" for one in CATEGORIES} <= valves
    assert named - {"enable_<category>_memory"} <= valves


def test_restatement_is_for_new_facts() -> None:
    """An update may say less than what was shown; nothing is said of a deletion."""
    shown = ("User lives in Porto and Lisbon.",)
    lives = Draft("User lives in Porto.")
    context = ScreenContext(hook_settings(), (), "only the first one", shown)
    fresh = refusal(Operation("NEW", "", lives), context)
    assert fresh is not None
    assert (fresh.status, fresh.reason) == ("unchanged", "already known")
    assert refusal(Operation("UPDATE", "m", lives), context) is None
    assert refusal(Operation("DELETE", "m", lives), context) is None


def test_what_is_replaced_may_be_said_anew() -> None:
    """A shown memory that the batch deletes restates nothing."""
    operations = [delete("m-1"), new("The user likes tea.")]
    shown = [TEA.content, DOG.content]
    accepted, outcomes = screened(operations, [TEA, DOG], hook_settings(), "hm", shown)
    assert (accepted, outcomes) == (operations, [])
    accepted, outcomes = screened(operations[1:], [TEA, DOG], hook_settings(), "hm", shown)
    assert accepted == []
    assert [one.status for one in outcomes] == ["unchanged"]


def test_pasted_text_beside_own_words() -> None:
    """What was pasted is refused, what was typed beside it is kept."""
    words = "I moved to Porto.\n> From my friend: I live in Vienna with three parrots."
    facts = [new("User moved to Porto."), new("User lives in Vienna with three parrots.")]
    accepted, outcomes = screened(facts, [], hook_settings(), words)
    assert accepted == facts[:1]
    assert [one.reason for one in outcomes] == ["it stands only in what you quoted or pasted"]


def test_long_typed_text_leaves_doubt() -> None:
    """Of a very long text not every word is known, so nothing is taken for pasted."""
    words = "All is well here. " * 500 + "\n> I live in Vienna."
    assert refusal(new("User lives in Vienna."), ScreenContext(hook_settings(), (), words)) is None


@over(
    "text, listed, expected",
    [
        ("User likes tea", "TEA", True),
        ("User likes green tea", "green tea", True),
        ("User likes teal", "tea", False),
        ("User likes tea", "", False),
        ("User likes tea", " , ,", False),
        ("User likes C++", "c++", True),
        ("Straße", "STRASSE", True),
        ("ﬁre", "fire", True),
        ("喝绿茶", "茶", True),
        ("커피를", "커피", True),
        ("tea", "tea time", False),
        ("teatea tea", "tea", True),
    ],
    at_least=0.85,
)
def test_listed_words(text: str, listed: str, expected: bool) -> None:
    """Words stand alone where there are spaces; letter case and width never count."""
    assert holds_listed_word(text, listed) is expected


@given(st.text(max_size=500), st.text(max_size=200), st.text(max_size=100))
def test_any_fact(content: str, words: str, shown: str) -> None:
    """Any fact in any turn is judged, and a refusal has a reason."""
    context = ScreenContext(WHOLE.settings, (), words, (shown,))
    outcome = refusal(Operation("NEW", "", Draft(content)), context)
    assert outcome is None or outcome.reason


@over("sign", ["a ", "is ", "user ", "'", "疲", "です", "1 ", "-", "я "])
def test_long_facts(sign: str) -> None:
    """A fact of any length is judged: a long one leaves doubt."""
    content = f"User is tired {sign * 20000}"
    assert refusal(new(content), WHOLE) is None
