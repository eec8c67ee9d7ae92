"""Replies with other names, other types and other values than asked for, and with other ids."""

from __future__ import annotations

import json
from typing import Any

from tests.llm.replies.case import (
    DOG,
    FORGET,
    LISBON,
    LISBON_ITEM,
    ReplyCase,
    delete,
    named,
    new,
    reply_of,
    update,
)

CHESS = "5d9c1e7a-2f3b-4c6d-8e90-a1b2c3d4e5f6"
SAID = "User lives in Lisbon."


def said(**fields: Any) -> str:
    """A reply with one new fact and these fields."""
    return reply_of({**LISBON_ITEM, **fields})


def item(**fields: Any) -> str:
    """A reply with one item of these fields alone."""
    return reply_of(fields)


NAMES = named(
    "name",
    [
        ReplyCase("op", item(op="NEW", content=SAID), (LISBON,)),
        ReplyCase("action", item(action="add", content=SAID), (LISBON,)),
        ReplyCase("event, as another product's", item(id="0", text=SAID, event="ADD"), (LISBON,)),
        ReplyCase("type for the operation", item(type="create", content=SAID), (LISBON,)),
        ReplyCase("type for the kind", said(type="META"), refused=("about the conversation",)),
        ReplyCase("type for the category", said(type="identity"), (new(SAID, tags=("identity",)),)),
        ReplyCase("memory", item(operation="NEW", memory=SAID), (LISBON,)),
        ReplyCase("memory for the id", item(operation="DELETE", memory="m-1"), (FORGET,)),
        ReplyCase(
            "an object under memory",
            item(operation="NEW", memory={"content": SAID, "tags": ["goal"]}),
            (new(SAID, tags=("goal",)),),
        ),
        ReplyCase("text", item(operation="NEW", text=SAID), (LISBON,)),
        ReplyCase("fact", item(operation="NEW", fact=SAID), (LISBON,)),
        ReplyCase(
            "new_content",
            item(operation="UPDATE", id="m-1", new_content="User likes coffee."),
            (update("m-1", "User likes coffee."),),
        ),
        ReplyCase("memory_id", item(operation="DELETE", memory_id="m-1"), (FORGET,)),
        ReplyCase("memoryId", item(operation="DELETE", memoryId="m-1"), (FORGET,)),
        ReplyCase("category", said(category="identity"), (new(SAID, tags=("identity",)),)),
        ReplyCase("bank", said(bank="Work"), (new(SAID, bank="Work"),)),
        ReplyCase(
            "capitals",
            item(Operation="NEW", Content=SAID, Tags=["goal"]),
            (new(SAID, tags=("goal",)),),
        ),
        ReplyCase("camel case", said(memoryBank="Work"), (new(SAID, bank="Work"),)),
        ReplyCase(
            "both names say the same",
            item(operation="NEW", op="new", content=SAID, text=SAID),
            (LISBON,),
        ),
        ReplyCase(
            "two names, two sentences",
            item(
                operation="UPDATE",
                id="m-1",
                content="User likes tea.",
                new_content="User likes coffee.",
            ),
            refused=("two different things in 'content'",),
        ),
        ReplyCase(
            "two names, two operations",
            item(operation="NEW", op="DELETE", content=SAID),
            refused=("two different things in 'operation'",),
        ),
        ReplyCase(
            "an action that is none",
            item(operation="NEW", action="moved house", content=SAID),
            (LISBON,),
        ),
        ReplyCase("no operation", item(content=SAID), (LISBON,)),
        ReplyCase(
            "no operation, but an id", item(id="m-1", content=SAID), refused=("whether to save",)
        ),
        ReplyCase(
            "one name twice",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon.", '
            '"content": "User has a dog."}]}',
            refused=("two different things in 'content'",),
        ),
        ReplyCase(
            "one name twice, saying the same",
            '{"operations": [{"operation": "NEW", "operation": "NEW", "content": "User '
            'lives in Lisbon."}]}',
            (LISBON,),
        ),
        ReplyCase(
            "two facts in one object",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon.", '
            '"operation": "DELETE", "id": "m-1"}]}',
            refused=("two different things in 'operation'",),
        ),
    ],
)

OPERATIONS = named(
    "operation",
    [
        ReplyCase("ADD", item(operation="ADD", content=SAID), (LISBON,)),
        ReplyCase("create_memory", item(operation="create_memory", content=SAID), (LISBON,)),
        ReplyCase(
            "modify", item(operation="modify", id="m-1", content=SAID), (update("m-1", SAID),)
        ),
        ReplyCase("remove", item(operation="Remove", id="m-1"), (FORGET,)),
        ReplyCase("with spaces", item(operation=" NEW ", content=SAID), (LISBON,)),
        ReplyCase("none", item(operation="NONE", id="m-1", content="User likes tea.")),
        ReplyCase(
            "no change", reply_of({"operation": "no_change", "id": "m-1"}, LISBON_ITEM), (LISBON,)
        ),
        ReplyCase(
            "unknown", item(operation="MERGE", id="m-1", content=SAID), refused=("whether to save",)
        ),
        ReplyCase(
            "the choice repeated",
            item(operation="NEW|UPDATE|DELETE", content=SAID),
            refused=("whether to save",),
        ),
        ReplyCase("a number", item(operation=1, content=SAID), refused=("whether to save",)),
        ReplyCase("null", item(operation=None, content=SAID), (LISBON,)),
        ReplyCase("null with an id", item(operation=None, id="m-1"), refused=("whether to save",)),
        ReplyCase("an empty object", '{"operations": [{}]}', refused=("no operation",)),
        ReplyCase(
            "numbers in the list",
            '{"operations": [1, null, true]}',
            refused=("no operation",),
        ),
    ],
)

IDS = named(
    "id",
    [
        ReplyCase("not offered", item(operation="DELETE", id="m-9"), refused=("not shown",)),
        ReplyCase(
            "made up for an update",
            item(operation="UPDATE", id="1", content=SAID),
            refused=("not shown",),
        ),
        ReplyCase(
            "absent from an update",
            item(operation="UPDATE", content="User likes coffee."),
            refused=("not shown",),
        ),
        ReplyCase("absent from a deletion", item(operation="DELETE"), refused=("not shown",)),
        ReplyCase("null", item(operation="DELETE", id=None), refused=("not shown",)),
        ReplyCase("empty", item(operation="DELETE", id=""), refused=("not shown",)),
        ReplyCase(
            "a sentence in a deletion",
            item(operation="DELETE", content="User likes tea."),
            refused=("not shown",),
        ),
        ReplyCase("a number", item(operation="DELETE", id=7), (delete("7"),)),
        ReplyCase(
            "a number that was not offered", item(operation="DELETE", id=8), refused=("not shown",)
        ),
        ReplyCase("a fraction", item(operation="DELETE", id=7.5), refused=("is no id",)),
        ReplyCase("true", item(operation="DELETE", id=True), refused=("is no id",)),
        ReplyCase("a list", item(operation="DELETE", id=["m-1", "m-2"]), (FORGET, delete("m-2"))),
        ReplyCase(
            "a list with one not shown",
            item(operation="DELETE", id=["m-1", "m-9"]),
            (FORGET,),
            ("not shown",),
        ),
        ReplyCase(
            "a list of lists", item(operation="DELETE", id=[["m-1"], []]), refused=("is no id",)
        ),
        ReplyCase(
            "several of a change",
            item(operation="UPDATE", id=["m-1", "m-2"], content=SAID),
            refused=("is no id",),
        ),
        ReplyCase(
            "several as one text", item(operation="DELETE", id="m-1, m-2"), (FORGET, delete("m-2"))
        ),
        ReplyCase(
            "several, one not shown",
            item(operation="DELETE", id="m-1, m-9"),
            refused=("not shown",),
        ),
        ReplyCase(
            "under its plural",
            item(operation="DELETE", ids=["m-1", "m-2"]),
            (FORGET, delete("m-2")),
        ),
        ReplyCase("a list of one", item(operation="DELETE", id=["m-1"]), (FORGET,)),
        ReplyCase("an object", item(operation="DELETE", id={"id": "m-1"}), (FORGET,)),
        ReplyCase("with a fraction", item(operation="DELETE", id=7.0), (delete("7"),)),
        ReplyCase(
            "as the whole line shows it",
            item(operation="DELETE", id="id=m-1 | User likes tea."),
            (FORGET,),
        ),
        ReplyCase("with spaces", item(operation="DELETE", id=" m-1 "), (FORGET,)),
        ReplyCase("as the list shows it", item(operation="DELETE", id="id=m-1"), (FORGET,)),
        ReplyCase("in brackets", item(operation="DELETE", id="[m-1]"), (FORGET,)),
        ReplyCase("in capitals", item(operation="DELETE", id=CHESS.upper()), (delete(CHESS),)),
        ReplyCase(
            "the beginning of one", item(operation="DELETE", id=CHESS[:8]), refused=("not shown",)
        ),
        ReplyCase(
            "of another's memory", item(operation="DELETE", id="../m-1"), refused=("not shown",)
        ),
        ReplyCase("on a new fact", said(id="m-1"), (LISBON,)),
        ReplyCase(
            "good among bad",
            reply_of(
                {"operation": "DELETE", "id": "m-9"},
                {"operation": "DELETE", "id": "m-1"},
                {"operation": "UPDATE", "id": "m-8", "content": "x y"},
            ),
            (FORGET,),
            ("not shown", "not shown"),
        ),
    ],
)

VALUES = named(
    "value",
    [
        ReplyCase(
            "content is a number",
            item(operation="NEW", content=5),
            refused=("sentence is no text",),
        ),
        ReplyCase(
            "content is a list",
            item(operation="NEW", content=[SAID]),
            (new(SAID),),
        ),
        ReplyCase(
            "content is a list of two",
            item(operation="NEW", content=[SAID, SAID]),
            refused=("sentence is no text",),
        ),
        ReplyCase(
            "content is an object",
            item(operation="NEW", content={"text": SAID}),
            (new(SAID),),
        ),
        ReplyCase(
            "content is an object of two",
            item(operation="NEW", content={"subject": "User", "text": SAID}),
            refused=("sentence is no text",),
        ),
        ReplyCase(
            "content is left open",
            item(operation="NEW", content="User lives in ..."),
            refused=("empty fact",),
        ),
        ReplyCase(
            "content is true", item(operation="NEW", content=True), refused=("sentence is no text",)
        ),
        ReplyCase("content is null", item(operation="NEW", content=None), refused=("empty fact",)),
        ReplyCase(
            "content is blank", item(operation="NEW", content=" \n "), refused=("empty fact",)
        ),
        ReplyCase("content is a stop", item(operation="NEW", content="."), refused=("empty fact",)),
        ReplyCase(
            "content is the prompt's",
            item(operation="NEW", content="<one sentence>"),
            refused=("empty fact",),
        ),
        ReplyCase(
            "content without end",
            item(operation="NEW", content="x" * 4001),
            refused=("longer than 4000",),
        ),
        ReplyCase(
            "content in two lines",
            item(operation="NEW", content="User lives\n in  Lisbon."),
            (LISBON,),
        ),
        ReplyCase(
            "an update without content", item(operation="UPDATE", id="m-1"), refused=("empty fact",)
        ),
        ReplyCase(
            "tags as a text", said(tags="identity, goal"), (new(SAID, tags=("identity", "goal")),)
        ),
        ReplyCase(
            "tags in capitals",
            said(tags=["Identity", " GOAL "]),
            (new(SAID, tags=("identity", "goal")),),
        ),
        ReplyCase(
            "tags that are unknown", said(tags=["place", "goal"]), (new(SAID, tags=("goal",)),)
        ),
        ReplyCase(
            "tags that are no texts",
            said(tags=[5, None, {"a": 1}, "goal"]),
            (new(SAID, tags=("goal",)),),
        ),
        ReplyCase("tags as an object", said(tags={"goal": True}), (LISBON,)),
        ReplyCase("a bank that is not allowed", said(memory_bank="Secret"), (LISBON,)),
        ReplyCase("a bank in lower case", said(memory_bank="work"), (new(SAID, bank="Work"),)),
        ReplyCase("a bank that is no text", said(memory_bank=["Work"]), (LISBON,)),
        ReplyCase("confidence as a text", said(confidence="0.9"), (new(SAID, confidence=0.9),)),
        ReplyCase("confidence with a comma", said(confidence="0,9"), (new(SAID, confidence=0.9),)),
        ReplyCase("confidence in per cent", said(confidence="90%"), (new(SAID, confidence=0.9),)),
        ReplyCase("confidence of a hundred", said(confidence=90), (new(SAID, confidence=0.9),)),
        ReplyCase(
            "confidence of one per cent", said(confidence="1 %"), (new(SAID, confidence=0.01),)
        ),
        ReplyCase(
            "confidence of ten or of a hundred",
            said(confidence=9),
            refused=("no number from 0 to 1",),
        ),
        ReplyCase("confidence of 1000", said(confidence=1000), refused=("no number from 0 to 1",)),
        ReplyCase(
            "confidence below zero", said(confidence=-0.5), refused=("no number from 0 to 1",)
        ),
        ReplyCase("confidence in words", said(confidence="high"), (new(SAID, confidence=0.9),)),
        ReplyCase("confidence out of ten", said(confidence="9/10"), (new(SAID, confidence=0.9),)),
        ReplyCase(
            "confidence out of seven", said(confidence="6/7"), refused=("no number from 0 to 1",)
        ),
        ReplyCase(
            "confidence in other words",
            said(confidence="rather"),
            refused=("no number from 0 to 1",),
        ),
        ReplyCase("confidence is true", said(confidence=True), refused=("no number from 0 to 1",)),
        ReplyCase(
            "confidence is a list", said(confidence=[0.9]), refused=("no number from 0 to 1",)
        ),
        ReplyCase("confidence of zero", said(confidence=0), (new(SAID, confidence=0.0),)),
        ReplyCase("importance as a text", said(importance="7"), (new(SAID, importance=7),)),
        ReplyCase("importance with a fraction", said(importance=6.6), (new(SAID, importance=7),)),
        ReplyCase("importance of 11", said(importance=11), (new(SAID, importance=10),)),
        ReplyCase("importance without end", said(importance=10**400), (new(SAID, importance=10),)),
        ReplyCase(
            "importance beyond floats",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon.", '
            '"importance": 1e999}]}',
            (new(SAID, importance=10),),
        ),
        ReplyCase(
            "importance with too many digits",
            '{"operations": [{"operation": "NEW", "content": "User has a dog.", "importance": '
            + "9" * 5000
            + "}]}",
            unusable="no usable JSON",
            repaired=(new("User has a dog.", importance=10),),
        ),
        ReplyCase("importance below zero", said(importance=-5), (new(SAID, importance=1),)),
        ReplyCase("importance in words", said(importance="high"), (LISBON,)),
        ReplyCase("importance is true", said(importance=True), (LISBON,)),
        ReplyCase("kind is unknown", said(kind="JOKE"), refused=("kind of it is not known",)),
        ReplyCase("kind is a category", said(kind="goal"), (new(SAID, tags=("goal",)),)),
        ReplyCase("kind is META", said(kind="META"), refused=("about the conversation",)),
        ReplyCase("kind is a number", said(kind=1), refused=("kind of it is not known",)),
        ReplyCase(
            "bad among good",
            reply_of(
                LISBON_ITEM,
                {"operation": "NEW", "content": 5},
                {"operation": "NEW", "content": "User has a dog."},
            ),
            (LISBON, DOG),
            ("sentence is no text",),
        ),
        ReplyCase(
            "a list among the items",
            json.dumps({"operations": [LISBON_ITEM, [], "x"]}),
            (LISBON,),
            ("no operation",),
        ),
    ],
)
