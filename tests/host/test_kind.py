"""Which kind of conversation a hook runs for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.host.kind import LEARNED_KINDS, RECALLED_KINDS, conversation_kind
from adaptive.model import ConversationKind
from tests.rates import over

CHAT = "3f1c8a5e-0000-4000-8000-000000000000"
PAGE: dict[str, Any] = {"chat_id": CHAT, "session_id": "socket-1", "message_id": "m"}


@dataclass(frozen=True)
class Case:
    """Metadata as some release gives it, and the kind that it means."""

    id: str
    metadata: dict[str, Any]
    kind: ConversationKind


def by_host(kind: str) -> dict[str, Any]:
    """A message that the host wrote in the place of the user's."""
    return {"user_message": {"role": "user", "meta": {"internal": True, "type": kind}}}


CASES = [
    Case("saved chat", PAGE, "saved"),
    Case("saved chat in a folder", {**PAGE, "folder_id": "f"}, "saved"),
    Case("direct connection", {**PAGE, "direct": True}, "saved"),
    Case("regenerated", {**PAGE, "regeneration_message_id": "m"}, "saved"),
    Case("internal, but false", {**PAGE, "internal": False}, "saved"),
    Case("a user's message", {**PAGE, "user_message": {"role": "user", "meta": {}}}, "saved"),
    Case("a user's message without meta", {**PAGE, "user_message": {"role": "user"}}, "saved"),
    Case("no user's message", {**PAGE, "user_message": None}, "saved"),
    Case("temporary, first releases", {**PAGE, "chat_id": "local"}, "temporary"),
    Case("temporary, up to 0.10", {**PAGE, "chat_id": "local:socket-1"}, "temporary"),
    Case("temporary, from 0.11", {**PAGE, "chat_id": f"temporary:{CHAT}"}, "temporary"),
    Case("a chat that is called so", {**PAGE, "chat_id": "locality"}, "saved"),
    Case("channel", {**PAGE, "chat_id": "channel:general"}, "channel"),
    Case("channel without session", {"chat_id": "channel:general"}, "channel"),
    Case("API call, from 0.9", {"chat_id": "", "session_id": None, "message_id": ""}, "api"),
    Case("API call without anything", {}, "api"),
    Case("API call with None", {"chat_id": None, "session_id": None}, "api"),
    Case("API call for a chat", {"chat_id": CHAT, "session_id": None}, "api"),
    Case("socket without chat", {"chat_id": "", "session_id": "socket-1"}, "api"),
    Case("automation, by session", {**PAGE, "session_id": "automation:a-1"}, "automation"),
    Case("automation, from 0.12", {**PAGE, "automation_id": "a-1"}, "automation"),
    Case("sub-agent", {**PAGE, "internal": True}, "subagent"),
    Case(
        "sub-agent of an automation", {**PAGE, "internal": True, "automation_id": "a"}, "subagent"
    ),
    Case("sub-agent's result", {**PAGE, **by_host("subagent")}, "timer"),
    Case("timer", {**PAGE, **by_host("timer")}, "timer"),
    Case("timer in a temporary chat", {**PAGE, "chat_id": "local:s", **by_host("timer")}, "timer"),
    Case("automation in a channel", {"chat_id": "channel:c", "automation_id": "a"}, "automation"),
]


@over("case", CASES)
def test_conversation_kind(case: Case) -> None:
    """Metadata of every release tells the kind of conversation."""
    assert conversation_kind(case.metadata) == case.kind


def test_every_kind_has_a_case() -> None:
    """No kind is left out but ``shared``, which only the database knows."""
    assert {case.kind for case in CASES} == set(get_args(ConversationKind)) - {"shared"}


def test_only_the_users_own_words_are_learned() -> None:
    """What a program, another person or another model wrote is no source of memories."""
    assert {"saved", "shared"} == LEARNED_KINDS


def test_nobody_else_reads_memories() -> None:
    """Where other people read along, and in a sub-agent's prompt, there are none."""
    assert not RECALLED_KINDS & {"channel", "shared", "subagent", "temporary"}


@settings(deadline=None)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            name: st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())
            for name in ("chat_id", "session_id", "internal", "automation_id", "user_message")
        },
    )
)
def test_any_metadata(metadata: dict[str, Any]) -> None:
    """Metadata of any shape is of some kind."""
    assert conversation_kind(metadata) in get_args(ConversationKind)
