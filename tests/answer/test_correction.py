"""Answers cleaned in the outlet, and their links checked and corrected behind it."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from aiohttp import web
from fastapi import FastAPI, Request

from adaptive.answer.correction import AnswerCorrection
from adaptive.answer.links import LinkRules, is_public_address
from adaptive.filter import Filter
from adaptive.host.answer_note import StoredAnswer
from adaptive.host.hook import Hook
from adaptive.host.locked_chat import MessageChange
from adaptive.turn_state import turn_state
from adaptive.valves import Valves
from tests.fakes import hook_settings

STRAY = "It is tea.<|im_end|>"
CLEAN = "It is tea."
FACT = '{"answer": 42}'
SAVED = {"chat_id": "c", "message_id": "a", "user_message_id": "u", "session_id": "s"}
# All of 127/8 is this machine: one address plays the internet, the other one is loopback.
OUTSIDE, INSIDE = "127.77.0.1", "127.0.0.1"
SEARCH = "https://search.example/?q=%s"


def a_hook(metadata: dict[str, Any] | None = None, emitter: Any = None, **valves: Any) -> Hook:
    """A hook of Ada's in a saved chat."""
    request = Request({"type": "http", "headers": [], "app": FastAPI()})
    metadata = dict(SAVED if metadata is None else metadata)
    valves = {"link_search_address": SEARCH, **valves}
    return Hook(hook_settings(**valves), {"id": "ada"}, metadata, request, emitter, None)


def answered(content: object, **fields: Any) -> dict[str, Any]:
    """An outlet's body that ends with this answer."""
    question = {"id": "u", "role": "user", "content": f"Tea? {STRAY}"}
    earlier = {"id": "e", "role": "assistant", "content": STRAY}
    answer = {"id": "a", "role": "assistant", "content": content, **fields}
    return {"id": "a", "chat_id": "c", "messages": [earlier, question, answer]}


def output(*texts: str) -> list[dict[str, Any]]:
    """Items of output that say this, with a call of a tool before."""
    items = [{"type": "message", "content": [{"type": "output_text", "text": t}]} for t in texts]
    return [{"type": "function_call", "name": "look", "arguments": "</s>"}, *items]


def the_answers(**fields: Any) -> AnswerCorrection:
    """Answers on their own."""
    return AnswerCorrection(asyncio.Semaphore(1), **fields)


# --- cleaning -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """An answer as the outlet gets it, and as it goes back."""

    id: str
    content: object
    clean: object
    anomalies: tuple[str, ...] = ("sanitised",)


DIRTY = [
    Case("a mark", STRAY, CLEAN),
    Case("runaway JSON", f"Tea. {FACT} {FACT} {FACT}", "Tea. "),
    Case("nothing else", "<|im_end|>", "", ("sanitised", "empty_response")),
    Case("a list of parts", [{"type": "text", "text": STRAY}], [{"type": "text", "text": CLEAN}]),
    Case("long", f"{'Tea. ' * 10_000}{STRAY}", f"{'Tea. ' * 10_000}{CLEAN}"),
]


@pytest.mark.parametrize("case", DIRTY, ids=lambda case: case.id)
async def test_cleaned(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    """The last answer goes back clean, earlier messages as they were; it is counted, not quoted."""
    hook, body = a_hook(), answered(case.content)
    before = copy.deepcopy(body)
    with caplog.at_level(logging.DEBUG):
        out = await the_answers().cleaned(hook, body)
    assert body == before
    *earlier, answer = body["messages"]
    assert out == {**body, "messages": [*earlier, {**answer, "content": case.clean}]}
    assert turn_state(hook.metadata).get("anomalies") == list(case.anomalies)
    (record,) = (one for one in caplog.records if one.name.startswith("adaptive_memory"))
    assert record.levelno == logging.INFO
    assert record.getMessage() == f"anomalies of an answer: {', '.join(case.anomalies)}"


async def test_all_forms() -> None:
    """Items of output are cleaned with the content; calls of tools stay."""
    body = answered(f"One.\n{CLEAN}</s>", output=output("One.</s>", f"{CLEAN}</s>"))
    out = await the_answers().cleaned(a_hook(), body)
    assert out["messages"][-1]["output"] == output("One.", CLEAN)
    out = await the_answers().cleaned(a_hook(), answered("", output=output(STRAY)))
    assert out["messages"][-1] == {**answered("")["messages"][-1], "output": output(CLEAN)}


UNTOUCHED = [
    answered(CLEAN),
    answered("  \tTea  \r\n\r\nand `</s>`.  \n"),
    answered(f"```\n{STRAY}\n```", output=output(f"```\n{STRAY}\n```")),
    answered([{"type": "image_url"}, {"type": "text", "text": CLEAN}]),
    {"messages": [{"role": "user", "content": STRAY}]},
    {"messages": [*answered(CLEAN)["messages"], {"role": "user", "content": STRAY}]},
    {"messages": []},
    {"messages": None},
    {"messages": ["odd"]},
    {},
]


@pytest.mark.parametrize("body", UNTOUCHED)
async def test_clean_is_untouched(body: dict[str, Any]) -> None:
    """What is clean, and what is no answer, is given back as the same object, uncounted."""
    hook, before = a_hook(), copy.deepcopy(body)
    assert await the_answers().cleaned(hook, body) is body
    assert body == before
    assert "anomalies" not in turn_state(hook.metadata)


@pytest.mark.parametrize("content", ["", " \n", None, [], '<details type="x">\n</details>\n'])
async def test_empty(content: object) -> None:
    """An answer that says nothing is counted, after others of the turn, and not changed."""
    hook, body = a_hook(), answered(content)
    turn_state(hook.metadata)["anomalies"] = ["retried"]
    assert await the_answers().cleaned(hook, body) is body
    assert turn_state(hook.metadata).get("anomalies") == ["retried", "empty_response"]


async def test_off() -> None:
    """Switched off, nothing is changed or counted."""
    hook, body = a_hook(clean_answers=False), answered("<|im_end|>", output=output(STRAY))
    assert await the_answers().cleaned(hook, body) is body
    assert "anomalies" not in turn_state(hook.metadata)


async def test_placeholders_are_restored_first() -> None:
    """What cleaning sees of a redacted turn is the answer with its values."""
    plugin = Filter()
    plugin.valves = Valves(pii_redaction="all")
    plugin._supported = True
    metadata: dict[str, Any] = {"chat_id": "", "message_id": "a"}
    told: dict[str, Any] = {
        "__user__": {"id": "ada"},
        "__request__": a_hook().request,
        "__metadata__": metadata,
    }
    await plugin.inlet(
        {"messages": [{"role": "user", "content": "I am ana@example.org."}]},
        __metadata__=metadata,
    )
    out = await plugin.outlet(answered("Hi [EMAIL_1].<|im_end|>"), **told)
    assert out["messages"][-1]["content"] == "Hi ana@example.org."
    assert turn_state(metadata).get("anomalies") == ["sanitised"]
    for task in list(plugin._tasks):
        await task


# --- links ----------------------------------------------------------------------------------------


@dataclass
class Site:
    """A running server and the paths it was asked for."""

    port: int = 0
    asked: list[str] = field(default_factory=list)

    def link(self, path: str, host: str = OUTSIDE) -> str:
        """A link that says the path."""
        return f"[{path}](http://{host}:{self.port}/{path})"


@asynccontextmanager
async def site(host: str = OUTSIDE, held: asyncio.Event | None = None) -> AsyncIterator[Site]:
    """A server whose pages answer with the status they are named after, when ``held`` is set."""
    running = Site()

    async def page(request: web.Request) -> web.StreamResponse:
        """The status that stands in the path."""
        running.asked.append(request.path)
        if held:
            await held.wait()
        return web.Response(status=int(request.path.strip("/")))

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", page)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host, 0).start()
    running.port = runner.addresses[0][1]
    try:
        yield running
    finally:
        await runner.cleanup()


class Shelf:
    """One stored answer, as a host keeps it, and what its pages were shown."""

    def __init__(self, content: str, **fields: Any) -> None:
        self.message: dict[str, Any] = {"id": "a", "role": "assistant", "content": content}
        self.message.update(done=True, **fields)
        self.writes = 0
        self.slow = False
        self.events: list[dict[str, Any]] = []

    async def change(
        self, chat_id: str, message_id: str, change: MessageChange
    ) -> dict[str, Any] | None:
        """Read, change and write, with a pause between where others may write."""
        assert (chat_id, message_id) == ("c", "a")
        fields = change(copy.deepcopy(self.message))
        if self.slow:
            await asyncio.sleep(0.01)
        if fields is not None:
            self.message.update(fields)
            self.writes += 1
        return fields

    async def emit(self, event: dict[str, Any]) -> None:
        """Show an event."""
        self.events.append(event)

    def stored(self, hook: Hook) -> StoredAnswer:
        """The answer of a hook's turn."""
        return StoredAnswer(hook.chat_id, str(hook.metadata["message_id"]), self.emit, self.change)

    async def add_note(self) -> bool:
        """Add a line below the answer."""
        return await StoredAnswer("c", "a", self.emit, self.change).add_note("Memory saved.")


RULES = LinkRules(is_public=lambda address: address == OUTSIDE or is_public_address(address))


def checking(shelf: Shelf, **changed: Any) -> AnswerCorrection:
    """Correction that asks what these tests call the internet, without waiting for the host."""
    rules = replace(RULES, **changed)
    return the_answers(rules=rules, stored=shelf.stored, stored_seconds=0)


def searching(text: str) -> str:
    """A link that was broken."""
    return f"[{text}]({SEARCH.replace('%s', text)})"


async def checked(
    shelf: Shelf, answer: str | None = None, answers: AnswerCorrection | None = None
) -> None:
    """Let the links of an answer be checked as the outlet does it."""
    hook = a_hook(validate_links=True)
    answers = answers or checking(shelf)
    said = answers.with_links(hook, answered(answer or shelf.message["content"]))
    if said:
        await answers.correct_links(hook, said)


async def test_broken_links_become_searches() -> None:
    """A link that is not there leads to a search then, stored and shown once; others stay."""
    async with site() as there:
        rest = " ".join(map(there.link, ("200", "500", "429", "408")))
        shelf = Shelf(f"{there.link('404')} {rest}")
        await checked(shelf)
    said = f"{searching('404')} {rest}"
    assert (shelf.message["content"], shelf.writes) == (said, 1)
    shown = {"id": "a", "content": said}
    assert shelf.events == [{"type": "chat:outlet", "data": {"messages": [shown]}}]


async def test_output_is_corrected() -> None:
    """Where a host keeps items of output, links are corrected there, too."""
    async with site() as there:
        text = f"See {there.link('410')}."
        shelf = Shelf("", output=output(text))
        await checked(shelf, text)
    assert shelf.message["output"] == output(f"See {searching('410')}.")


async def test_nothing_broken() -> None:
    """Where all is well nothing is written or shown."""
    async with site() as there:
        shelf = Shelf(f"{there.link('200')} {there.link('503')}")
        await checked(shelf)
        assert there.asked
    assert (shelf.writes, shelf.events) == (0, [])


async def test_private_addresses_are_never_asked(caplog: pytest.LogCaptureFixture) -> None:
    """A link into our own network gets no request, stays as it is, and nobody is told."""
    async with site(INSIDE) as inner:
        hosts = [INSIDE, "localhost", "[::ffff:127.0.0.1]", "127.1", "2130706433", "0.0.0.0"]
        shelf = Shelf(" ".join(inner.link("404", host) for host in hosts))
        with caplog.at_level(logging.INFO):
            await checked(shelf)
        assert inner.asked == []
    assert (shelf.writes, shelf.events) == (0, [])
    assert not [one for one in caplog.records if one.name.startswith("adaptive_memory")]


async def test_links_that_tell_something_are_not_asked() -> None:
    """An address with a secret or personal data in it is not called: that would hand it over."""
    async with site() as there:
        base = f"http://{OUTSIDE}:{there.port}"
        addresses = [
            f"{base}/404?to=ana@example.org",
            f"{base}/404?to=ana%40example.org",
            f"{base}/404?token=8f3kdJ29slwPq0aZx81LmNv4",
        ]
        shelf = Shelf(" ".join(f"[x]({one})" for one in addresses))
        await checked(shelf)
        assert (there.asked, shelf.writes) == ([], 0)


async def test_bounded_number() -> None:
    """Of very many links the first ones are asked."""
    async with site() as there:
        base = f"http://{OUTSIDE}:{there.port}/404"
        shelf = Shelf(" ".join(f"[x]({base}?page={number})" for number in range(60)))
        await checked(shelf)
        assert len(there.asked) == 2 * RULES.most
    assert shelf.message["content"].count("search.example") == RULES.most


def edited(message: dict[str, Any]) -> None:
    message["content"] += " And milk."


def regenerated(message: dict[str, Any]) -> None:
    message.update(content="", done=False)


def continued(message: dict[str, Any]) -> None:
    message.update(done=False)


def gone(message: dict[str, Any]) -> None:
    message.clear()


def failed(message: dict[str, Any]) -> None:
    message.update(error={"content": "no model"})


@pytest.mark.parametrize("change", [edited, regenerated, continued, gone, failed])
async def test_changed_meanwhile(change: Callable[[dict[str, Any]], None]) -> None:
    """If the answer was edited, is written anew or is gone while links are asked, it stays so."""
    held = asyncio.Event()
    async with site(held=held) as there:
        shelf = Shelf(f"See {there.link('404')}.")
        task = asyncio.create_task(checked(shelf))
        while not there.asked:
            await asyncio.sleep(0.01)
        change(shelf.message)
        before = copy.deepcopy(shelf.message)
        held.set()
        await task
    assert (shelf.message, shelf.writes, shelf.events) == (before, 0, [])


async def test_edited_before() -> None:
    """An answer that is stored otherwise than it was given is not even checked."""
    async with site() as there:
        shelf = Shelf(f"My own: {there.link('404')}")
        await checked(shelf, f"See {there.link('404')}.")
        assert (there.asked, shelf.writes) == ([], 0)


async def test_other_filters_may_add() -> None:
    """What another filter has put below the answer, and how the host sets spaces, is no edit."""
    async with site() as there:
        shelf = Shelf(f"See\n\n{there.link('404')}.\n\n*Answered by us.*")
        await checked(shelf, f"See\n{there.link('404')}.")
    assert shelf.message["content"] == f"See\n\n{searching('404')}.\n\n*Answered by us.*"


@pytest.mark.parametrize("first", ["note", "links"])
@pytest.mark.parametrize("where", ["content", "output"])
async def test_with_a_line_below(first: str, where: str) -> None:
    """A line below the answer and corrected links come together, in either order and at once."""
    held = asyncio.Event()
    writing = asyncio.Semaphore(1)
    async with site(held=held) as there:
        text = f"See {there.link('404')}."
        shelf = Shelf(text) if where == "content" else Shelf("", output=output(text))
        shelf.slow = True
        answers = AnswerCorrection(writing, RULES, shelf.stored, 0)

        async def note() -> None:
            """As learning does it."""
            async with writing:
                assert await shelf.add_note()

        links = asyncio.create_task(checked(shelf, text, answers))
        while not there.asked:
            await asyncio.sleep(0.01)
        if first == "note":
            await note()
            held.set()
        else:
            held.set()
            while not writing.locked() and not links.done():
                await asyncio.sleep(0)
            await note()
        await links
    assert shelf.writes == 2
    for form in (where, "content"):
        if shelf.message[form]:
            assert "search.example" in str(shelf.message[form])
            assert OUTSIDE not in str(shelf.message[form])
            assert "Memory saved." in str(shelf.message[form])


@pytest.mark.parametrize(
    ("metadata", "valves", "content"),
    [
        (SAVED, {"validate_links": False}, "[x](https://example.com)"),
        ({**SAVED, "chat_id": "local:s"}, {}, "[x](https://example.com)"),
        ({**SAVED, "chat_id": "temporary:s"}, {}, "[x](https://example.com)"),
        ({}, {}, "[x](https://example.com)"),
        (SAVED, {}, "https://example.com"),
    ],
)
def test_not_wanted(metadata: dict[str, Any], valves: dict[str, Any], content: str) -> None:
    """Switched off, in chats that are not stored, and without links, there is nothing to do."""
    hook = a_hook(metadata, **{"validate_links": True, **valves})
    assert the_answers().with_links(hook, answered(content)) == ""


async def test_off_by_default() -> None:
    """Admins choose that their server asks linked sites."""
    assert the_answers().with_links(a_hook(), answered("[x](https://example.com)")) == ""


async def test_few_at_a_time(caplog: pytest.LogCaptureFixture) -> None:
    """One answer is checked at a time; of a hundred that wait, no more are taken."""
    held = asyncio.Event()
    async with site(held=held) as there:
        shelf = Shelf(f"See {there.link('200')}.")
        answers = checking(shelf)
        tasks = [asyncio.create_task(checked(shelf, answers=answers)) for _ in range(103)]
        while not there.asked:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert len(there.asked) == 1
        assert sum(task.done() for task in tasks) == 3
        held.set()
        await asyncio.gather(*tasks)
        assert len(there.asked) == 100
    assert caplog.text.count("too many answers") == 0


async def test_cancelled() -> None:
    """A check that is stopped counts no longer."""
    held = asyncio.Event()
    async with site(held=held) as there:
        shelf = Shelf(f"See {there.link('404')}.")
        answers = checking(shelf)
        task = asyncio.create_task(checked(shelf, answers=answers))
        while not there.asked:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        held.set()
        await checked(shelf, answers=answers)
    assert shelf.writes == 1
