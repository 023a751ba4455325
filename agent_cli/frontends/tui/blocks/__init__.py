"""The blocks of the transcript, one kind in each module."""

from agent_cli.frontends.tui.blocks.banner import BannerBlock
from agent_cli.frontends.tui.blocks.base import Block
from agent_cli.frontends.tui.blocks.notice import ErrorBlock, NoticeBlock
from agent_cli.frontends.tui.blocks.prompt import PromptBlock
from agent_cli.frontends.tui.blocks.reply import ReplyBlock
from agent_cli.frontends.tui.blocks.thinking import ThinkingBlock
from agent_cli.frontends.tui.blocks.tool import ToolBlock

__all__ = [
    "BannerBlock",
    "Block",
    "ErrorBlock",
    "NoticeBlock",
    "PromptBlock",
    "ReplyBlock",
    "ThinkingBlock",
    "ToolBlock",
]
