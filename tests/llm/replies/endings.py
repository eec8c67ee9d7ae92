"""Replies that end in the middle, and those that are of no use at all."""

from __future__ import annotations

import json

from tests.llm.replies.case import (
    BOTH,
    BOTH_REPLY,
    LISBON,
    LISBON_ITEM,
    ReplyCase,
    named,
)

LISBON_TEXT = json.dumps(LISBON_ITEM)
HALF = '{"operation": "NEW", "content": "User lives in Por'
CUT = ("cut off",)

CUT_OFF = named(
    "cut",
    [
        ReplyCase("in the second item", f'{{"operations": [{LISBON_TEXT}, {HALF}', (LISBON,), CUT),
        ReplyCase(
            "and reported", f'{{"operations": [{LISBON_TEXT}, {HALF}', (LISBON,), CUT, cut=True
        ),
        ReplyCase("in a bare list", f"[{LISBON_TEXT}, {HALF}", (LISBON,), CUT),
        ReplyCase("after a comma", f'{{"operations": [{LISBON_TEXT},', (LISBON,), CUT),
        ReplyCase("before the last bracket", f'{{"operations": [{LISBON_TEXT}', (LISBON,), CUT),
        ReplyCase("before the last brace", f'{{"operations": [{LISBON_TEXT}]', (LISBON,)),
        ReplyCase(
            "in a field after the list",
            f'{{"operations": [{LISBON_TEXT}], "note": "I ha',
            (LISBON,),
        ),
        ReplyCase("in prose after the answer", f"{BOTH_REPLY}\nI have", BOTH, cut=True),
        ReplyCase("in a fence", f'```json\n{{"operations": [{LISBON_TEXT}, {HALF}', (LISBON,), CUT),
        ReplyCase(
            "after prose", f'Of [2] facts: {{"operations": [{LISBON_TEXT}, {HALF}', (LISBON,), CUT
        ),
        ReplyCase("after reasoning", f"<think>[{{</think>[{LISBON_TEXT}, {HALF}", (LISBON,), CUT),
        ReplyCase("in lines", f"{LISBON_TEXT}\n{HALF}", (LISBON,), CUT),
        ReplyCase("in lines, between two", f"{LISBON_TEXT}\n", (LISBON,), CUT, cut=True),
        ReplyCase(
            "in a wrapper", f'{{"result": {{"operations": [{LISBON_TEXT}, {HALF}', (LISBON,), CUT
        ),
        ReplyCase(
            "after another field",
            f'{{"note": "x", "operations": [{LISBON_TEXT}, {HALF}',
            (LISBON,),
            CUT,
        ),
        ReplyCase(
            "with single quotes",
            "[{'operation': 'NEW', 'content': 'User lives in Lisbon.'}, {'operation': "
            "'NEW', 'content': 'User's",
            (LISBON,),
            CUT,
        ),
        ReplyCase("with trailing commas", f'{{"operations": [{LISBON_TEXT},], "x": [1,', (LISBON,)),
        ReplyCase("in a comment", f'{{"operations": [{LISBON_TEXT}, /* and "so', (LISBON,), CUT),
        ReplyCase(
            "the whole item in place of the list", f'{{"operations": {LISBON_TEXT}', (LISBON,)
        ),
        ReplyCase(
            "in the only sentence", f'{{"operations": [{HALF}', unusable="ends in the middle"
        ),
        ReplyCase(
            "in the only sentence, reported",
            f'{{"operations": [{HALF}',
            unusable="ends in the middle",
            cut=True,
        ),
        ReplyCase(
            "after the sentence",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon."',
            unusable="ends in the middle",
        ),
        ReplyCase("in a single item", HALF, unusable="ends in the middle"),
        ReplyCase("in the key", '{"operat', unusable="ends in the middle"),
        ReplyCase("before the list", '{"operations":', unusable="ends in the middle"),
        ReplyCase(
            "at the beginning of the list", '{"operations": [', unusable="ends in the middle"
        ),
        ReplyCase(
            "in a number",
            '[{"operation": "NEW", "content": "a", "confidence": 0.',
            unusable="ends in the middle",
        ),
        ReplyCase(
            "in a word",
            '[{"operation": "NEW", "content": "a", "id": nul',
            unusable="ends in the middle",
        ),
        ReplyCase(
            "in an escape",
            '[{"operation": "NEW", "content": "caf\\u00',
            unusable="ends in the middle",
        ),
        ReplyCase(
            "after a backslash",
            '[{"operation": "NEW", "content": "caf\\',
            unusable="ends in the middle",
        ),
        ReplyCase("after a brace", "{", unusable="ends in the middle"),
        ReplyCase("after a fence", "```json\n", unusable="in prose"),
        ReplyCase(
            "with broken quotes",
            "{'operations': [{'operation': 'NEW', 'content': 'User likes [x] and tra",
            unusable="ends in the middle",
        ),
    ],
)

UNUSABLE = named(
    "unusable",
    [
        ReplyCase("empty", "", unusable="is empty"),
        ReplyCase("white space", " \n\t ", unusable="is empty"),
        ReplyCase("a byte order mark", "\ufeff", unusable="is empty"),
        ReplyCase("an empty fence", "```json\n```", unusable="in prose"),
        ReplyCase("a sentence", "There is nothing to remember.", unusable="in prose"),
        ReplyCase(
            "an agreement", "Sure, I'll remember that you live in Lisbon!", unusable="in prose"
        ),
        ReplyCase(
            "a refusal",
            "I'm sorry, but I can't help with storing personal information.",
            unusable="in prose",
        ),
        ReplyCase(
            "a refusal in JSON",
            '{"error": "I cannot store personal data."}',
            unusable="no usable JSON",
        ),
        ReplyCase(
            "a question", "Could you tell me which facts [you] mean?", unusable="no usable JSON"
        ),
        ReplyCase(
            "an answer to the user",
            "Lisbon is lovely in {November}! Try the [pastéis].",
            unusable="no usable JSON",
        ),
        ReplyCase("null", "null", unusable="in prose"),
        ReplyCase("a number", "42", unusable="in prose"),
        ReplyCase("the word none", "NONE", unusable="in prose"),
        ReplyCase("an empty object", "{}", unusable="no usable JSON"),
        ReplyCase("another key", '{"facts": []}', unusable="no usable JSON"),
        ReplyCase("null under the key", '{"operations": null}', unusable="no usable JSON"),
        ReplyCase("a word under the key", '{"operations": "none"}', unusable="no usable JSON"),
        ReplyCase("a number under the key", '{"operations": 0}', unusable="no usable JSON"),
        ReplyCase("numbers", "[1, 2, 3]", unusable="no usable JSON"),
        ReplyCase(
            "empty brackets in prose",
            "I keep [] of it and {} of that, sorry.",
            unusable="no usable JSON",
        ),
        ReplyCase(
            "the schema",
            '{"type": "object", "properties": {"operations": {"type": "array"}}}',
            unusable="no usable JSON",
        ),
        ReplyCase(
            "the prompt's form alone",
            '{"operations": [{"operation": "NEW", "content": "<one sentence>", '
            '"confidence": <0 to 1>}]}',
            unusable="no usable JSON",
        ),
        ReplyCase(
            "YAML",
            "operations:\n  - operation: NEW\n    content: User lives in Lisbon.\n    tags: "
            "[identity]",
            unusable="no usable JSON",
        ),
        ReplyCase(
            "a Markdown list",
            "- **NEW**: User lives in Lisbon.\n- **NEW**: User has a dog.",
            unusable="in prose",
        ),
        ReplyCase(
            "a Markdown table",
            "| operation | content |\n|---|---|\n| NEW | User lives in Lisbon. |",
            unusable="in prose",
        ),
        ReplyCase(
            "XML",
            "<operations><operation>NEW</operation><content>User lives in "
            "Lisbon.</content></operations>",
            unusable="in prose",
        ),
        ReplyCase("CSV", "operation,content\nNEW,User lives in Lisbon.", unusable="in prose"),
        ReplyCase(
            "an error page",
            "<html><head><title>502 Bad Gateway</title></head></html>",
            unusable="in prose",
        ),
        ReplyCase(
            "a code block", "```python\nfacts = {1: [x for x in y]}\n```", unusable="no usable JSON"
        ),
        ReplyCase("a word again and again", "the " * 5000, unusable="in prose"),
        ReplyCase("brackets again and again", "[{" * 5000, unusable="no usable JSON"),
    ],
)

LIMITS = named(
    "limit",
    [
        ReplyCase("1 MB of prose", "word " * 200_000, unusable="longer than 256 kB"),
        ReplyCase(
            "1 MB of facts",
            "[" + ", ".join([LISBON_TEXT] * 20_000) + "]",
            unusable="longer than 256 kB",
        ),
        ReplyCase("1 MB of brackets", "[" * 1_000_000, unusable="longer than 256 kB"),
        ReplyCase("1 MB of spaces", " " * 1_000_000, unusable="longer than 256 kB"),
        ReplyCase("10,000 levels", "[" * 10_000 + "]" * 10_000, unusable="no usable JSON"),
        ReplyCase(
            "10,000 levels of objects",
            '{"result":' * 10_000 + "1" + "}" * 10_000,
            unusable="no usable JSON",
        ),
        ReplyCase(
            "10,000 levels within a field",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon."}, '
            '{"operation": "NEW", "x": ' + "[" * 10_000 + "]" * 10_000 + "}]}",
            (LISBON,),
            ("could not be read",),
        ),
        ReplyCase(
            "10,000 items",
            '{"operations": [' + ", ".join(['{"operation": 1}'] * 10_000) + "]}",
            refused=("whether to save", "too many facts"),
        ),
        ReplyCase(
            "10,000 items that are no objects",
            '{"operations": [' + "1," * 9_999 + "1]}",
            refused=("no operation", "too many facts"),
        ),
        ReplyCase("10,000 lines", "\n".join(["[]"] * 10_000)),
        ReplyCase(
            "10,000 fields",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon.", '
            + ", ".join(f'"field{n}": {n}' for n in range(10_000))
            + "}]}",
            (LISBON,),
        ),
        ReplyCase(
            "a sentence of 200 kB",
            '[{"operation": "NEW", "content": "' + "x " * 100_000 + '"}]',
            refused=("longer than 4000",),
        ),
        ReplyCase(
            "a name of 200 kB",
            '[{"operation": "NEW", "'
            + "x" * 200_000
            + '": 1, "content": "User lives in Lisbon."}]',
            (LISBON,),
        ),
        ReplyCase(
            "an id of 200 kB",
            '[{"operation": "DELETE", "id": "' + "x" * 200_000 + '"}]',
            refused=("not shown",),
        ),
    ],
)
