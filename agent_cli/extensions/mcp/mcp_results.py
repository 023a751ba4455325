"""What a server answered, as a result of ours: text, pictures, resources, data."""

import json
import re
from typing import Any

from agent_cli.core.display import Display, ImageBlock, TextBlock
from agent_cli.core.errors import ToolFailure
from agent_cli.core.messages import ImagePart, TextPart
from agent_cli.core.tool import ToolResult
from agent_cli.lib.language import tr, trn

MAX_PICTURE_BYTES = 5_000_000
"""Characters of base64."""
MAX_PICTURES = 8
MAX_BLOCKS = 1_000
_PICTURE = re.compile(r"image/(?:png|jpeg|gif|webp)")


def convert_result(result: Any, server: str, *, takes_images: bool) -> ToolResult:
    """A `CallToolResult` as ours; one that tells of an error is raised as a failure."""
    texts: list[str] = []
    pictures: list[ImagePart] = []
    for block in result.content[:MAX_BLOCKS]:
        picture = _picture(block)
        if picture is None:
            texts.append(_text(block))
        elif not takes_images or len(pictures) >= MAX_PICTURES:
            why = "this model does not accept images"
            if takes_images:
                why = "too many images"
            texts.append(f"[image ({picture.media_type}) left out: {why}]")
        else:
            pictures.append(picture)
    if len(result.content) > MAX_BLOCKS:
        more = len(result.content) - MAX_BLOCKS
        texts.append(f"[{more:,} more parts left out]")
    if result.structured_content is not None and not any(text.strip() for text in texts):
        texts.append(json.dumps(result.structured_content, ensure_ascii=False, indent=1))
    texts = [text for text in texts if text]
    if result.is_error:
        raise ToolFailure(
            "\n".join(texts) or f"The MCP server {server} reported an error without details."
        )
    return _result(texts, pictures, server)


def _result(texts: list[str], pictures: list[ImagePart], server: str) -> ToolResult:
    told = "\n".join(texts)
    shown: list[Display] = [TextBlock(text=told)] if texts else []
    shown += [
        ImageBlock(path=tr("from {server}", server=server), media_type=picture.media_type)
        for picture in pictures
    ]
    return ToolResult(
        llm_content=(TextPart(text=told), *pictures) if pictures else told,
        display=tuple(shown),
        summary=_summary(told, len(pictures)),
    )


def _summary(told: str, pictures: int) -> str:
    lines = trn("{n:,} line", "{n:,} lines", told.count("\n") + 1)
    seen = trn("{n:,} picture", "{n:,} pictures", pictures)
    if told and pictures:
        return tr("{lines} and {pictures}", lines=lines, pictures=seen)
    return lines if told else seen if pictures else tr("no output")


def _picture(block: Any) -> ImagePart | None:
    """The picture in a block, if it is one that can be passed on."""
    data, media = getattr(block, "data", None), str(getattr(block, "mime_type", ""))
    if block.type != "image" or not isinstance(data, str) or not _PICTURE.fullmatch(media):
        return None
    if len(data) > MAX_PICTURE_BYTES or not re.fullmatch(r"[A-Za-z0-9+/\s]*={0,2}\s*", data):
        return None
    return ImagePart(media_type=media, data=data)


def _text(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "resource":
            held = block.resource
            text = getattr(held, "text", None)
            if text is None:
                return f"[resource {held.uri}: binary, left out]"
            return f"[resource {held.uri}]\n{text}"
        case "resource_link":
            about = f"{block.name} ({block.description})" if block.description else block.name
            return f"[resource {block.uri}: {about}]"
        case other:
            return f"[{other} content left out]"
