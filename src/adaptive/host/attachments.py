"""The texts of the files that a user attaches to a message."""

import asyncio
from pathlib import Path
from typing import cast

from adaptive.core.messages import listing, mapping, text_field
from adaptive.core.model import AdaptiveMemoryError, JsonMapping
from adaptive.host.faults import HostFaults, uninterrupted
from adaptive.host.hook import HostHook
from adaptive.settings.hook import Hook

_MOST_BYTES = 4 * 1024 * 1024
_TOO_LARGE = "an attached file is larger than 4 MB; attach it in parts"
_NO_TEXT = (
    "an attached file holds no plain text or JSON; unpack an archive first"
)
_NOT_OWN = "an attached file is not there, or is not your own"


async def attached_texts(hook: Hook) -> list[str]:
    """The texts of the files that stand with the user's message.

    Raises:
        AdaptiveMemoryError: one is too large, no text, or another user's.
    """
    host = cast(HostHook, hook)  # this room has made it
    message = mapping(host.arguments.metadata, "user_message")
    return [
        await _attached_text(hook.user_id, mapping(attached))
        for attached in listing(message.get("files"))
    ]


@uninterrupted
async def _attached_text(user_id: str, attached: JsonMapping) -> str:
    """A file's text as it was uploaded: what the host has read of it has other quotation marks.

    In a temporary chat nothing is uploaded, and the page sends the text along.
    """
    text = text_field(attached, "content")
    if text:
        return text
    with HostFaults("reading an attached file"):
        from open_webui.models.files import Files
        from open_webui.storage.provider import Storage

        file = await Files.get_file_by_id_and_user_id(
            text_field(attached, "id"), user_id
        )
        if file is None:
            raise AdaptiveMemoryError(_NOT_OWN)
        if mapping(file.meta).get("size", 0) > _MOST_BYTES:
            raise AdaptiveMemoryError(_TOO_LARGE)
        path = await asyncio.to_thread(Storage.get_file, file.path)
        content = await asyncio.to_thread(Path(path).read_bytes)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AdaptiveMemoryError(_NO_TEXT) from error
