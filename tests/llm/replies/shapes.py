"""Replies whose items stand elsewhere: wrapped, called as tools, in several objects, in lines."""

from __future__ import annotations

import json

from tests.llm.replies.case import (
    BOTH,
    BOTH_LIST,
    BOTH_REPLY,
    DOG,
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

LISBON_TEXT = json.dumps(LISBON_ITEM)
DOG_TEXT = json.dumps(DOG_ITEM)


def call(name: str, arguments: object) -> str:
    """A call of a tool, as models write it in their text."""
    return json.dumps({"name": name, "arguments": arguments})


NESTED = named(
    "nested",
    [
        ReplyCase("in a result", f'{{"result": {BOTH_REPLY}}}', BOTH),
        ReplyCase("in a response", f'{{"status": "ok", "response": {BOTH_REPLY}}}', BOTH),
        ReplyCase("in two", f'{{"data": {{"output": {BOTH_REPLY}}}}}', BOTH),
        ReplyCase("a bare list in a result", f'{{"result": {BOTH_LIST}}}', BOTH),
        ReplyCase("under another known name", f'{{"memories": {BOTH_LIST}}}', BOTH),
        ReplyCase("under the singular", f'{{"operation": {BOTH_LIST}}}', BOTH),
        ReplyCase("under the schema's name", f'{{"memory_operations": {BOTH_LIST}}}', BOTH),
        ReplyCase("as a string", json.dumps({"response": BOTH_REPLY}), BOTH),
        ReplyCase(
            "as a string in a fence", json.dumps({"text": f"```json\n{BOTH_REPLY}\n```"}), BOTH
        ),
        ReplyCase("the list as a string", json.dumps({"operations": BOTH_LIST}), BOTH),
        ReplyCase(
            "each item as a string", json.dumps({"operations": [LISBON_TEXT, DOG_TEXT]}), BOTH
        ),
        ReplyCase("the whole as a string", json.dumps(BOTH_REPLY), BOTH),
        ReplyCase("the whole with escaped quotes", BOTH_REPLY.replace('"', '\\"'), BOTH),
        ReplyCase(
            "the whole with escaped line ends",
            reply_of(LISBON_ITEM, DOG_ITEM, indent=2).replace('"', '\\"').replace("\n", "\\n"),
            BOTH,
        ),
        ReplyCase(
            "a list in the list", json.dumps({"operations": [[LISBON_ITEM, DOG_ITEM]]}), BOTH
        ),
        ReplyCase("the object in a list", f"[{BOTH_REPLY}]", BOTH),
        ReplyCase("the object in itself", f'{{"operations": {BOTH_REPLY}}}', BOTH),
        ReplyCase("as a message", json.dumps({"role": "assistant", "content": BOTH_REPLY}), BOTH),
        ReplyCase(
            "as a completion",
            json.dumps({"choices": [{"message": {"role": "assistant", "content": BOTH_REPLY}}]}),
            BOTH,
        ),
        ReplyCase(
            "under a name that is not known",
            f'{{"rejected": {BOTH_LIST}}}',
            unusable="no usable JSON",
        ),
        ReplyCase(
            "the key holds nothing, another name does",
            f'{{"operations": [], "rejected": {BOTH_LIST}}}',
        ),
        ReplyCase(
            "under two wrappers",
            f'{{"result": {ONE_REPLY}, "output": {BOTH_REPLY}}}',
            unusable="no usable JSON",
        ),
        ReplyCase(
            "sentences in place of items",
            '{"operations": ["User lives in Lisbon."]}',
            refused=("no operation",),
        ),
        ReplyCase("a list of sentences", '["User lives in Lisbon."]', unusable="no usable JSON"),
        ReplyCase(
            "memories without operations",
            '{"memories": [{"content": "User lives in Lisbon."}]}',
            unusable="no usable JSON",
        ),
        ReplyCase(
            "a message that speaks",
            '{"role": "assistant", "content": "Nothing to remember."}',
            unusable="no usable JSON",
        ),
        ReplyCase(
            "grouped by operation",
            '{"NEW": [{"content": "User lives in Lisbon."}], "DELETE": [{"id": "m-1"}]}',
            (LISBON, FORGET),
        ),
        ReplyCase("too deep", '{"result": ' * 70 + ONE_REPLY + "}" * 70, unusable="no usable JSON"),
    ],
)

CALLS = named(
    "call",
    [
        ReplyCase(
            "with the operations",
            f"<tool_call>\n{call('memory_operations', json.loads(BOTH_REPLY))}\n</tool_call>",
            BOTH,
        ),
        ReplyCase(
            "with the operations as text",
            f"<tool_call>\n{call('memory_operations', BOTH_REPLY)}\n</tool_call>",
            BOTH,
        ),
        ReplyCase(
            "one each",
            "<tool_call>\n"
            f"{call('add_memory', {'content': 'User lives in Lisbon.'})}\n</tool_call>\n"
            f"<tool_call>\n{call('delete_memory', {'memory_id': 'm-1'})}\n</tool_call>",
            (LISBON, FORGET),
        ),
        ReplyCase(
            "Mistral's", f"[TOOL_CALLS][{call('memory_operations', json.loads(BOTH_REPLY))}]", BOTH
        ),
        ReplyCase(
            "Mistral's, one each",
            f"[TOOL_CALLS][{call('add_memory', {'content': 'User has a dog.'})}]",
            (DOG,),
        ),
        ReplyCase(
            "Llama's",
            '<|python_tag|>{"type": "function", "name": "add_memory", "parameters": '
            '{"content": "User lives in Lisbon."}}<|eom_id|>',
            (LISBON,),
        ),
        ReplyCase(
            "OpenAI's",
            json.dumps(
                {
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {
                                "name": "memory_operations",
                                "arguments": BOTH_REPLY,
                            },
                        }
                    ]
                }
            ),
            BOTH,
        ),
        ReplyCase(
            "OpenAI's, one each",
            json.dumps(
                [
                    {
                        "type": "function",
                        "function": {
                            "name": "update_memory",
                            "arguments": '{"id": "m-1", "content": "User likes coffee."}',
                        },
                    }
                ]
            ),
            (update("m-1", "User likes coffee."),),
        ),
        ReplyCase(
            "the host's own tool",
            call("replace_memory_content", {"memory_id": "m-1", "content": "User likes coffee."}),
            (update("m-1", "User likes coffee."),),
        ),
        ReplyCase(
            "of another tool", call("web_search", {"query": "Lisbon"}), unusable="no usable JSON"
        ),
        ReplyCase(
            "in Python",
            'add_memory(content="User lives in Lisbon.", tags=["identity"])',
            unusable="no usable JSON",
        ),
        ReplyCase(
            "in XML",
            "<function=add_memory>\n<parameter=content>\nUser lives in Lisbon.\n</parameter>\n"
            "</function>",
            unusable="in prose",
        ),
    ],
)

SEVERAL = named(
    "several",
    [
        ReplyCase("lines", f"{LISBON_TEXT}\n{DOG_TEXT}", BOTH),
        ReplyCase("lines with commas", f"{LISBON_TEXT},\n{DOG_TEXT}", BOTH),
        ReplyCase("on one line", f"{LISBON_TEXT} {DOG_TEXT}", BOTH),
        ReplyCase("without anything between", f"{LISBON_TEXT}{DOG_TEXT}", BOTH),
        ReplyCase("semicolons", f"{LISBON_TEXT}; {DOG_TEXT};", BOTH),
        ReplyCase("a Markdown list", f"- {LISBON_TEXT}\n- {DOG_TEXT}", BOTH),
        ReplyCase("a numbered list", f"1. {LISBON_TEXT}\n2. {DOG_TEXT}", BOTH),
        ReplyCase("in words", f"First: {LISBON_TEXT}\nand then: {DOG_TEXT}", BOTH),
        ReplyCase("a list each", f"{reply_of(LISBON_ITEM)}\n{reply_of(DOG_ITEM)}", BOTH),
        ReplyCase("bare lists", f"[{LISBON_TEXT}]\n[{DOG_TEXT}]", BOTH),
        ReplyCase("a list and an item", f"{reply_of(LISBON_ITEM)}\n{DOG_TEXT}", BOTH),
        ReplyCase(
            "a line that is broken",
            f'{LISBON_TEXT}\n{{"operation": "NEW", "content": "User " says"}}\n{DOG_TEXT}',
            BOTH,
            ("could not be read",),
        ),
        ReplyCase(
            "the key twice", f'{{"operations": [{LISBON_TEXT}], "operations": [{DOG_TEXT}]}}', BOTH
        ),
        ReplyCase("the same list twice", f"{BOTH_REPLY}\n\nIn short:\n\n{BOTH_REPLY}", BOTH),
        ReplyCase("a list and nothing", f'{ONE_REPLY}\n{{"operations": []}}', (LISBON,)),
        ReplyCase(
            "two lists in words",
            f"{ONE_REPLY}\nWait, that is wrong. Better:\n{reply_of(DOG_ITEM)}",
            unusable="several answers that differ",
        ),
        ReplyCase(
            "a list, and on reflection nothing",
            f'{ONE_REPLY}\nOn reflection, none of it lasts: {{"operations": []}}',
            unusable="several answers that differ",
        ),
        ReplyCase(
            "an example and a list",
            f"Operations look like {DOG_TEXT}. The answer is {ONE_REPLY}",
            unusable="several answers that differ",
        ),
        ReplyCase(
            "a broken list and another",
            f'{{"operations": [{LISBON_TEXT}, {{"operation": oops}}]}}\n\n{reply_of(DOG_ITEM)}',
            unusable="several answers that differ",
        ),
        ReplyCase(
            "a broken list and the whole",
            f'{{"operations": [{LISBON_TEXT}, {{"operation": oops}}]}}\n\n{BOTH_REPLY}',
            BOTH,
        ),
        ReplyCase("the same item in two lists", f"{ONE_REPLY}\n{BOTH_REPLY}", BOTH),
        ReplyCase(
            "a list and a deletion", f"{ONE_REPLY}\n{json.dumps(FORGET_ITEM)}", (LISBON, FORGET)
        ),
        ReplyCase(
            "broken in the middle of the list",
            f'{{"operations": [\n{LISBON_TEXT},\n{{"operation": "NEW", "content": "a " '
            f'b"}},\n{DOG_TEXT}\n]}}',
            BOTH,
            ("could not be read",),
        ),
        ReplyCase(
            "a broken remark after the list", BOTH_REPLY[:-1] + ', "summary": "says "so""}', BOTH
        ),
        ReplyCase(
            "forty",
            "\n".join(json.dumps({"operation": "NEW", "content": f"Fact {n}."}) for n in range(40)),
            tuple(new(f"Fact {n}.") for n in range(30)),
            ("too many facts",),
        ),
        ReplyCase("one, forty times", reply_of(*[LISBON_ITEM] * 40), (LISBON,)),
    ],
)
