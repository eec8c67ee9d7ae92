"""What of a chat is embedded, and what has changed since."""

from __future__ import annotations

import uuid

from adaptive.conversation.history_units import (
    LONGEST_EMBEDDED,
    message_units,
    secretless_units,
    topic_unit,
    unit_changes,
    unit_id,
)
from adaptive.conversation.topics import topics_of
from tests.conversation.history_world import START, said

CHAT = (said("a", "Which team?"), said("b", "The Wolves!", "assistant"), said("c", "Great"))


def test_messages_and_pairs() -> None:
    """Each message is a unit, and so is each with the one before it."""
    found = message_units("ada", CHAT)
    assert [(one.kind, one.message_id, one.text) for one in found] == [
        ("message", "a", "Which team?"),
        ("message", "b", "The Wolves!"),
        ("exchange", "b", "Which team?\nThe Wolves!"),
        ("message", "c", "Great"),
        ("exchange", "c", "The Wolves!\nGreat"),
    ]
    assert [one.first for one in found] == [True, False, False, False, False]
    assert found[1].role == "assistant"
    assert found[1].said_at == START


def test_ids_are_uuids_of_the_user() -> None:
    """An id is a UUID that is the same again, and another one for another user."""
    ids = [one.id for one in message_units("ada", CHAT)]
    assert ids == [one.id for one in message_units("ada", CHAT)]
    assert not set(ids) & {one.id for one in message_units("bob", CHAT)}
    assert all(str(uuid.UUID(id_)) == id_ for id_ in ids)
    assert unit_id("ada", "topic", "c", "a") not in ids


def test_long_messages_are_cut() -> None:
    """What is embedded of a long message is bounded."""
    long = [said("a", "x " * 4000), said("b", "y " * 4000)]
    assert max(len(one.text) for one in message_units("ada", long)) < LONGEST_EMBEDDED + 40


def test_adding_changes_nothing_else() -> None:
    """A new message brings its own two units; an edit changes its own and the next pair."""
    known = {one.id: one.digest for one in message_units("ada", CHAT[:2])}
    added = unit_changes(message_units("ada", CHAT), known)
    assert [(one.kind, one.message_id) for one in added.upserted] == [
        ("message", "c"),
        ("exchange", "c"),
    ]
    assert added.deleted == ()
    known = {one.id: one.digest for one in message_units("ada", CHAT)}
    edited = (said("a", "Which club?"), *CHAT[1:])
    changed = unit_changes(message_units("ada", edited), known)
    assert [(one.kind, one.message_id) for one in changed.upserted] == [
        ("message", "a"),
        ("exchange", "b"),
    ]
    assert unit_changes(message_units("ada", CHAT), known).upserted == ()


def test_deleted_messages_go() -> None:
    """Units of messages that are gone are deleted, those of standing topics are kept."""
    topic = topic_unit("ada", topics_of(CHAT, START)[0], "They talk about a team.")
    units = message_units("ada", CHAT)
    known = {one.id: one.digest for one in (*units, topic)}
    changes = unit_changes(message_units("ada", CHAT[:2]), known, frozenset({topic.id}))
    assert set(changes.deleted) == {one.id for one in units if one.message_id == "c"}
    assert topic.id in unit_changes((), known).deleted
    assert topic.message_id == "a"


def test_topic_follows_its_words() -> None:
    """A topic's digest is that of its messages, whatever its summary says."""
    topic, other = topics_of(CHAT, START)[0], topics_of((*CHAT[:2], said("c", "Fine")), START)[0]
    assert topic_unit("ada", topic, "One.").digest == topic_unit("ada", topic, "Two.").digest
    assert topic_unit("ada", topic, "One.").digest != topic_unit("ada", other, "One.").digest


def test_secrets_are_not_embedded() -> None:
    """Secrets have a placeholder in each unit, those at a cut too; digests and ids stay."""
    key = "AKIA" + "QWERTYUIOPASDFGH"
    padding = "word " * (LONGEST_EMBEDDED * 2 // 15)
    chat = (*CHAT, said("d", f"{padding} my key is {key} {padding * 3}"), said("e", "Thanks"))
    units = message_units("ada", chat)
    bare = secretless_units(units, "ada", chat)
    assert [(one.id, one.digest) for one in bare] == [(one.id, one.digest) for one in units]
    assert not any("AKIA" in one.text for one in bare)
    assert [one.text for one in bare[:5]] == [one.text for one in units[:5]]
    topic = topic_unit("ada", topics_of(CHAT, START)[0], f"The key {key} was told.")
    assert key not in secretless_units([topic], "ada", CHAT)[0].text
