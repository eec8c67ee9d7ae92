"""How the page of each release speaks: every difference between them that the driver knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Release:
    """A host's version together with what its page does in its own way."""

    version: str

    @property
    def number(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.version.split(".")[:3])

    @property
    def temporary_prefix(self) -> str:
        """What stands before the socket's id in the id of a temporary chat."""
        return "temporary:" if self.number >= (0, 11, 4) else "local:"

    @property
    def memory_is_on_unless_switched_off(self) -> bool:
        """Whether the page asks for the host's own memory unless the user switched it off."""
        return self.number >= (0, 10)

    @property
    def restores_while_streaming(self) -> bool:
        """Whether an answer that may call tools can have its values before it is stored.

        0.10 offers tools with every message, and gives what was said before a call back to the
        model without asking the filter, as later releases do from 0.11.2 on.
        """
        return self.number < (0, 10) or self.number >= (0, 11, 2)

    @property
    def names_the_author(self) -> bool:
        """Whether messages carry who wrote them, and in temporary chats their ids, too."""
        return self.number >= (0, 12)

    @property
    def names_a_chat_again(self) -> bool:
        """Whether the first answer of a stored chat, given anew, asks for title and tags again."""
        return self.number >= (0, 12)

    @property
    def translates_functions(self) -> bool:
        """Whether it shows what a function is and has in the language of the page."""
        return self.number >= (0, 11, 4)

    def message_ids(
        self, placeholders: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """The part of a request that says which model answers in which message."""
        if self.number < (0, 10):
            by_model = {
                message["model"]: message["id"] for message in placeholders
            }
            return {"message_ids": by_model} if len(placeholders) > 1 else {}
        entries = [
            {"model_id": message["model"], "message_id": message["id"]}
            for message in placeholders
        ]
        if self.number < (0, 11, 4):
            return {"message_ids": entries} if len(placeholders) > 1 else {}
        for entry, message in zip(entries, placeholders, strict=True):
            entry["modelIdx"] = message["modelIdx"]
        return {"message_ids": entries}

    def guided_regeneration(
        self, wish: str, message_id: str
    ) -> dict[str, Any]:
        """The part of a request that asks to answer again in another way."""
        if self.number < (0, 12):
            return {"regeneration_prompt": wish}
        return {
            "regeneration_prompt": wish,
            "regeneration_message_id": message_id,
        }
