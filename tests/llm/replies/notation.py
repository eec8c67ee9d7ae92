"""Replies that are nearly JSON: commas, comments, quotes, words, brackets, breaks."""

from __future__ import annotations

from tests.llm.replies.case import BOTH, DOG, LISBON, ReplyCase, delete, named, new

PUNCTUATION = named(
    "punctuation",
    [
        ReplyCase(
            "comma after the last item",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon."},]}',
            (LISBON,),
        ),
        ReplyCase(
            "comma after the last field",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon.",}],}',
            (LISBON,),
        ),
        ReplyCase(
            "comma after the last tag",
            '[{"operation": "NEW", "content": "User likes tea.", "tags": ["preference",]}]',
            (new("User likes tea.", tags=("preference",)),),
        ),
        ReplyCase(
            "two commas",
            '{"operations": [{"operation": "NEW",, "content": "User lives in Lisbon."},, '
            '{"operation": "NEW", "content": "User has a dog."}]}',
            BOTH,
        ),
        ReplyCase(
            "no comma between items",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon."} '
            '{"operation": "NEW", "content": "User has a dog."}]}',
            BOTH,
        ),
        ReplyCase(
            "no comma at the end of a line",
            '{"operations": [\n  {"operation": "NEW"\n   "content": "User lives in Lisbon."}\n]}',
            (LISBON,),
        ),
        ReplyCase(
            "no comma between fields",
            '{"operations": [{"operation": "NEW" "content": "User lives in Lisbon." "kind": '
            '"FACT"}]}',
            unusable="no usable JSON",
            repaired=(LISBON,),
        ),
        ReplyCase(
            "full-width colons and commas",
            '{"operations"：[{"operation"："NEW"，"content"："用户住在里斯本。"}]}',
            (new("用户住在里斯本。"),),
        ),
        ReplyCase(
            "a comment after a field",
            '{"operations": [\n  {"operation": "NEW", // a new fact\n   "content": "User lives in '
            'Lisbon."}\n]}',
            (LISBON,),
        ),
        ReplyCase(
            "a comment of its own line",
            '{\n  # facts of this turn\n  "operations": [{"operation": "NEW", "content": '
            '"User lives in Lisbon."}]\n}',
            (LISBON,),
        ),
        ReplyCase(
            "a comment in the middle",
            '{"operations": [/* one, "two" */ {"operation": "NEW", "content": "User lives in '
            'Lisbon."} /* end */]}',
            (LISBON,),
        ),
        ReplyCase(
            "a comment that leaves out",
            '{"operations": [\n  {"operation": "NEW", "content": "User lives in Lisbon."},\n'
            "  // more operations here\n]}",
            (LISBON,),
        ),
        ReplyCase(
            "an item in a comment",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon."} '
            '/* {"operation": "DELETE", "id": "m-1"} */, {"operation": "NEW", "content": "User has '
            'a dog."},]}',
            BOTH,
        ),
        ReplyCase(
            "what looks like a comment in a fact",
            '{"operations": [{"operation": "NEW", "content": "User runs https://example.org/a#b '
            '/* daily */."},]}',
            (new("User runs https://example.org/a#b /* daily */."),),
        ),
        ReplyCase(
            "dots for the rest",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon."}, ...]}',
            (LISBON,),
            ("could not be read",),
            repaired=(LISBON,),
        ),
        ReplyCase(
            "a bracket too many",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon."}]]}',
            (LISBON,),
        ),
        ReplyCase(
            "a brace too many",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon."}}, '
            '{"operation": "NEW", "content": "User has a dog."}]}',
            BOTH,
        ),
        ReplyCase(
            "a brace too many at the end",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon."}]}}',
            (LISBON,),
        ),
        ReplyCase(
            "no brace at the end of the item",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon."]}',
            (LISBON,),
        ),
        ReplyCase(
            "no bracket at the end of the tags",
            '{"operations": [{"operation": "NEW", "content": "User likes tea.", '
            '"tags": ["preference"}]}',
            (new("User likes tea.", tags=("preference",)),),
        ),
        ReplyCase(
            "no brackets at the end, before a fence",
            '```json\n{"operations": [{"operation": "NEW", "content": "User lives in '
            'Lisbon."}\n```',
            (LISBON,),
            ("could not be read",),
            repaired=(LISBON,),
        ),
        ReplyCase(
            "no opening brace",
            '"operations": [{"operation": "NEW", "content": "User lives in Lisbon."}]}',
            (LISBON,),
        ),
    ],
)

QUOTES = named(
    "quotes",
    [
        ReplyCase(
            "single",
            "{'operations': [{'operation': 'NEW', 'content': 'User lives in Lisbon.'}]}",
            (LISBON,),
        ),
        ReplyCase(
            "single, with an apostrophe",
            "{'operations': [{'operation': 'NEW', 'content': 'User's dog isn't called Rex.'}]}",
            (new("User's dog isn't called Rex."),),
        ),
        ReplyCase(
            "single, with an apostrophe at the end of a word",
            "[{'operation': 'NEW', 'content': 'User feeds the neighbours' cats.', 'kind': 'FACT'}]",
            (new("User feeds the neighbours' cats."),),
        ),
        ReplyCase(
            "single, with an escaped apostrophe",
            r"{'operations': [{'operation': 'NEW', 'content': 'User\'s dog is old.'}]}",
            (new("User's dog is old."),),
        ),
        ReplyCase(
            "as Python prints it",
            "{'operations': [{'operation': 'NEW', 'id': None, 'content': \"User's dog is old.\", "
            "'tags': [], 'confidence': 0.9}]}",
            (new("User's dog is old.", confidence=0.9),),
        ),
        ReplyCase(
            "single, and the fact breaks them",
            "[{'operation': 'NEW', 'content': 'User writes {the dogs'} often'}]",
            unusable="no usable JSON",
        ),
        ReplyCase(
            "single, one forgotten",
            "[{'operation': 'NEW', 'content': 'User likes tea, 'kind': 'FACT'}]",
            unusable="no usable JSON",
        ),
        ReplyCase(
            "typographic",
            "{“operations”: [{“operation”: “NEW”, “content”: “User lives in Lisbon.”}]}",
            (LISBON,),
        ),
        ReplyCase(
            "typographic, within too",
            "{“operations”: [{“operation”: “NEW”, “content”: “User’s dog is “Rex”.”}]}",
            (new("User’s dog is “Rex”."),),
        ),
        ReplyCase(
            "German",
            "{„operations“: [{„operation“: „NEW“, „content“: „User wohnt in Graz.“}]}",
            (new("User wohnt in Graz."),),
        ),
        ReplyCase(
            "French",
            "{«operations»: [{«operation»: «NEW», «content»: «User lives in Lisbon.»}]}",
            (LISBON,),
        ),
        ReplyCase(
            "single typographic",
            "{‘operations’: [{‘operation’: ‘NEW’, ‘content’: ‘User’s dog is old.’}]}",
            (new("User’s dog is old."),),
        ),
        ReplyCase(
            "none around names",
            '{operations: [{operation: "NEW", content: "User lives in Lisbon."}]}',
            (LISBON,),
        ),
        ReplyCase(
            "none around names and words",
            '{operations: [{operation: NEW, content: "User lives in Lisbon."}]}',
            unusable="no usable JSON",
            repaired=(LISBON,),
        ),
        ReplyCase(
            "none around the sentence",
            '{"operations": [{"operation": "NEW", "content": User lives in Lisbon, not Porto}]}',
            unusable="no usable JSON",
        ),
        ReplyCase(
            "within a fact, not escaped",
            '{"operations": [{"operation": "NEW", "content": "User says "hi" often."}]}',
            unusable="no usable JSON",
            repaired=(new('User says "hi" often.'),),
        ),
        ReplyCase(
            "within a fact with a comma, which repair would cut short",
            '{"operations": [\n{"operation": "NEW", "content": "User said "hi, there" once."},\n'
            '{"operation": "NEW", "content": "User has a dog."}\n]}',
            (DOG,),
            ("could not be read",),
        ),
        ReplyCase(
            "within a fact, escaped",
            r'{"operations": [{"operation": "NEW", "content": "User says \"hi\" often."}]}',
            (new('User says "hi" often.'),),
        ),
        ReplyCase(
            "one forgotten before a name",
            '{"operations": [{"operation": "NEW", content": "User lives in Lisbon."}]}',
            unusable="no usable JSON",
            repaired=(LISBON,),
        ),
        ReplyCase(
            "one forgotten after the sentence",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon., '
            '"kind": "FACT"}]}',
            unusable="no usable JSON",
        ),
        ReplyCase(
            "one forgotten at the end",
            '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon.}]}',
            unusable="ends in the middle",
        ),
        ReplyCase(
            "full-width",
            "{＂operations＂: [{＂operation＂: ＂NEW＂, ＂content＂: ＂User lives in Lisbon.＂}]}",
            (LISBON,),
        ),
    ],
)

LITERALS = named(
    "literals",
    [
        ReplyCase(
            "Python's words",
            '{"operations": [{"operation": "DELETE", "id": "m-1", "content": None, "sure": True, '
            '"old": False}]}',
            (delete("m-1"),),
        ),
        ReplyCase(
            "JavaScript's words",
            '{"operations": [{"operation": "DELETE", "id": "m-1", "content": undefined}]}',
            (delete("m-1"),),
        ),
        ReplyCase(
            "words in capitals",
            '{"operations": [{"operation": "DELETE", "id": "m-1", "content": NULL}]}',
            (delete("m-1"),),
        ),
        ReplyCase(
            "a number with a plus",
            '{"operations": [{"operation": "NEW", "content": "User has a dog.", '
            '"importance": +5}]}',
            (DOG,),
        ),
        ReplyCase(
            "a number without a zero",
            '{"operations": [{"operation": "NEW", "content": "User has a dog.", '
            '"confidence": .9}]}',
            (new("User has a dog.", confidence=0.9),),
        ),
        ReplyCase(
            "a bare per cent",
            '{"operations": [{"operation": "NEW", "content": "User has a dog.", '
            '"confidence": 90%}]}',
            (new("User has a dog.", confidence=0.9),),
        ),
        ReplyCase(
            "not a number",
            '{"operations": [{"operation": "NEW", "content": "User has a dog.", '
            '"confidence": NaN}]}',
            refused=("no number from 0 to 1",),
        ),
        ReplyCase(
            "infinity",
            '{"operations": [{"operation": "NEW", "content": "User has a dog.", "confidence": '
            "Infinity}]}",
            refused=("no number from 0 to 1",),
        ),
        ReplyCase(
            "a calculation",
            '{"operations": [{"operation": "NEW", "content": "User has a dog.", "importance": '
            "2 + 3}]}",
            unusable="no usable JSON",
        ),
    ],
)
