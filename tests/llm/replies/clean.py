"""Replies in the form that was asked for, and in the forms that the prompt's contract allows."""

from __future__ import annotations

import json

from tests.llm.replies.case import (
    BOTH,
    BOTH_LIST,
    BOTH_REPLY,
    DOG_ITEM,
    FORGET,
    FORGET_ITEM,
    LISBON,
    LISBON_ITEM,
    ONE_REPLY,
    ReplyCase,
    named,
    new,
    reply_of,
    update,
)

CLEAN = named(
    "clean",
    [
        ReplyCase("nothing to keep", '{"operations": []}'),
        ReplyCase("nothing, without spaces", '{"operations":[]}'),
        ReplyCase("nothing, as a bare list", "[]"),
        ReplyCase("one fact", ONE_REPLY, (LISBON,)),
        ReplyCase("two facts", BOTH_REPLY, BOTH),
        ReplyCase(
            "every field",
            '{"operations": [{"operation": "NEW", "content": "User is a nurse in Graz.", '
            '"tags": ["identity", "behavior"], "memory_bank": "Work", "confidence": 0.95, '
            '"importance": 8, "kind": "FACT"}]}',
            (
                new(
                    "User is a nurse in Graz.",
                    tags=("identity", "behavior"),
                    bank="Work",
                    confidence=0.95,
                    importance=8,
                ),
            ),
        ),
        ReplyCase(
            "update with every field",
            '{"operations": [{"operation": "UPDATE", "id": "m-1", "content": "User likes green '
            'tea.", "tags": ["preference"], "memory_bank": "Personal", "confidence": 0.9, '
            '"importance": 4, "kind": "FACT"}]}',
            (update("m-1", "User likes green tea.", confidence=0.9, importance=4),),
        ),
        ReplyCase(
            "update with content alone",
            '{"operations": [{"operation": "UPDATE", "id": "m-1", "content": "User likes '
            'coffee."}]}',
            (update("m-1", "User likes coffee."),),
        ),
        ReplyCase("delete", reply_of(FORGET_ITEM), (FORGET,)),
        ReplyCase(
            "new, update and delete",
            reply_of(
                LISBON_ITEM,
                {"operation": "UPDATE", "id": "m-2", "content": "User's dog is called Toffee."},
                FORGET_ITEM,
            ),
            (LISBON, update("m-2", "User's dog is called Toffee."), FORGET),
        ),
        ReplyCase("indented by two", reply_of(LISBON_ITEM, DOG_ITEM, indent=2), BOTH),
        ReplyCase("indented by tabs", reply_of(LISBON_ITEM, DOG_ITEM, indent="\t"), BOTH),
        ReplyCase(
            "carriage returns",
            reply_of(LISBON_ITEM, DOG_ITEM, indent=2).replace("\n", "\r\n"),
            BOTH,
        ),
        ReplyCase("no spaces", reply_of(LISBON_ITEM, DOG_ITEM, separators=(",", ":")), BOTH),
        ReplyCase("white space around", f"\n\n   {BOTH_REPLY}\n\n", BOTH),
        ReplyCase("byte order mark", "\ufeff" + BOTH_REPLY, BOTH),
        ReplyCase("bare list", BOTH_LIST, BOTH),
        ReplyCase("single object", json.dumps(LISBON_ITEM), (LISBON,)),
        ReplyCase(
            "object in place of the list", '{"operations": ' + json.dumps(DOG_ITEM) + "}", BOTH[1:]
        ),
        ReplyCase(
            "thoughts in a field before",
            '{"thoughts": "The user moved [again] and {maybe} likes it.", "operations": '
            + BOTH_LIST
            + "}",
            BOTH,
        ),
        ReplyCase("a remark in a field after", BOTH_REPLY[:-1] + ', "note": "all kept"}', BOTH),
        ReplyCase(
            "fields in another order",
            '{"operations": [{"content": "User lives in Lisbon.", "operation": "NEW"}]}',
            (LISBON,),
        ),
        ReplyCase(
            "unknown fields",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon.", '
            '"reason": "said so", "source": {"turn": 3}, "ttl": null, "embedding": [0.1, 0.2]}]}',
            (LISBON,),
        ),
        ReplyCase(
            "null fields",
            '{"operations": [{"operation": "NEW", "id": null, "content": "User lives in Lisbon.", '
            '"tags": null, "memory_bank": null, "confidence": null, "importance": null, '
            '"kind": null}]}',
            (LISBON,),
        ),
        ReplyCase(
            "empty fields",
            '{"operations": [{"operation": "NEW", "id": "", "content": "User lives in Lisbon.", '
            '"tags": [], "memory_bank": "", "kind": ""}]}',
            (LISBON,),
        ),
        ReplyCase("said twice", reply_of(LISBON_ITEM, LISBON_ITEM), (LISBON,)),
        ReplyCase(
            "lower case",
            '{"operations": [{"operation": "new", "content": "User lives in Lisbon.", '
            '"kind": "fact"}]}',
            (LISBON,),
        ),
        ReplyCase("key in capitals", '{"OPERATIONS": ' + BOTH_LIST + "}", BOTH),
        ReplyCase("end token after it", BOTH_REPLY + "</s>", BOTH),
        ReplyCase("end token of a chat template", BOTH_REPLY + "<|im_end|>", BOTH),
        ReplyCase("end of turn tokens", BOTH_REPLY + "<|eot_id|><|end|>", BOTH),
        ReplyCase("the limit reached after the end", BOTH_REPLY, BOTH, cut=True),
    ],
)
