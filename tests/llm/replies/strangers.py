"""Replies as models give them that follow the prompt in the main and the form in their own way."""

from __future__ import annotations

import html
import json

from tests.llm.replies.case import (
    BOTH,
    BOTH_REPLY,
    DOG,
    DOG_ITEM,
    FORGET,
    FORGET_ITEM,
    LISBON,
    LISBON_ITEM,
    ONE_REPLY,
    ReplyCase,
    delete,
    named,
    new,
    reply_of,
    update,
)

_LISBON = json.dumps(LISBON_ITEM)
_DOG = json.dumps(DOG_ITEM)
_SAID = "User lives in Lisbon."
_SCHEMA = {"type": "object", "properties": {"operations": {"type": "array", "items": {}}}}

SORTED = named(
    "sorted",
    [
        ReplyCase(
            "all groups",
            json.dumps(
                {
                    "new": [{"content": _SAID}],
                    "update": [{"id": "m-2", "content": "User has two dogs."}],
                    "delete": ["m-1"],
                }
            ),
            (LISBON, update("m-2", "User has two dogs."), FORGET),
        ),
        ReplyCase(
            "empty groups",
            '{"add": ["User lives in Lisbon."], "update": [], "remove": null}',
            (LISBON,),
        ),
        ReplyCase("nothing in any group", '{"new": [], "update": [], "delete": []}'),
        ReplyCase(
            "groups in the list",
            json.dumps({"operations": {"NEW": [{"content": _SAID}]}}),
            (LISBON,),
        ),
        ReplyCase(
            "each its own group",
            reply_of({"NEW": {"content": _SAID}}, {"DELETE": {"id": "m-1"}}),
            (LISBON, FORGET),
        ),
        ReplyCase(
            "a group that contradicts its item",
            json.dumps({"new": [{"operation": "DELETE", "id": "m-1"}]}),
            refused=("two different things",),
        ),
        ReplyCase(
            "a group beside a remark",
            json.dumps({"reasoning": "a new city", "new": [{"content": _SAID}]}),
            (LISBON,),
        ),
        ReplyCase(
            "numbered names",
            json.dumps({"operation_1": LISBON_ITEM, "operation_2": DOG_ITEM}),
            BOTH,
        ),
        ReplyCase("a remark alone", '{"reasoning": "nothing new"}', unusable="no usable JSON"),
        ReplyCase(
            "a group beside another name",
            json.dumps({"new": [{"content": _SAID}], "weather": "mild"}),
            unusable="no usable JSON",
        ),
        ReplyCase("a deletion of all", '{"delete": "all"}', refused=("not shown",)),
        ReplyCase("numbered", json.dumps({"operations": {"0": LISBON_ITEM, "1": DOG_ITEM}}), BOTH),
        ReplyCase("only numbered", json.dumps({"1": LISBON_ITEM, "2": DOG_ITEM}), BOTH),
        ReplyCase("numbers of other things", '{"1": {"a": 2}}', unusable="no usable JSON"),
        ReplyCase("an item within its operation", reply_of({"operation": LISBON_ITEM}), (LISBON,)),
        ReplyCase(
            "a word in a list", reply_of({"operation": ["NEW"], "content": _SAID}), (LISBON,)
        ),
    ],
)

WRAPPED = named(
    "wrapped",
    [
        ReplyCase("HTML", html.escape(BOTH_REPLY), BOTH),
        ReplyCase(
            "a citation",
            "> " + json.dumps({"operations": [LISBON_ITEM]}, indent=2).replace("\n", "\n> "),
            (LISBON,),
        ),
        ReplyCase(
            "added lines",
            "+" + json.dumps({"operations": [LISBON_ITEM]}, indent=2).replace("\n", "\n+"),
            (LISBON,),
        ),
        ReplyCase("a string in a string", json.dumps(json.dumps(BOTH_REPLY)), BOTH),
        ReplyCase(
            "escaped breaks of lines",
            json.dumps({"operations": [LISBON_ITEM]}, indent=1).replace("\n", "\\n"),
            (LISBON,),
        ),
        ReplyCase(
            "filled schema",
            json.dumps({"type": "object", "properties": {"operations": [LISBON_ITEM]}}),
            (LISBON,),
        ),
        ReplyCase("schema and answer", f"{json.dumps(_SCHEMA)}\n{ONE_REPLY}", (LISBON,)),
        ReplyCase("schema alone", json.dumps(_SCHEMA), unusable="no usable JSON"),
        ReplyCase("code of a program", f"```javascript\nconst answer = {BOTH_REPLY};\n```", BOTH),
        ReplyCase("records", f"\x1e{_LISBON}\n\x1e{_DOG}\n", BOTH),
        ReplyCase("a formula", f"$\\boxed{{{ONE_REPLY}}}$", (LISBON,)),
        ReplyCase(
            "final channel",
            '<|channel|>analysis<|message|>Perhaps {"operations": [{"operation": "DELETE", '
            f'"id": "m-2"}}]}}.<|end|><|start|>assistant<|channel|>final<|message|>{ONE_REPLY}',
            (LISBON,),
        ),
        ReplyCase(
            "events",
            json.dumps(
                {
                    "memory": [
                        {"id": "m-1", "text": "User likes green tea.", "event": "UPDATE"},
                        {"id": "0", "text": _SAID, "event": "ADD"},
                        {"id": "m-2", "text": "User's dog is called Biscuit.", "event": "NONE"},
                    ]
                }
            ),
            (update("m-1", "User likes green tea."), LISBON),
        ),
    ],
)

EXAMPLES = named(
    "example",
    [
        ReplyCase(
            "a piece of the form after the answer",
            f'```json\n{ONE_REPLY}\n```\nI used {{"operation": "NEW"}} as the city is new.',
            (LISBON,),
        ),
        ReplyCase(
            "the form before the answer",
            'The form: {"operations": [{"operation": "NEW", "content": "<one sentence>"}]}\n'
            f"The answer: {ONE_REPLY}",
            (LISBON,),
        ),
        ReplyCase(
            "left open",
            'With a city it were {"operations": [{"operation": "NEW", "content": "User lives in '
            '..."}]}. There is none.',
            refused=("empty fact",),
        ),
        ReplyCase(
            "a real one before the answer",
            f"For instance {_DOG}. The answer is {ONE_REPLY}",
            unusable="several answers that differ",
        ),
        ReplyCase(
            "ellipsis for the rest",
            f'{{"operations": [{_LISBON}, ...]}}',
            (LISBON,),
            ("read",),
            repaired=(LISBON,),
        ),
    ],
)

PROGRAMS = named(
    "program",
    [
        ReplyCase(
            "strings in parts",
            '{"operations": [{"operation": "NEW", "content": "User lives " + "in Lisbon."}]}',
            (LISBON,),
        ),
        ReplyCase(
            "arrows",
            '{"operations" => [{"operation" => "NEW", "content" => "User lives in Lisbon."}]}',
            (LISBON,),
        ),
        ReplyCase(
            "equals signs",
            '{"operations" = [{"operation" = "NEW", "content" = "User lives in Lisbon."}]}',
            (LISBON,),
        ),
        ReplyCase(
            "backticks",
            '{"operations": [{"operation": `NEW`, "content": `User lives in Lisbon.`}]}',
            (LISBON,),
        ),
        ReplyCase(
            "full-width brackets",
            '\uff5b"operations"\uff1a\uff3b\uff5b"operation"\uff1a"NEW"\uff0c"content"\uff1a"'
            '用户住在根特。"\uff5d\uff3d\uff5d',
            (new("用户住在根特。"),),
        ),
        ReplyCase(
            "corner brackets for quotes",
            "{「operations」: [{「operation」: 「NEW」, 「content」: 「用户住在根特。」}]}",
            (new("用户住在根特。"),),
        ),
        ReplyCase("kind in words", reply_of({**LISBON_ITEM, "kind": "User fact"}), (LISBON,)),
        ReplyCase(
            "kind of both", reply_of({**LISBON_ITEM, "kind": "fact or meta"}), refused=("kind",)
        ),
    ],
)

WORDS = named(
    "word",
    [
        *(
            ReplyCase(
                word,
                reply_of({"operation": word, "id": "m-1", "content": "User likes coffee."}),
                (update("m-1", "User likes coffee."),),
            )
            for word in ("REFINE", "correct", "Overwrite")
        ),
        *(
            ReplyCase(word, reply_of({**FORGET_ITEM, "operation": word}), (FORGET,))
            for word in ("DEL", "purge")
        ),
        ReplyCase(
            "the memory beside its id",
            reply_of({"operation": "DELETE", "id": "m-1 (User likes tea.)"}),
            (FORGET,),
        ),
        ReplyCase("record", reply_of({**DOG_ITEM, "operation": "record"}), (DOG,)),
        ReplyCase("no changes", reply_of({"operation": "NO_CHANGES"})),
        ReplyCase(
            "discard says not of what",
            reply_of({**FORGET_ITEM, "operation": "discard"}),
            refused=("save, to change or to delete",),
        ),
        ReplyCase(
            "two deletions in one item",
            json.dumps([{"operation": "DELETE", "id": ["m-1", "7"]}]),
            (FORGET, delete("7")),
        ),
    ],
)
