"""What of a message was typed, and what was pasted into it."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.quotation import typed_words, unpasted_words
from tests.rates import over

JOB = "I have worked as a barista for four years"
HOME = "I live in Cluj"
INGREDIENTS = "\n".join(f"ingredient{number}: 50 g" for number in range(30))


@dataclass(frozen=True)
class Case:
    """A message, and whether the fact in it was typed."""

    id: str
    message: str
    is_typed: bool


CASES = [
    Case("plain", JOB, True),
    Case("fence", f"fix it:\n```\n{JOB}\n```\n", False),
    Case("fence of tildes", f"~~~text\n{JOB}\n~~~", False),
    Case("fence that is not closed", f"```\n{JOB}", False),
    Case("fence within a longer one", f"````\n```\n{JOB}\n```\n````", False),
    Case("fence on one line", f"```{JOB}```", False),
    Case("behind a fence", f"```\nx = 1\n```\n{JOB}", True),
    Case("behind a fence on one line", f"```x```\n{JOB}", True),
    Case("code within a sentence", f"`x` is odd. {JOB}", True),
    Case("indented as code", f"    ```\n{JOB}", True),
    Case("block quote", f"> {JOB}\nfix it", False),
    Case("emoticon", f">.< {JOB}", True),
    Case("sentence in quotation marks", f'translate "{JOB}"', False),
    Case("German marks", f"\u201e{JOB}\u201c ist was?", False),
    Case(
        "Japanese marks",
        "\u300c来月から京都の病院で看護師として働きます\u300d",
        False,
    ),
    Case("mark that is not closed", f'the 27" screen. {JOB}', True),
    Case("between two inches", f'a 24" and {JOB} and a 27" screen', True),
    Case("mail", f"From: Jo <jo@example.org>\nSubject: Hi\n\n{JOB}", False),
    Case("mail by subject", f"Von: Jo\nBetreff: Hallo\n\n{JOB}", False),
    Case("mail by address", f"From: Jo\nTo: ana@example.org\n\n{JOB}", False),
    Case("mail in Japanese", f"差出人：Jo\n件名：こんにちは\n\n{JOB}", False),
    Case("mail in French", f"De : Jo\nObjet : Bonjour\n\n{JOB}", False),
    Case(
        "mail with bold headers",
        f"**From:** Jo\n**Subject:** Hi\n\n{JOB}",
        False,
    ),
    Case(
        "mail behind words",
        f"answer?\n\nFrom: Jo\nSubject: Hi\n\n{JOB}",
        False,
    ),
    Case(
        "mail right below words",
        f"Answer this:\nFrom: Jo\nSubject: Hi\n\n{JOB}",
        False,
    ),
    Case(
        "forwarded",
        f"----- Original Message -----\nSent: 2 May\nSubject: I\n\n{JOB}",
        False,
    ),
    Case(
        "all headers",
        f"Received: by mx\nFrom: j@x.org\nReferences: a\n  b\nSubject: I\n\n{JOB}",
        False,
    ),
    Case("before a mail", f"{JOB}\n\nFrom: Jo\nSubject: Hi\n\nYours", True),
    Case("no empty line", f"From: Jo\nSubject: Hi\n{JOB}", True),
    Case("recipe", f"{INGREDIENTS}\n\n{JOB}", True),
    Case(
        "recipe and an address",
        f"{INGREDIENTS}\n\n{JOB}. Write to me@example.org",
        True,
    ),
    Case("form", f"Name: Ioana\nTown: Cluj\n\n{JOB}", True),
    Case(
        "form with an address",
        f"Name: Ioana\nMail: ioana@example.org\n\n{JOB}",
        True,
    ),
    Case("form that says it", f"Name: Ioana\nWork: {JOB}\n\nhelp me", True),
    Case("itinerary", f"From: Cluj\nTo: Porto\nDate: 2 May\n\n{JOB}", True),
    Case("two headers apart", f"From: Jo\n\nSubject: Hi\n\n{JOB}", True),
    Case("one header twice", f"To: a@x.org\nTo: b@x.org\n\n{JOB}", True),
]


@over("case", CASES)
def test_typed_words(case: Case) -> None:
    """A fact in a fence, a block quote, a mail or quotation marks is not the user's own."""
    facts = (JOB, "来月から京都の病院で")
    assert (
        any(fact in typed_words(case.message) for fact in facts)
        is case.is_typed
    )


def test_titles_stay() -> None:
    """What is as short as a title stays, in any quotation marks."""
    for title in (
        '"Heat"',
        "\u201eDas Boot\u201c",
        "\u00abLa Strada\u00bb",
        "\u300c千と千尋\u300d",
    ):
        assert title in typed_words(f"my favourite film is {title}")


def test_quoted_sentences_stay_where_they_may_be_drafts() -> None:
    """Sentences in quotation marks are unpasted: they may be the user's own draft."""
    assert unpasted_words(f'"{JOB}", ok?') == f'"{JOB}", ok?'


@given(
    st.text(alphabet='ab \n`~>":@-\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d')
)
def test_nothing_is_made_up(message: str) -> None:
    """The typed words stand in the message, in their order, and line by line where unpasted."""
    signs = iter(message)
    assert all(
        sign in signs for sign in typed_words(message) if not sign.isspace()
    )
    assert all(
        typed in ("", line)
        for typed, line in zip(
            unpasted_words(message).split("\n"),
            message.split("\n"),
            strict=False,
        )
    )
