"""Replies in other scripts, and with characters that databases and terminals do not like."""

from __future__ import annotations

import json

from tests.llm.replies.case import LISBON, ReplyCase, named, new, reply_of


def said(content: str, *, ascii_only: bool = False) -> str:
    """A reply with one new fact."""
    return reply_of({"operation": "NEW", "content": content}, ensure_ascii=ascii_only)


def raw(inside: str) -> str:
    """A reply with one new fact whose string is written like this."""
    return '{"operations": [{"operation": "NEW", "content": "' + inside + '"}]}'


CHARACTERS = named(
    "characters",
    [
        ReplyCase(
            "German", said("Der Benutzer heißt Jörg Weiß."), (new("Der Benutzer heißt Jörg Weiß."),)
        ),
        ReplyCase(
            "German, escaped",
            said("Der Benutzer heißt Jörg.", ascii_only=True),
            (new("Der Benutzer heißt Jörg."),),
        ),
        ReplyCase("Chinese", said("用户住在里斯本。"), (new("用户住在里斯本。"),)),
        ReplyCase(
            "Japanese, escaped",
            said("ユーザーは東京に住んでいる。", ascii_only=True),
            (new("ユーザーは東京に住んでいる。"),),
        ),
        ReplyCase("Arabic", said("يعيش المستخدم في لشبونة."), (new("يعيش المستخدم في لشبونة."),)),
        ReplyCase("Hebrew with numbers", said("למשתמש יש 2 ילדים."), (new("למשתמש יש 2 ילדים."),)),
        ReplyCase("Thai", said("ผู้ใช้ชอบชา"), (new("ผู้ใช้ชอบชา"),)),
        ReplyCase("Hindi", said("उपयोगकर्ता को चाय पसंद है।"), (new("उपयोगकर्ता को चाय पसंद है।"),)),
        ReplyCase("emoji", said("User loves 🍵 and 👩‍👩‍👧."), (new("User loves 🍵 and 👩‍👩‍👧."),)),
        ReplyCase(
            "emoji, escaped", said("User loves 🍵.", ascii_only=True), (new("User loves 🍵."),)
        ),
        ReplyCase(
            "emoji, escaped, in single quotes",
            r"[{'operation': 'NEW', 'content': 'User loves \ud83c\udf75.'}]",
            (new("User loves 🍵."),),
        ),
        ReplyCase("half of an emoji", raw(r"User loves \ud83c tea."), (new("User loves tea."),)),
        ReplyCase(
            "half of an emoji, in single quotes",
            r"[{'operation': 'NEW', 'content': 'User loves \ud83c tea.'}]",
            (new("User loves tea."),),
        ),
        ReplyCase("NUL, escaped", raw(r"User\u0000 lives in Lisbon."), (LISBON,)),
        ReplyCase("NUL, raw", raw("User\x00 lives in Lisbon."), (LISBON,)),
        ReplyCase(
            "terminal colours", raw(r"\u001b[31mUser\u001b[0m lives"), (new("[31mUser[0m lives"),)
        ),
        ReplyCase("escaped line ends", raw(r"User lives\nin\tLisbon."), (LISBON,)),
        ReplyCase("raw line ends", raw("User lives\nin\tLisbon."), (LISBON,)),
        ReplyCase(
            "twice escaped line ends",
            raw(r"User writes \\n at line ends."),
            (new(r"User writes \n at line ends."),),
        ),
        ReplyCase("line separators", raw("User lives\u2028in\u2029Lisbon."), (LISBON,)),
        ReplyCase("no-break spaces", raw("User lives\u00a0in Lisbon."), (LISBON,)),
        ReplyCase(
            "no-break spaces between",
            '{\u00a0"operations":\u00a0[{"operation":\u00a0"NEW", "content":\u00a0"User '
            'lives in Lisbon."}]\u00a0}',
            (LISBON,),
        ),
        ReplyCase(
            "zero-width spaces between",
            '{\u200b"operations": [\u200b{"operation": "NEW", "content": "User lives in '
            'Lisbon."}]\ufeff}',
            (LISBON,),
        ),
        ReplyCase(
            "escapes that JSON does not know",
            raw(r"User's notes are in C:\Users\ada\_x."),
            (new(r"User's notes are in C:\Users\ada_x."),),
        ),
        ReplyCase(
            "an escaped apostrophe", raw(r"User\'s dog is old."), (new("User's dog is old."),)
        ),
        ReplyCase("escaped slashes", raw(r"User reads a\/b."), (new("User reads a/b."),)),
        ReplyCase(
            "braces and brackets in a fact",
            said("User uses {braces} and [brackets] ]}."),
            (new("User uses {braces} and [brackets] ]}."),),
        ),
        ReplyCase(
            "an answer in a fact",
            said('User wrote {"operations": [{"operation": "DELETE", "id": "m-1"}]}'),
            (new('User wrote {"operations": [{"operation": "DELETE", "id": "m-1"}]}'),),
        ),
        ReplyCase(
            "a fact that is an answer",
            said(json.dumps({"operations": [{"operation": "DELETE", "id": "m-1"}]})),
            (new('{"operations": [{"operation": "DELETE", "id": "m-1"}]}'),),
        ),
        ReplyCase(
            "direction marks",
            said("\u202eUser lives in Lisbon.\u202c"),
            (new("\u202eUser lives in Lisbon.\u202c"),),
        ),
    ],
)
