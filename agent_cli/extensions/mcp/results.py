"""What a server answered, as a result of ours: text, pictures, resources, data."""

import json
import re
from typing import Any

from agent_cli.core.display import Display, ImageBlock, TextBlock
from agent_cli.core.errors import ToolFailure
from agent_cli.core.messages import ImagePart, TextPart
from agent_cli.core.tool import ToolResult
from agent_cli.lib.text import plural

LARGEST_PICTURE = 5_000_000
"""Characters of base64."""
MOST_PICTURES = 8
MOST_BLOCKS = 1_000
_PICTURE = re.compile(r"image/(?:png|jpeg|gif|webp)")


def converted(result: Any, server: str, *, takes_images: bool) -> ToolResult:
    """A `CallToolResult` as ours; one that tells of an error is raised as a failure."""
    texts: list[str] = []
    pictures: list[ImagePart] = []
    for block in result.content[:MOST_BLOCKS]:
        picture = _picture(block)
        if picture is None:
            texts.append(_text(block))
        elif not takes_images or len(pictures) >= MOST_PICTURES:
            why = "no more pictures are taken" if takes_images else "this model takes no pictures"
            texts.append(f"[a picture ({picture.media_type}) was left out: {why}]")
        else:
            pictures.append(picture)
    if len(result.content) > MOST_BLOCKS:
        texts.append(f"[{len(result.content) - MOST_BLOCKS:,} more parts were left out]")
    if result.structured_content is not None and not any(text.strip() for text in texts):
        texts.append(json.dumps(result.structured_content, ensure_ascii=False, indent=1))
    told = "\n".join(text for text in texts if text)
    if result.is_error:
        raise ToolFailure(told or f"The MCP server {server} reports an error and says no more.")
    return _result(told, pictures, server)


def _result(told: str, pictures: list[ImagePart], server: str) -> ToolResult:
    shown: list[Display] = [TextBlock(text=told)] if told else []
    shown += [
        ImageBlock(path=f"from {server}", media_type=picture.media_type) for picture in pictures
    ]
    size = plural(told.count("\n") + 1, "line") if told else ""
    seen = plural(len(pictures), "picture") if pictures else ""
    return ToolResult(
        llm_content=(TextPart(text=told), *pictures) if pictures else told,
        display=tuple(shown),
        summary=" and ".join(part for part in (size, seen) if part) or "no output",
    )


def _picture(block: Any) -> ImagePart | None:
    """The picture in a block, if it is one that can be passed on."""
    data, media = getattr(block, "data", None), str(getattr(block, "mime_type", ""))
    if block.type != "image" or not isinstance(data, str) or not _PICTURE.fullmatch(media):
        return None
    if len(data) > LARGEST_PICTURE or not re.fullmatch(r"[A-Za-z0-9+/\s]*={0,2}\s*", data):
        return None
    return ImagePart(media_type=media, data=data)


def _text(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "resource":
            held = block.resource
            text = getattr(held, "text", None)
            about = f"[resource {held.uri}"
            return f"{about}]\n{text}" if text is not None else f"{about}: binary, left out]"
        case "resource_link":
            about = f" ({block.description})" if block.description else ""
            return f"[resource {block.uri}: {block.name}{about}]"
        case other:
            return f"[{other} content was left out]"
