"""Draws docs/picture.svg from the real app: python docs/picture.py"""

import asyncio
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from agent_cli.frontends.tui.app import AgentApp
from agent_cli.frontends.tui.app_parts import open_chat
from agent_cli.frontends.tui.modals.guarded_modal import GuardedModal
from agent_cli.launch_options import LaunchOptions

HERE = Path(__file__).resolve().parent
CART = '''"""A shopping cart."""


def total(prices, discount=0):
    """What the customer pays."""
    net = sum(prices)
    return net - discount * 100


def items(cart):
    return [line.item for line in cart]
'''
STEPS = (
    {
        "text": "I look for where the discount is taken off.",
        "calls": [
            {"name": "Grep", "arguments": {"pattern": "discount", "output_mode": "content"}},
            {"name": "Read", "arguments": {"file_path": "cart.py"}},
        ],
    },
    {
        "text": "`total` subtracts the discount **a hundred times**: it is a fraction, not a "
        "percentage. I correct that line.",
        "calls": [
            {
                "name": "Edit",
                "arguments": {
                    "file_path": "cart.py",
                    "old_string": "    return net - discount * 100\n",
                    "new_string": "    return round(net * (1 - discount), 2)\n",
                },
            }
        ],
    },
)


def prepare(workspace: Path) -> None:
    workspace.mkdir(parents=True)
    (workspace / "cart.py").write_text(CART)
    (workspace / "README.md").write_text("# shop\n\nA discount of 0.1 is ten per cent.\n")
    subprocess.run(["git", "init", "-q", "-b", "main", workspace], check=True)
    Path("demo").write_text("".join(json.dumps(step) + "\n" for step in STEPS))


async def draw(workspace: Path) -> str:
    launch_options = LaunchOptions(cwd=workspace, trust=True, settings={"model": "scripted:demo"})
    app = AgentApp(lambda: open_chat(app, launch_options), root=workspace, real_terminal=False)
    async with app.run_test(size=(100, 34)) as pilot:
        while not app.is_open:
            await pilot.pause(0.05)
        app.chat.send("Customers with a discount get money back. Why?")
        while not (isinstance(app.screen, GuardedModal) and app.screen.seen_end):
            await pilot.pause(0.05)
        await pilot.pause(1)
        picture = app.export_screenshot(title="agent")
        await pilot.press("ctrl+c")
    await app.session.close()
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)  # nothing is fetched


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home
        os.chdir(home)
        workspace = Path(home, "src", "shop")
        prepare(workspace)
        picture = asyncio.run(draw(workspace))
        assert home not in picture
        os.chdir(HERE)
    (HERE / "picture.svg").write_text(picture)


if __name__ == "__main__":
    main()
