"""Replies with something around the answer: fences, prose in several languages, reasoning."""

from __future__ import annotations

import json

from tests.llm.replies.case import (
    BOTH,
    BOTH_LIST,
    BOTH_REPLY,
    DOG_ITEM,
    LISBON,
    LISBON_ITEM,
    ONE_REPLY,
    ReplyCase,
    named,
    new,
    reply_of,
)

FENCED = named(
    "fence",
    [
        ReplyCase("json", f"```json\n{BOTH_REPLY}\n```", BOTH),
        ReplyCase("JSON in capitals", f"```JSON\n{BOTH_REPLY}\n```", BOTH),
        ReplyCase("json5", f"```json5\n{BOTH_REPLY}\n```", BOTH),
        ReplyCase("without a language", f"```\n{BOTH_REPLY}\n```", BOTH),
        ReplyCase("on one line", f"```json {BOTH_REPLY}```", BOTH),
        ReplyCase("never closed", f"```json\n{BOTH_REPLY}", BOTH),
        ReplyCase("never opened", f"{BOTH_REPLY}\n```", BOTH),
        ReplyCase("of tildes", f"~~~json\n{BOTH_REPLY}\n~~~", BOTH),
        ReplyCase("of four", f"````json\n{BOTH_REPLY}\n````", BOTH),
        ReplyCase("single backticks", f"`{BOTH_REPLY}`", BOTH),
        ReplyCase("around a bare list", f"```json\n{BOTH_LIST}\n```", BOTH),
        ReplyCase("around nothing to keep", '```json\n{"operations": []}\n```'),
        ReplyCase("around an empty list", "```json\n[]\n```"),
        ReplyCase("prose before", f"Here is the JSON:\n\n```json\n{BOTH_REPLY}\n```", BOTH),
        ReplyCase(
            "prose before and after",
            f"I found [2] facts {{see}}:\n```json\n{BOTH_REPLY}\n```\nDone [1].",
            BOTH,
        ),
        ReplyCase(
            "a fact about fences",
            reply_of({"operation": "NEW", "content": "User prefers ```python``` blocks."}),
            (new("User prefers ```python``` blocks."),),
        ),
        ReplyCase(
            "one item each",
            f"```json\n{json.dumps(LISBON_ITEM)}\n```\n```json\n{json.dumps(DOG_ITEM)}\n```",
            BOTH,
        ),
        ReplyCase(
            "two lists, one after the other",
            f"```json\n{reply_of(LISBON_ITEM)}\n```\n\n```json\n{reply_of(DOG_ITEM)}\n```",
            BOTH,
        ),
    ],
)

PROSE = named(
    "prose",
    [
        ReplyCase("before", f"Sure! Here are the operations: {BOTH_REPLY}", BOTH),
        ReplyCase("after", f"{BOTH_REPLY}\n\nLet me know if you need anything else!", BOTH),
        ReplyCase("around", f"Here you are:\n{BOTH_REPLY}\nAnything else?", BOTH),
        ReplyCase("with brackets", f"Of [1, 2] and {{}} I keep: {BOTH_LIST}", BOTH),
        ReplyCase("with a footnote", f"{BOTH_REPLY}\n\n[1] said in the newest message", BOTH),
        ReplyCase("with a smiley", f":-{{ sorry for the wait :-[ {BOTH_REPLY}", BOTH),
        ReplyCase(
            "with a link", f"See [the docs](https://example.org/a#b) first.\n{BOTH_REPLY}", BOTH
        ),
        ReplyCase(
            "with an apostrophe in brackets", f"(that's [the user's] list) {BOTH_REPLY}", BOTH
        ),
        ReplyCase("with a comment's mark", f"[#1] {BOTH_REPLY}\nDone.", BOTH),
        ReplyCase("with a note in braces", f"{{note: as asked for}} {BOTH_REPLY}", BOTH),
        ReplyCase("German", f"Hier ist das Ergebnis:\n{BOTH_REPLY}\nBrauchst du noch etwas?", BOTH),
        ReplyCase("French", f"Voici les opérations demandées :\n{BOTH_REPLY}", BOTH),
        ReplyCase("Spanish", f"¡Claro! Aquí tienes: {BOTH_REPLY}", BOTH),
        ReplyCase("Portuguese", f"Aqui está a resposta em JSON:\n{BOTH_REPLY}", BOTH),
        ReplyCase("Russian", f"Вот результат:\n{BOTH_REPLY}\nГотово.", BOTH),
        ReplyCase("Chinese", f"以下是提取的记忆操作：\n{BOTH_REPLY}\n以上。", BOTH),
        ReplyCase("Japanese", f"抽出結果は次のとおりです。\n{BOTH_REPLY}", BOTH),
        ReplyCase("Arabic", f"إليك النتيجة:\n{BOTH_REPLY}", BOTH),
        ReplyCase("Hebrew", f"הנה התוצאה: {BOTH_REPLY}", BOTH),
        ReplyCase("Hindi", f"यह रहा परिणाम:\n{BOTH_REPLY}", BOTH),
        ReplyCase("a heading", f"# Operations\n\n{BOTH_REPLY}", BOTH),
        ReplyCase("bold label", f"**Answer:** {BOTH_REPLY}", BOTH),
        ReplyCase("a label of its own", f"memory_operations: {BOTH_REPLY}", BOTH),
        ReplyCase("assigned to a variable", f"operations = {BOTH_LIST}", BOTH),
        ReplyCase("called as a function", f"save_memories({BOTH_REPLY})", BOTH),
        ReplyCase("nothing, with a sentence before", 'Nothing durable here.\n{"operations": []}'),
        ReplyCase("nothing, as a bare list after a sentence", "There is nothing to keep: []"),
        ReplyCase(
            "nothing, with a sentence after", '{"operations": []}\n\nThe message was a question.'
        ),
        ReplyCase(
            "the prompt's form first",
            '{"operations": [{"operation": "NEW", "content": "<one sentence>", "confidence": '
            "<0 to 1>, ...}]}\n\n" + ONE_REPLY,
            (LISBON,),
        ),
    ],
)

REASONING = named(
    "reasoning",
    [
        ReplyCase(
            "think", f"<think>\nOkay, the user lives in Lisbon.\n</think>\n\n{BOTH_REPLY}", BOTH
        ),
        ReplyCase("empty think", f"<think>\n\n</think>\n\n{BOTH_REPLY}", BOTH),
        ReplyCase("thinking", f"<thinking>hm</thinking>{BOTH_REPLY}", BOTH),
        ReplyCase("thought", f"<thought>hm</thought>\n{BOTH_REPLY}", BOTH),
        ReplyCase("reason", f"<reason>hm</reason>{BOTH_REPLY}", BOTH),
        ReplyCase("reasoning", f"<reasoning>hm</reasoning>{BOTH_REPLY}", BOTH),
        ReplyCase("capitals", f"<THINK>hm</Think>{BOTH_REPLY}", BOTH),
        ReplyCase(
            "begin of thought", f"<|begin_of_thought|>hm<|end_of_thought|>{BOTH_REPLY}", BOTH
        ),
        ReplyCase("triangles", f"◁think▷hm◁/think▷{BOTH_REPLY}", BOTH),
        ReplyCase("square brackets", f"[THINK]Is [it] {{so}}?[/THINK]{BOTH_REPLY}", BOTH),
        ReplyCase("start thinking", f"<|START_THINKING|>hm<|END_THINKING|>{BOTH_REPLY}", BOTH),
        ReplyCase("with attributes", f'<think budget="low">hm</think>{BOTH_REPLY}', BOTH),
        ReplyCase(
            "as the host renders it",
            '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds'
            f"</summary>\n> maybe {BOTH_LIST}\n</details>\n{ONE_REPLY}",
            (LISBON,),
        ),
        ReplyCase(
            "channels",
            '<|channel|>analysis<|message|>We need {"operations": []} or so.<|end|><|start|>'
            f"assistant<|channel|>final<|message|>{BOTH_REPLY}<|return|>",
            BOTH,
        ),
        ReplyCase(
            "channels whose marks were dropped",
            f'analysisWe need JSON like {{"operations": []}}.assistantfinal{BOTH_REPLY}',
            BOTH,
        ),
        ReplyCase(
            "a draft in it", f"<think>maybe {BOTH_LIST}? [no]</think>\n{ONE_REPLY}", (LISBON,)
        ),
        ReplyCase(
            "half a draft in it",
            f'<think>[{{"operation": "NEW", "con</think>{ONE_REPLY}',
            (LISBON,),
        ),
        ReplyCase("opening swallowed", f"The user said so. {{}}\n</think>\n\n{BOTH_REPLY}", BOTH),
        ReplyCase(
            "opening swallowed, a draft in it",
            f"I could answer {BOTH_REPLY} but no.\n</think>\n{ONE_REPLY}",
            (LISBON,),
            draft=True,
        ),
        ReplyCase("two of them", f"<think>a</think><reasoning>b</reasoning>{BOTH_REPLY}", BOTH),
        ReplyCase("in prose", f"Sure. <thinking>{BOTH_LIST}</thinking> {ONE_REPLY}", (LISBON,)),
        ReplyCase("after the answer", f"{ONE_REPLY}\n<think>or {BOTH_REPLY}?</think>", (LISBON,)),
        ReplyCase("after the answer, unclosed", f"{ONE_REPLY}\n<think>or {BOTH_REPLY}?", (LISBON,)),
        ReplyCase("a stray end after the answer", f"{ONE_REPLY}</think>", (LISBON,)),
        ReplyCase("closed by another tag", f"<think>hm</thinking>{BOTH_REPLY}", BOTH),
        ReplyCase("before a fence", f"<think>hm</think>\n```json\n{BOTH_REPLY}\n```", BOTH),
        ReplyCase(
            "a fact about it",
            reply_of({"operation": "NEW", "content": "User writes <think>x</think> in prompts."}),
            (new("User writes <think>x</think> in prompts."),),
        ),
        ReplyCase(
            "a fact about its end, after prose",
            "Here: " + reply_of({"operation": "NEW", "content": "User ends with </think> a lot."}),
            (new("User ends with </think> a lot."),),
        ),
        ReplyCase("never ends", f"<think>I could answer {BOTH_REPLY}", unusable="only reasoned"),
        ReplyCase("never ends, cut", "<think>The user", unusable="only reasoned", cut=True),
        ReplyCase("nothing after it", "<think>Nothing to keep.</think>", unusable="only reasoned"),
        ReplyCase(
            "a draft and nothing after it", f"maybe {BOTH_REPLY}</think>", unusable="only reasoned"
        ),
        ReplyCase("prose after it", "<think>[]</think>Nothing.", unusable="only reasoned"),
    ],
)
