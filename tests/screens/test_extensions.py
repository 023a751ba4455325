"""Extensions on the screen: their commands, their notices, and what they ask."""

import time

from agent_cli.core.inbox import Approval
from agent_cli.frontends.tui.modals.guarded_modal import GuardedModal
from tests.kit.mcp_world import configure, odd
from tests.kit.sessions import SceneMaker
from tests.kit.shells import until
from tests.screens.app import Screen, running

GREET = """
from agent_cli.extensions.api import SlashCommand, tool

@tool
def greet(whom: str) -> str:
    '''Greets.'''
    return f"Hello, {whom}!"

async def shout(argument):
    return f"**{argument.upper()}**"

SHOUT = SlashCommand(name="shout", help="says it loudly", run=shout, argument="<text>")
"""


async def say_yes(screen: Screen, *texts: str) -> None:
    """Read a modal to its end, and answer it when it can be answered."""
    await screen.shows(*texts)

    def can_answer() -> bool:
        modal = screen.app.screen
        return isinstance(modal, GuardedModal) and modal.guard.may_answer(time.monotonic())

    await until(can_answer)
    await screen.pilot.press("ctrl+end")
    await screen.asked()
    await until(can_answer)
    await screen.pilot.press("y")


async def test_a_tool_is_loaded_asked_about_and_gone_without_a_restart(
    make_session: SceneMaker,
) -> None:
    tools = make_session.home / ".config" / "agent" / "tools"
    tools.mkdir(parents=True)
    call = {"calls": [{"name": "greet", "arguments": {"whom": "Ada"}}]}
    scene = make_session(call, {"text": "done"})
    async with running(scene) as screen:
        await screen.app.session.extensions.wait_ready(60)
        (tools / "greet.py").write_text(GREET)
        await screen.send("/reload")
        await screen.shows("Loaded greet (1 tool).")
        await screen.send("/shout hey")
        await screen.shows("HEY")
        await screen.send("go")
        await say_yes(screen, "Allow greet?")
        await screen.shows("Hello, Ada!")
        await screen.idle()
        (tools / "greet.py").unlink()
        await screen.send("/reload")
        await screen.shows("Removed greet.")
        assert "greet" not in {tool.name for tool in scene.session.tools}
        await screen.send("/shout hey")
        await screen.shows("There is no command /shout.")


async def test_a_server_is_approved_in_two_steps(make_session: SceneMaker) -> None:
    configure(make_session.home, {"odd": odd()})
    async with running(make_session(), size=(100, 40)) as screen:
        await screen.shows("1 MCP server not started: odd (not approved)", "/mcp approve odd")
        await screen.send("/mcp approve odd")
        await say_yes(screen, "Allow to start the MCP server odd?", "odd_server.py", "it is new")
        await say_yes(screen, "Allow the tools of the MCP server odd?")
        await screen.shows("Approved odd with 12 tools.")
        await screen.send("/mcp")
        await screen.shows("12 tools")


async def test_ctrl_c_refuses_what_is_asked_outside_of_a_turn(make_session: SceneMaker) -> None:
    configure(make_session.home, {"odd": odd()})
    async with running(make_session()) as screen:
        await screen.shows("not started: odd")
        await screen.send("/mcp approve odd")
        await screen.asked("Allow to start the MCP server odd?")
        await screen.pilot.press("ctrl+c")
        await screen.shows("odd was not started.")
        assert not screen.session.waiting
        assert not screen.session.reply("ask-1", Approval(answer="once"))


async def test_a_command_from_a_file_is_in_the_menu_and_sent_as_a_prompt(
    make_session: SceneMaker,
) -> None:
    commands = make_session.home / ".config" / "agent" / "commands"
    commands.mkdir(parents=True)
    (commands / "polish.md").write_text("---\ndescription: Polishes a file\n---\nPolish $1.")
    hook = {"on": "before_tool", "tools": ["Bash"], "command": "look-at-it"}
    scene = make_session({"text": "It shines."}, settings={"hooks": [hook]})
    async with running(scene) as screen:
        await screen.app.session.extensions.wait_ready(60)
        await screen.pilot.press(*"/poli")
        await screen.shows("Polishes a file (user)")
        await screen.pilot.press("escape", *["backspace"] * 5)
        await screen.send("/polish a.py")
        await screen.shows("/polish a.py", "It shines.")
        await screen.idle()
        await screen.send("/hooks")
        await screen.shows("before_tool (Bash): look-at-it, timeout 10 s")
    assert scene.model.requests[-1].messages[-1].content == "Polish a.py."
