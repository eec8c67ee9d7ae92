"""A summary: what the model is asked, what is read of its reply, and what it must not lose."""

from __future__ import annotations

import contextlib
import json
import unicodedata
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.errors import ReplyUnusable
from adaptive.learn.particulars import contradict, particulars, tells_names
from adaptive.learn.summary import (
    SUMMARY_SCHEMA,
    Summary,
    originals_of,
    read_summary,
    refusal_of,
    summary_draft,
    summary_meta,
    summary_provenance,
    summary_request,
)
from adaptive.model import Draft, Memory, Provenance
from tests.fakes import memory
from tests.rates import over

CAT = [
    memory("a", "User's cat is called Milo."),
    memory("b", "User takes the cat to the vet Dr. Peters every year."),
    memory("c", "User's cat eats dry food from Royal Canin."),
]
GOOD = "User's cat Milo eats dry food from Royal Canin and goes to the vet Dr. Peters every year."


def test_what_the_model_is_asked() -> None:
    """The model sees the built-in prompt and the contents, one line each, without ids or dates."""
    odd = memory("d", "User's cat\n## Memories\nis  grey", created_at=1_700_000_000)
    request = summary_request([*CAT, odd], "")
    assert request.system.startswith("# Summarise memories\n")
    assert "$" not in request.system
    assert request.user.splitlines() == [
        "## Memories",
        *(f"- {one.content}" for one in CAT),
        "- User's cat ## Memories is grey",
    ]
    assert request.schema == SUMMARY_SCHEMA


def test_admins_own_prompt() -> None:
    """An admin's prompt replaces the built-in one; dollar signs in it stay."""
    assert summary_request(CAT, "# Mine, for $5").system == "# Mine, for $5"


OBJECT = json.dumps({"summary": " User  has\na cat. ", "complete": True})
WHOLE = Summary("User has a cat.", True)


@dataclass(frozen=True)
class Reply:
    """A reply of a model, and what is read of it; ``None`` where nothing can be."""

    id: str
    text: str
    expected: Summary | None = WHOLE


REPLIES = [
    Reply("clean", OBJECT),
    Reply("fenced", f"```json\n{OBJECT}\n```"),
    Reply("prose around", f"Here it is: {OBJECT} Anything else?"),
    Reply("in a list", f"[{OBJECT}]"),
    Reply("after reasoning", f"<think>Maybe {{a}}.</think>{OBJECT}"),
    Reply("the last one", f'<think>{{"summary": "draft", "complete": true}}</think>{OBJECT}'),
    Reply("another object after it", f'{OBJECT} {{"note": 1}}'),
    Reply("further fields", OBJECT.replace("{", '{"why": {"a": [1]}, ', 1)),
    Reply("not complete", OBJECT.replace("true", "false"), Summary("User has a cat.", False)),
    Reply("complete left out", '{"summary": "a"}', Summary("a", False)),
    Reply("complete in words", '{"summary": "a", "complete": "true"}', Summary("a", False)),
    Reply("empty summary", '{"summary": "", "complete": false}', Summary("", False)),
    Reply("cut off", OBJECT[:-1], None),
    Reply("cut off in the text", OBJECT[:20], None),
    Reply("of another type", '{"summary": ["a"], "complete": true}', None),
    Reply("a number", '{"summary": 5}', None),
    Reply("empty", "", None),
    Reply("a refusal", "I can't help with that.", None),
    Reply("other quotes", "{'summary': 'a', 'complete': true}", None),
    Reply("nested too deep", '{"a":' * 5000 + "1" + "}" * 5000, None),
    Reply("brackets only", "{" * 60_000, None),
    Reply("a megabyte", OBJECT + " " * 2**20, None),
]


@over("case", REPLIES)
def test_reply(case: Reply) -> None:
    """The last whole object with a summary is taken, nothing half is, and the rest is an error."""
    if case.expected is None:
        with pytest.raises(ReplyUnusable):
            read_summary(case.text)
    else:
        assert read_summary(case.text) == case.expected


@given(st.text() | st.text(alphabet='{}[]":,summary truefals\\n0', max_size=300))
def test_any_reply(text: str) -> None:
    """Whatever a model answers, there is a summary or the one error that says there is none."""
    with contextlib.suppress(ReplyUnusable):
        assert isinstance(read_summary(text), Summary)


@given(st.integers(0, len(OBJECT) - 1))
def test_reply_cut_anywhere(end: int) -> None:
    """A reply that was cut at any place is no summary: half a sentence would be kept as a fact."""
    with pytest.raises(ReplyUnusable):
        read_summary(OBJECT[:end])


@dataclass(frozen=True)
class Claim:
    """Originals, what a model made of them, and why it may not stand for them."""

    id: str
    originals: list[str]
    summary: str
    refusal: str = ""


CATS = [one.content for one in CAT]
TWO = ["User has two sons.", "User's sons play chess with a coach."]
CLAIMS = [
    Claim("everything kept", CATS, GOOD),
    Claim("case of a common word", ["Enjoys hiking a lot.", "Enjoys skiing."], "Enjoys hiking a "
          "lot, skiing."),
    Claim("numbers in words", TWO, "User has 2 sons, who play chess with a coach."),
    Claim("shared year", ["User moved in 2019.", "User married in 2019."], "User moved and married "
          "in 2019."),
    Claim("shared amount", ["User pays 12.50 for tea.", "User pays 12.50 for jam."],
          "User pays 12.50 for tea and for jam."),
    Claim("possessive", ["Anna's dog is old.", "Anna's cat is young."],
          "Anna has an old dog, a young cat."),
    Claim("composed letters", ["User likes Cafe\u0301 Luz.", "User likes Bar Sol."],
          "User likes Café Luz and Bar Sol."),
    Claim("German", ["Nutzer hat eine Katze.", "Nutzer hat einen Hund aus Bonn."],
          "Nutzer hat eine Katze, einen Hund aus Bonn."),
    Claim("Russian", ["Пользователь любит чай.", "Пользователь любит Тулу."],
          "Пользователь любит чай и Тулу."),
    Claim("number lost", ["User has 3 cats.", "User feeds the cats at noon."],
          "User has cats, fed at noon.", "a number is missing"),
    Claim("number changed", ["User has 3 cats.", "User feeds the cats at noon."],
          "User has 4 cats, fed at noon.", "a number is missing"),
    Claim("number in a longer one", ["User has 3 cats.", "User feeds the cats at noon."],
          "User has 31 cats, fed at noon.", "a number is missing"),
    Claim("one of two equal numbers lost", ["User owns 3 cats.", "User owns 3 dogs."],
          "User owns 3 cats and dogs.", "a number is missing"),
    Claim("number word lost", TWO, "User's sons play chess with a coach.", "a number is missing"),
    Claim("date lost", ["User runs.", "User ran a race on 5 March 2024."],
          "User runs and ran a race on 5 March.", "a number is missing"),
    Claim("name lost", CATS, GOOD.replace("Milo ", ""), "a name is missing"),
    Claim("name changed", CATS, GOOD.replace("Milo", "Mila"), "a name is missing"),
    Claim("name shortened", CATS, GOOD.replace("Royal Canin", "Royal C."), "a name is missing"),
    Claim("name that is a word", ["User's brother is Will.", "User's brother will come at noon."],
          "User's brother will come at noon.", "a name is missing"),
    Claim("name that opens a sentence", ["Ben is User's son.", "User's son plays chess."],
          "User's son plays chess.", "a name is missing"),
    Claim("acronym lost", ["User works at NASA as a clerk.", "User works late."],
          "User works late as a clerk.", "a name is missing"),
    Claim("name with a digit lost", ["User takes B12 daily.", "User takes iron daily."],
          "User takes iron daily.", "a number is missing"),
    Claim("negation lost", ["User does not eat meat.", "User eats fish."],
          "User eats meat and fish.", "a negation is missing"),
    Claim("negation of a verb lost", ["User doesn't eat meat.", "User eats fish."],
          "User eats meat and fish.", "a negation is missing"),
    Claim("name invented", CATS, GOOD.replace("year", "May"), "it says more than the memories do"),
    Claim("number invented", ["User likes tea a lot.", "User likes jam."],
          "User likes tea and 2 jam.", "it says more than the memories do"),
    Claim("memory left out", ["User likes hiking.", "User collects rare stamps at home."],
          "User likes hiking.", "a memory is left out"),
    Claim("other words for it", ["User likes hiking.", "User collects rare stamps at home."],
          "User likes hiking and philately.", "a memory is left out"),
    Claim("not shorter", ["User has a cat.", "User's cat is old."],
          "User has a cat. User's cat is old, by now.", "it is not shorter than the memories"),
    Claim("empty", CATS, "", "it is empty"),
]  # fmt: skip


@over("case", CLAIMS, at_least=0.95)
def test_refusal(case: Claim) -> None:
    """A summary stands for its originals only with every number, name and negation, and no more."""
    cluster = [memory(str(at), text) for at, text in enumerate(case.originals)]
    assert refusal_of(Summary(case.summary, True), cluster) == case.refusal


def test_models_own_doubt() -> None:
    """What the model itself calls incomplete is not believed."""
    assert refusal_of(Summary(GOOD, False), CAT) == "the model could not keep every fact"


SENTENCES = st.lists(
    st.sampled_from(CATS + TWO + [claim.originals[0] for claim in CLAIMS]), min_size=2, max_size=5
)


@given(SENTENCES, st.data())
def test_particulars_that_are_dropped(texts: list[str], data: st.DataObject) -> None:
    """Originals one after the other lose nothing; without one of their names they do."""
    cluster = [memory(str(at), text + " " * 200) for at, text in enumerate(texts)]
    whole = unicodedata.normalize("NFKC", " ".join(texts))
    assert refusal_of(Summary(whole, True), cluster) == ""
    names = sorted(particulars(whole).names)
    if names:
        dropped = data.draw(st.sampled_from(names))
        rest = " ".join(word for word in whole.split() if dropped not in word.casefold())
        assert refusal_of(Summary(rest, True), cluster)


@given(st.text(max_size=200), st.text(max_size=200))
def test_particulars_of_any_text(first: str, second: str) -> None:
    """Any text has particulars; it never contradicts itself, and two of them do so mutually."""
    one, other = particulars(first), particulars(second)
    assert not contradict(one, one)
    assert contradict(one, other) == contradict(other, one)
    assert isinstance(tells_names(first), bool)


@dataclass(frozen=True)
class Pair:
    """Two facts, and whether they may say different things of the same."""

    first: str
    second: str
    contradict: bool

    @property
    def id(self) -> str:
        """Both."""
        return f"{self.first} / {self.second}"


PAIRS = [
    Pair("User has two sons.", "User has three sons.", True),
    Pair("User weighs 80 kg.", "User weighs 75 kg.", True),
    Pair("User's rent is 900 euros.", "User pays a rent of 950 euros.", True),
    Pair("User is 34.", "User is 35.", True),
    Pair("User likes cats.", "User dislikes cats.", True),
    Pair("User eats meat.", "User does not eat meat.", True),
    Pair("User eats meat.", "User doesn't eat meat.", True),
    Pair("User drinks coffee.", "User no longer drinks coffee.", True),
    Pair("Nutzer isst Fleisch.", "Nutzer isst kein Fleisch.", True),
    Pair("User lives in Porto.", "User lives in Lisbon.", True),
    Pair("User lives in Porto.", "User moved to Lisbon.", True),
    Pair("User works at Siemens.", "User works as a baker.", True),
    Pair("User is married.", "User is divorced.", True),
    Pair("User's favourite colour is blue.", "User's favourite colour is green.", True),
    Pair("User's favourite colour is blue.", "User's favourite soup is ramen.", False),
    Pair("User lives in Porto.", "User lives in Porto near the river.", False),
    Pair("User lives in Porto.", "User's sister lives in Canada.", False),
    Pair("User owns a Yamaha guitar.", "User owns a Fender guitar.", False),
    Pair("User has two sons.", "User has two daughters.", False),
    Pair("User ran a race in 2019.", "User ran a race in 2019 in 58 minutes.", False),
    Pair("User does not eat meat.", "User's cat eats dry food.", False),
    Pair("User's knee hurts.", "User sees a doctor for the knee.", False),
    Pair("User works with Python.", "User works at Siemens.", False),
]


@over("pair", PAIRS, at_least=0.95)
def test_contradict(pair: Pair) -> None:
    """What may contradict each other in number, negation or a single attribute is told."""
    first, second = particulars(pair.first), particulars(pair.second)
    assert contradict(first, second) is pair.contradict
    assert contradict(second, first) is pair.contradict


@over(
    "text, expected",
    [
        ("User lives in Porto.", True),
        ("Пользователь живёт в Москве.", True),
        ("Ο χρήστης ζει στην Αθήνα.", True),
        ("用户住在北京。", False),
        ("User's friend is 李明.", False),
        ("المستخدم يعيش في القاهرة", False),
        ("12 %", False),
        ("", False),
    ],
    at_least=0.85,
)
def test_scripts_without_capitals(text: str, expected: bool) -> None:
    """Where names have no capitals no check could find a lost one."""
    assert tells_names(text) is expected


def member(id: str, *tags: str, at: int = 1, said_at: int | None = None, **fields: float) -> Memory:
    """A member of a cluster."""
    meta = {} if said_at is None else {"said_at": said_at, "chat_id": "c"}
    return Memory(id, "a", at, at + 1, tags, "Work", meta=meta, **fields)  # type: ignore[arg-type]


def test_draft() -> None:
    """A summary is as important as its weightiest original, as sure as its weakest, and tagged."""
    cluster = [
        member("a", "goal", importance=3, confidence=0.9),
        member("b", "goal", "preference", importance=8),
        member("c", "preference", confidence=0.6),
        member("d", "goal", "behavior"),
    ]
    expected = Draft("text", ("goal", "preference"), "Work", 0.6, 8)
    assert summary_draft(Summary("text", True), cluster) == expected


def test_draft_of_many_tags() -> None:
    """Where no tag is most originals' the commonest is taken, and none where there is none."""
    summary = Summary("text", True)
    mixed = [member("a", "goal"), member("b", "behavior"), member("c", "goal"), *map(member, "de")]
    assert summary_draft(summary, mixed).tags == ("goal",)
    assert summary_draft(summary, [member("a"), member("b")]).tags == ()


def test_provenance_and_meta() -> None:
    """A summary's meta has ids and dates of its originals; it was said when the newest was."""
    cluster = [member("a", at=5), member("b", at=9, said_at=7)]
    assert summary_provenance(cluster) == Provenance("", "", 7)
    meta = summary_meta(cluster, 99)
    assert meta == {
        "summary_of": [
            {"id": "a", "created_at": 5, "updated_at": 6, "said_at": 5},
            {"id": "b", "created_at": 9, "updated_at": 10, "said_at": 7},
        ],
        "summarised_at": 99,
    }
    assert originals_of(memory("s", "a", meta=meta)) == {"a", "b"}


@pytest.mark.parametrize("value", [None, 5, {}, ["a", None, {}, {"id": None}]], ids=str)
def test_meta_that_anybody_wrote(value: object) -> None:
    """A row is no summary because its meta is odd."""
    assert originals_of(memory("s", "a", meta={"summary_of": value})) == frozenset()
