"""What an editor sends as a prompt: text, files, pictures."""

import base64
import binascii
import os
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from acp import schema

from agent_cli.core.errors import UserError
from agent_cli.core.messages import Content, ContentPart, ImagePart, TextPart
from agent_cli.frontends.acp.blocks import fence
from agent_cli.frontends.shared.typed import clean_paste, mention
from agent_cli.lib.filekinds import image
from agent_cli.lib.language import tr
from agent_cli.lib.text import size

Sent = (
    schema.TextContentBlock
    | schema.ImageContentBlock
    | schema.AudioContentBlock
    | schema.ResourceContentBlock
    | schema.EmbeddedResourceContentBlock
)

_MAX_PICTURE_BYTES = 20_000_000
_BYTES_LOOKED_AT = 4096


def read_prompt(blocks: Sequence[Sent], root: str) -> Content:
    """The prompt as the session takes it; raises UserError if there is nothing in it."""
    parts: list[ContentPart] = []
    text = ""
    for block in blocks:
        piece = _piece(block, root)
        if isinstance(piece, str):
            text += piece
            continue
        if text.strip():
            parts.append(TextPart(text=text))
        text = ""
        parts.append(piece)
    if not parts:
        if not text.strip():
            raise UserError(tr("There is no prompt."))
        return text
    if text.strip():
        parts.append(TextPart(text=text))
    return tuple(parts)


def _piece(block: Sent, root: str) -> str | ImagePart:
    match block:
        case schema.TextContentBlock():
            return clean_paste(block.text)
        case schema.ImageContentBlock():
            return _picture(block.data, block.uri or tr("the image"))
        case schema.ResourceContentBlock():
            return mention(_name(block.uri, root))
        case schema.EmbeddedResourceContentBlock(resource=schema.TextResourceContents() as held):
            return f"\n\n{_place(held.uri, root)}:\n{fence(clean_paste(held.text))}\n\n"
        case schema.EmbeddedResourceContentBlock(resource=schema.BlobResourceContents() as blob):
            if (blob.mime_type or "").startswith("image/"):
                return _picture(blob.blob, _name(blob.uri, root))
            return f"\n\n[{_name(blob.uri, root)} is not text; it was not sent]\n\n"
        case _:
            return "\n\n[A recording was left out: only text and pictures can be sent]\n\n"


def _picture(data: str, name: str) -> ImagePart:
    """A picture of a kind that models take, whatever it is said to be; raises UserError."""
    if len(data) > _MAX_PICTURE_BYTES * 4 // 3:
        raise UserError(
            tr("{name} is larger than {most}.", name=name, most=size(_MAX_PICTURE_BYTES))
        )
    try:
        decoded = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise UserError(tr("{name} is incomplete.", name=name)) from error
    found = image(decoded[:_BYTES_LOOKED_AT])
    if found is None:
        raise UserError(tr("{name} is not a PNG, JPEG, GIF or WebP image.", name=name))
    return ImagePart(media_type=found.media_type, data=data)


def _place(uri: str, root: str) -> str:
    """A file, and which lines of it, if that is told: "src/app.py#L3:9"."""
    lines = urlsplit(clean_paste(uri).replace("\n", " ")).fragment
    return _name(uri, root) + (f"#{lines}" if lines and uri.startswith("file:") else "")


def _name(uri: str, root: str) -> str:
    """A file by its path, as short as it can be said; anything else by its address."""
    parts = urlsplit(clean_paste(uri).replace("\n", " "))
    if parts.scheme not in ("file", ""):
        return parts.geturl()
    path = unquote(parts.path)
    inside = path.startswith(root.rstrip("/") + "/")
    return os.path.relpath(path, root) if inside else path
