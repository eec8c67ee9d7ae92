"""Small personal stores with questions about them: what a user has after the first few weeks.

LoCoMo's users have hundreds of memories and ask about people by name. These have one to a dozen and
speak of themselves. ``wanted`` holds the numbers of the memories that an answer needs; a question
without any has nothing to do with the store.
"""

# ruff: noqa: RUF001 - letters of other scripts are what it is about

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """A message and the memories it needs, none for an unrelated one."""

    text: str
    wanted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Person:
    """One user: what is remembered and what is asked."""

    name: str
    memories: tuple[str, ...]
    questions: tuple[Question, ...]


PEOPLE = (
    Person(
        "one fact",
        ("User's dog is called Biscuit.",),
        (
            Question("What is my dog called?", (0,)),
            Question("what's my dog's name", (0,)),
            Question("Suggest a birthday present for my dog", (0,)),
        ),
    ),
    Person(
        "three facts",
        (
            "User's dog is called Biscuit.",
            "User is allergic to peanuts.",
            "User lives in Lisbon.",
        ),
        (
            Question("What is my dog called?", (0,)),
            Question("Can I eat satay sauce?", (1,)),
            Question(
                "Is this snack safe for me? Ingredients: oats, sugar, peanut butter",
                (1,),
            ),
            Question("recommend a restaurant near me", (2,)),
            Question("What's the weather like where I live?", (2,)),
            Question("Where do I live?", (2,)),
        ),
    ),
    Person(
        "developer",
        (
            "User works as a backend developer at a bank in Frankfurt.",
            "User prefers Python over Java.",
            "User is learning Rust in the evenings.",
            "User uses a MacBook Pro with 32 GB of memory.",
            "User has a daughter named Ida who is four years old.",
            "User is vegetarian.",
            "User plays the cello.",
            "User's wife Johanna is a dentist.",
        ),
        (
            Question("What should I cook tonight?", (5,)),
            Question("Any ideas for a birthday gift for my daughter?", (4,)),
            Question("How old is Ida?", (4,)),
            Question("Which programming language do I like best?", (1,)),
            Question(
                "How is my progress in Rust supposed to continue, what should I learn next?",
                (2,),
            ),
            Question("Which laptop do I have?", (3,)),
            Question("What does my wife do for a living?", (7,)),
            Question("What instrument do I play?", (6,)),
            Question("Where do I work?", (0,)),
        ),
    ),
    Person(
        "runner",
        (
            "User is training for the Berlin marathon in September.",
            "User injured the left knee in March 2024.",
            "User drinks no alcohol.",
            "User's best friend is Tomás, who lives in Porto.",
            "User wants to lose five kilograms before summer.",
            "User drives a blue Skoda Octavia.",
            "User was born on 12 May 1988.",
            "User's mother has diabetes.",
            "User has a meeting with the landlord every first Monday.",
            "User is reading War and Peace.",
            "User likes answers to be short and without emojis.",
            "User takes a budget flight to Oslo on 3 July.",
        ),
        (
            Question("How old am I?", (6,)),
            Question("Make me a running plan for this week", (0, 1)),
            Question("my knee hurts again, what exercises can I do?", (1,)),
            Question("What dessert can I bake for my mum?", (7,)),
            Question("Which car do I drive?", (5,)),
            Question("Suggest a drink for the party on Friday", (2,)),
            Question("Who is Tomás?", (3,)),
            Question("When is my flight?", (11,)),
            Question("What book am I reading at the moment?", (9,)),
            Question("Where does my best friend live?", (3,)),
            Question("What diet would help me reach my weight goal?", (4,)),
        ),
    ),
    Person(
        "Deutsch",
        (
            "Der Nutzer wohnt in Graz.",
            "Der Hund des Nutzers heißt Bello.",
            "Der Nutzer verträgt keine Milchprodukte.",
            "Die Schwester des Nutzers heißt Klara und studiert Medizin.",
            "Der Nutzer spielt jeden Dienstag Volleyball.",
        ),
        (
            Question("Wie heißt mein Hund?", (1,)),
            Question("Was studiert meine Schwester?", (3,)),
            Question("An welchem Tag spiele ich Volleyball?", (4,)),
            Question("In welcher Stadt wohne ich?", (0,)),
        ),
    ),
    Person(
        "русский",
        (
            "У пользователя аллергия на арахис.",
            "Собаку пользователя зовут Шарик.",
            "Пользователь живёт в Казани.",
            "Пользователь работает учителем физики.",
            "Сестра пользователя живёт в Томске.",
        ),
        (
            Question("Как зовут мою собаку?", (1,)),
            Question("На что у меня аллергия?", (0,)),
            Question("Где живёт моя сестра?", (4,)),
        ),
    ),
    Person(
        "中文",
        (
            "用户的狗叫小白。",
            "用户对花生过敏。",
            "用户住在杭州。",
            "用户喜欢打篮球。",
            "用户的妹妹在北京读大学。",
        ),
        (
            Question("我的狗叫什么名字？", (0,)),
            Question("我对什么过敏？", (1,)),
            Question("我妹妹在哪里读大学？", (4,)),
        ),
    ),
    Person(
        "العربية",
        (
            "اسم كلب المستخدم هو ريكس.",
            "المستخدم لديه حساسية من الفول السوداني.",
            "المستخدم يعيش في القاهرة.",
            "أخت المستخدم تدرس الطب.",
        ),
        (
            Question("ما اسم كلبي؟", (0,)),
            Question("هل عندي حساسية من شيء؟", (1,)),
            Question("ماذا تدرس أختي؟", (3,)),
        ),
    ),
)

UNRELATED = (
    "Write a haiku about the moon",
    "What is 17 times 23?",
    "Refactor this function to use a dictionary instead of nested ifs",
    "Who was the first person on the moon?",
    "Translate 'good evening' into Japanese",
    "Explain how a hash table works",
    "Give me a synonym for 'brilliant'",
    "What's the boiling point of ethanol?",
    "Generate a regex that matches an ISO date",
    "Summarise the plot of Macbeth",
    "hi",
    "ok thanks",
    "Convert 5 miles to kilometres",
    "Why do cats purr?",
    "List five prime numbers above 100",
    "Which treaty ended the Thirty Years' War?",
    "Explain recursion to a child",
    "Write a limerick about a programmer",
    "Extract the phone numbers from this text: call 555-0134 or 555-0199",
    "What does HTTP status 418 mean?",
    "Was ist der Unterschied zwischen Masse und Gewicht?",
    "Schreibe ein kurzes Gedicht über den Regen",
    "Как решить квадратное уравнение?",
    "Напиши хокку о луне",
    "光的速度是多少？",
    "写一首关于月亮的诗",
    "ما هي أكبر مدينة في العالم؟",
    "اشرح نظرية فيثاغورس",
)
