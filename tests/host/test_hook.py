"""Which kind of conversation a hook runs for, and titles and what to ask next in it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from adaptive.core.model import ConversationKind
from adaptive.host import stored_answer
from adaptive.host.hook import LEARNED_KINDS, RECALLED_KINDS, HostHook, conversation_kind
from tests.answer.hooks import Shelf
from tests.fakes import hook_settings
from tests.host.test_requests import running_request

CHAT = "3f1c8a5e-0000-4000-8000-000000000000"
PAGE: dict[str, Any] = {"chat_id": CHAT, "session_id": "socket-1", "message_id": "m"}
BY_HOST = {"user_message": {"role": "user", "meta": {"internal": True, "type": "timer"}}}


@pytest.mark.parametrize(
    ("metadata", "kind"),
    [
        ({**PAGE, "direct": True, "internal": False, "user_message": {"meta": {}}}, "saved"),
        ({**PAGE, "chat_id": "locality", "user_message": None}, "saved"),
        ({**PAGE, "chat_id": "local"}, "temporary"),
        ({**PAGE, "chat_id": "local:socket-1"}, "temporary"),
        ({**PAGE, "chat_id": f"temporary:{CHAT}"}, "temporary"),
        ({"chat_id": "channel:general"}, "channel"),
        ({"chat_id": 7, "session_id": [], "user_message": [7], "internal": "x"}, "api"),
        ({"chat_id": CHAT, "session_id": None}, "api"),
        ({**PAGE, "session_id": "automation:1"}, "automation"),
        ({"chat_id": "channel:c", "automation_id": "a"}, "automation"),
        ({**PAGE, "internal": True}, "subagent"),
        ({**PAGE, "chat_id": "local:s", **BY_HOST}, "timer"),
    ],
)
def test_conversation_kind(metadata: dict[str, Any], kind: ConversationKind) -> None:
    """Metadata of every release tells the kind of conversation."""
    assert conversation_kind(metadata) == kind


def test_who_reads_and_who_writes() -> None:
    """Only the user's own words are learned, and nobody else reads the memories."""
    assert {"saved", "shared"} == LEARNED_KINDS
    assert not RECALLED_KINDS & {"channel", "shared", "subagent", "temporary"}


ASKED = "When did I move to Porto, and was my sister there?"
OURS = "Moving to Porto"


@dataclass(frozen=True)
class Case:
    """How a host and its user stand to titles and suggestions, and what comes of ours."""

    id: str
    titled: bool
    suggested: bool
    standing: tuple[str | None, ...] = ("New Chat", ASKED)
    host_makes_them: bool | None = False
    interface: dict[str, Any] = field(default_factory=dict[str, Any])
    owner: str = "ada"


class Chats:
    """The chats of a host since 0.12, of which one is there."""

    def __init__(self, case: Case) -> None:
        self.owner, self.standing, self.title = case.owner, list(case.standing), ""

    async def get_accessible_chat_by_id(self, chat_id: str, user_id: str) -> None:
        """Only that it is there counts."""

    async def is_chat_owner(self, chat_id: str, user_id: str) -> bool:
        """Whether the chat is the user's."""
        return user_id == self.owner

    async def get_chat_by_id(self, chat_id: str) -> object:
        """The chat."""
        return self

    async def get_chat_title_by_id(self, chat_id: str) -> str | None:
        """The next title; the last one stays."""
        return self.standing.pop(0) if len(self.standing) > 1 else self.standing[0]

    async def update_chat_title_by_id(self, chat_id: str, title: str) -> object:
        """Another title."""
        self.title = title
        return self


NONE_WANTED = {"title": {"auto": False}, "autoFollowUps": False}


@pytest.mark.parametrize(
    "case",
    [
        Case("the first message stood there", True, True),
        Case("nothing stands there", True, True, ("New Chat",)),
        Case("somebody has chosen one", False, True, ("New Chat", "My trip")),
        Case("the chat is gone", False, True, (None,)),
        Case("the host makes them", False, False, host_makes_them=True),
        Case("the host does not tell", False, False, host_makes_them=None),
        Case("the user wants none", False, False, interface=NONE_WANTED),
        Case("somebody else's chat", False, True, owner="bob"),
    ],
    ids=lambda case: case.id,
)
async def test_titles_and_what_to_ask_next(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours are stored and shown where nobody else makes any, and the user refuses none."""
    chats, shelf, request = Chats(case), Shelf(ASKED), running_request()
    monkeypatch.setitem(sys.modules, "open_webui.models.chats", SimpleNamespace(Chats=chats))
    monkeypatch.setattr(stored_answer, "_TITLE_LOOKS", (0, 0, 0))
    makes = case.host_makes_them
    request.app.state.config = SimpleNamespace(
        ENABLE_TITLE_GENERATION=makes, ENABLE_FOLLOW_UP_GENERATION=makes
    )

    class ShelfHook(HostHook):
        @property
        def stored_answer(self) -> stored_answer.HostAnswer:
            """The answer on the shelf."""
            return stored_answer.HostAnswer("c", "a", shelf.emit, shelf.change)

    user = {"id": "ada", "settings": {"ui": case.interface}}
    hook = ShelfHook(hook_settings(), user, {**PAGE, "chat_id": "c"}, request, shelf.emit, None)
    assert await hook.name_chat(OURS, [{"role": "user", "content": ASKED}]) is case.titled
    assert chats.title == (OURS if case.titled else "")
    assert shelf.events == ([{"type": "chat:title", "data": OURS}] if case.titled else [])
    assert await hook.suggest(["And then?"]) is case.suggested
    assert shelf.message.get("followUps") == (["And then?"] if case.suggested else None)
