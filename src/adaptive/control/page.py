"""The page of what is known: a document that stands beside the list, with search and buttons.

It puts commands into the message field, and sends none. Without scripts it is a list, too.
"""

from collections.abc import Mapping, Sequence
from html import escape
from string import Template
from urllib.parse import quote

from adaptive.control.requests import Day, grouped, marks_told
from adaptive.core.messages import clipped_line
from adaptive.core.model import Memory
from adaptive.core.texts import PROMPTS
from adaptive.memory.archive import memories_counted

_LONGEST_SHOWN = 400


def memory_page(
    memories: Sequence[Memory],
    numbers: Mapping[str, int],
    day: Day,
) -> str:
    """The memories as an HTML document, in their groups and with their numbers."""
    sections: list[str] = []
    groups = grouped(memories)
    for title, group in groups.items():
        items = [_item(memory, numbers[memory.id], day) for memory in group]
        heading = f"<h2>{escape(title)}</h2>"
        sections.append(
            f"<section>{heading}<ul>{''.join(items)}</ul></section>"
        )
    counted = memories_counted(len(memories))
    listed = sum(map(len, groups.values()))
    if listed < len(memories):
        counted = f"The newest {listed} of {counted}"
    return Template(PROMPTS["memory_page"]).substitute(
        counted=counted, groups="\n".join(sections)
    )


def _item(memory: Memory, number: int, day: Day) -> str:
    """A memory as an item of the page."""
    words = escape(clipped_line(memory.content, _LONGEST_SHOWN))
    about = [escape(day(memory.updated_at))]
    chat_id = str(memory.meta.get("chat_id") or "")
    if chat_id:
        link = f"/c/{quote(chat_id, safe='')}"
        about.append(f'<a href="{link}" target="_blank">chat</a>')
    about += [f"<b>{escape(mark)}</b>" for mark in marks_told(memory)]
    return (
        f'<li data-number="{number}" data-marks="{escape(" ".join(memory.marks))}">'
        f'<span class="number">{number}.</span><span class="words">{words}</span>'
        f'<span class="about">{" &middot; ".join(about)}</span></li>'
    )
