"""The signs that stand for things on a screen, and what stands in where a terminal lacks them."""

from dataclasses import dataclass, replace

from agent_cli.lib.language import tr


@dataclass(frozen=True)
class Signs:
    """The signs that differ between terminals."""

    running: str = "⏳"
    asking: str = "✋"
    done: str = "✅"
    failed: str = "❌"
    prompt: str = "▌"
    bar: str = "│"
    cursor: str = "›"
    bullet: str = "•"
    ellipsis: str = "…"
    minus: str = "−"
    dot: str = "·"
    rule: str = "─"
    down: str = "↓"
    right: str = "▸"
    open_item: str = "☐"
    current_item: str = "▶"
    done_item: str = "☑"
    spinner: str = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


EMOJI = Signs()
PLAIN = Signs(running="… ", asking="? ", done="ok", failed="!!")
ASCII = Signs(
    running="..",
    asking="? ",
    done="ok",
    failed="!!",
    prompt=">",
    bar="|",
    cursor=">",
    bullet="-",
    ellipsis="...",
    minus="-",
    dot="-",
    rule="-",
    down="v",
    right=">",
    open_item="[ ]",
    current_item="[>]",
    done_item="[x]",
    spinner="-\\|/",
)


def words() -> Signs:
    """For text that is read aloud."""
    return replace(
        ASCII,
        running=tr("Running:"),
        asking=tr("Waiting:"),
        done=tr("Done:"),
        failed=tr("Failed:"),
        bar=" ",
        prompt=">",
    )
