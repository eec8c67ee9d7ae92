"""A summary: what the model is asked, what is read of its reply, and what it must not lose."""

from __future__ import annotations

import contextlib
import json
import sys
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.errors import ReplyUnusable
from adaptive.learn.summary import (
    SUMMARY_SCHEMA,
    Summary,
    has_capitals,
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
    Reply("fenced, with prose around it", f"Here:\n```json\n{OBJECT}\n```\nAnything else?"),
    Reply("in a list", f"[{OBJECT}]"),
    Reply("the last one", f'<think>{{"summary": "draft", "complete": true}}</think>{OBJECT}'),
    Reply("another object after it", f'{OBJECT} {{"note": 1}}'),
    Reply("further fields", OBJECT.replace("{", '{"why": {"a": [1]}, ', 1)),
    Reply("not complete", OBJECT.replace("true", "false"), Summary("User has a cat.", False)),
    Reply("complete in words", '{"summary": "a", "complete": "true"}', Summary("a", False)),
    Reply("of another type", '{"summary": ["a"], "complete": true}', None),
    Reply("empty", "", None),
    Reply("a refusal", "I can't help with that.", None),
    Reply("other quotes", "{'summary': 'a', 'complete': true}", Summary("a", True)),
    Reply("nested too deep", '{"a":' * 5000 + "1" + "}" * 5000, None),
    Reply("brackets only", "{" * 60_000, None),
    Reply("a megabyte of spaces", OBJECT + " " * 2**20),
    Reply("a megabyte", "word " * 2**18 + OBJECT, None),
]


@pytest.mark.parametrize("case", REPLIES, ids=lambda case: case.id)
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
TWO = ["User has 2 sons.", "User's sons play chess with a coach."]
CLAIMS = [
    Claim("everything kept", CATS, GOOD),
    Claim("shared year", ["User moved in 2019.", "User married in 2019."], "User moved and married "
          "in 2019."),
    Claim("composed letters", ["User likes Cafe\u0301 Luz.", "User likes Bar Sol."],
          "User likes Café Luz and Bar Sol."),
    Claim("number changed", TWO, "User has 3 sons, who play chess with a coach.",
          "a number is missing"),
    Claim("one of two equal numbers lost", ["User owns 3 cats.", "User owns 3 dogs."],
          "User owns 3 cats and dogs.", "a number is missing"),
    Claim("name lost", CATS, GOOD.replace("Milo ", ""), "a name is missing"),
    Claim("name that opens a sentence", ["Ben is User's son.", "User's son plays chess."],
          "User's son plays chess.", "a name is missing"),
    Claim("negation lost", ["User doesn't eat meat.", "User eats fish."],
          "User eats meat and fish.", "a negation is missing"),
    Claim("one of two negations lost", ["User never drinks wine.", "User does not eat fish."],
          "User never drinks wine, eats fish.", "a negation is missing"),
    Claim("negation invented", ["User drinks wine.", "User eats fish."],
          "User drinks no wine, eats fish.", "it says more than the memories do"),
    Claim("name invented", CATS, GOOD.replace("year", "May"), "it says more than the memories do"),
    Claim("number invented", ["User likes tea a lot.", "User likes jam."],
          "User likes tea and 2 jam.", "it says more than the memories do"),
    Claim("memory left out", ["User likes hiking.", "User collects rare stamps at home."],
          "User likes hiking.", "a memory is left out"),
    Claim("not shorter", ["User has a cat.", "User's cat is old."],
          "User has a cat. User's cat is old, by now.", "it is not shorter than the memories"),
    Claim("empty", CATS, "", "it is empty"),
]  # fmt: skip


def refused(originals: list[str], summary: str) -> str:
    """Why a summary may not stand for these originals."""
    cluster = [memory(str(at), text) for at, text in enumerate(originals)]
    return refusal_of(Summary(summary, True), cluster)


@pytest.mark.parametrize("case", CLAIMS, ids=lambda case: case.id)
def test_refusal(case: Claim) -> None:
    """A summary stands for its originals only with every number, name and negation, and no more."""
    assert refused(case.originals, case.summary) == case.refusal


def test_models_own_doubt() -> None:
    """What the model itself calls incomplete is not believed."""
    assert refusal_of(Summary(GOOD, False), CAT) == "the model could not keep every fact"


def test_labelled_summaries() -> None:
    """Of labelled summaries those with a loss are refused, and most faithful ones are believed."""
    sets = json.loads((Path(__file__).parent / "summaries.json").read_text())
    believed = [one for one in sets["lossy"] if not refused(one["memories"], one["summary"])]
    doubted = [
        f"{why}: {one['summary']}"
        for one in sets["faithful"]
        if (why := refused(one["memories"], one["summary"]))
    ]
    misses = "\n".join(["believed:", *(one["summary"] for one in believed), "doubted:", *doubted])
    sys.stdout.write(misses)
    assert len(believed) <= 0.1 * len(sets["lossy"])
    assert len(doubted) <= 0.2 * len(sets["faithful"])


SENTENCES = st.lists(
    st.sampled_from(CATS + TWO + [claim.originals[0] for claim in CLAIMS]), min_size=2, max_size=5
)


@given(SENTENCES, st.data())
def test_words_that_are_dropped(texts: list[str], data: st.DataObject) -> None:
    """Originals one after the other lose nothing; without one of their names they do."""
    padded = [text + " " * 200 for text in texts]
    whole = unicodedata.normalize("NFKC", " ".join(texts))
    assert refused(padded, whole) == ""
    names = {"Milo", "Peters", "Royal", "Luz"} & set(whole.replace(".", "").split())
    if names:
        dropped = data.draw(st.sampled_from(sorted(names)))
        assert refused(padded, whole.replace(dropped, "")) == "a name is missing"


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_summary(original: str, summary: str) -> None:
    """Whatever stands in a memory or a summary, there is an answer."""
    assert isinstance(refused([original + "." * 300], summary), str)
    assert isinstance(has_capitals(original), bool)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("User lives in Porto.", True),
        ("Пользователь живёт в Москве.", True),
        ("用户住在北京。", False),
        ("User's friend is 李明.", False),
        ("المستخدم يعيش في القاهرة", False),
        ("12 %", False),
    ],
)
def test_scripts_without_capitals(text: str, expected: bool) -> None:
    """Where names have no capitals no check could find a lost one."""
    assert has_capitals(text) is expected


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
    cluster[0] = replace(cluster[0], until="2030-01-01")
    expected = Draft("text", ("goal", "preference"), "Work", 0.6, 8, "2030-01-01")
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
            {"id": "a", "created_at": 5, "said_at": 5},
            {"id": "b", "created_at": 9, "said_at": 7},
        ],
        "summarised_at": 99,
    }
    assert originals_of(memory("s", "a", meta=meta)) == {"a", "b"}


@pytest.mark.parametrize("value", [None, 5, {}, ["a", None, {}, {"id": None}]], ids=str)
def test_meta_that_anybody_wrote(value: object) -> None:
    """A row is no summary because its meta is odd."""
    assert originals_of(memory("s", "a", meta={"summary_of": value})) == frozenset()
