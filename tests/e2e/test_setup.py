"""From nothing to a model, as a person does it: plain questions, and the screen."""

import json
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

import pytest

from tests.e2e.test_screen import READY, ask
from tests.kit.exchange import RecordedRequest, Step
from tests.kit.failures import unauthorized
from tests.kit.local_servers import NO_SERVERS, ollama, serving
from tests.kit.model_server import Reply, running_server
from tests.kit.program import Program
from tests.kit.terminal import AGENT, Terminal

WRONG, RIGHT = "sk-wrong-0123456789abcdef", "sk-right-0123456789abcdef"
STARTED = "`agent` now uses openai/gpt-4o."


def by_key(request: RecordedRequest) -> Step:
    """Answers whoever has the right key."""
    return Reply("It is done.") if RIGHT in request.headers["authorization"] else unauthorized()


def files_with(program: Program, text: str) -> list[str]:
    held = [path for path in program.home.rglob("*") if path.is_file()]
    return [path.name for path in held if text.encode() in path.read_bytes()]


def credentials(program: Program) -> dict[str, str]:
    path = program.home / ".config" / "agent" / "credentials.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    held: dict[str, str] = json.loads(path.read_text())
    return held


# ── plain questions ───────────────────────────────────────────────────────────────────────────────


def test_a_wrong_key_is_explained_and_the_right_one_is_used_by_the_next_start(
    program: Program,
) -> None:
    with running_server(by_key, by_key, by_key) as server:
        env = {"OPENAI_API_BASE": f"{server.url}/v1"}
        answers = ["openai", "gpt-4o 2024", "openai/gpt-4o", WRONG, RIGHT]
        done = program.run("setup", "--plain", stdin="\n".join(answers) + "\n", environment=env)
        assert done.code == 0, done.out + done.err
        assert "Anthropic" in done.out
        assert "needs a key" in done.out
        assert "128k tokens · $2.50 in, $10.00 out per million" in done.out
        assert "The key was not accepted." in done.out
        assert STARTED in done.out
        first = done.out.index("The key was not accepted.")
        assert first < done.out.index("openai/gpt-4o works")
        assert credentials(program) == {"OPENAI_API_KEY": RIGHT}
        used = program.run("-p", "say something", environment=env)
    assert used.out == "It is done.\n"
    assert used.code == 0
    said = done.out + done.err + used.out + used.err
    assert WRONG not in said
    assert RIGHT not in said
    assert files_with(program, WRONG) == []
    assert files_with(program, RIGHT) == ["credentials.json"]
    assert list(program.workspace.iterdir()) == []


def test_looking_around_changes_nothing(program: Program) -> None:
    done = program.run("setup", "--plain", stdin="look around\n")
    assert done.code == 0
    assert "offline:guide" in done.out
    assert "No model chosen." in program.run("-p", "hi").err


def test_a_key_in_the_environment_is_not_asked_for_and_a_wrong_one_not_replaced(
    program: Program,
) -> None:
    with running_server(by_key) as server:
        env = {"OPENAI_API_BASE": f"{server.url}/v1", "OPENAI_API_KEY": WRONG}
        answers = ["OpenAI", "openai/gpt-4o", "n", ""]
        done = program.run("setup", "--plain", stdin="\n".join(answers) + "\n", environment=env)
    assert done.code == 1
    assert "key in OPENAI_API_KEY" in done.out
    assert "OpenAI reads it from OPENAI_API_KEY" in done.out
    assert "Paste" not in done.out
    assert WRONG not in done.out + done.err
    assert files_with(program, WRONG) == []


def test_a_model_on_this_machine_is_probed_and_its_window_asked_for(program: Program) -> None:
    with running_server(Reply("ok"), Reply("Read.")) as server:
        env = {"AGENT_LOCAL_PORTS": f"{NO_SERVERS},ollama={port_of(server.url)}"}
        done = program.run("setup", "--plain", stdin="scripted-large\n", environment=env)
        assert done.code == 0, done.out + done.err
        used = program.run("-p", "hi")
        asked = server.requests[-1]
    assert "Ollama on this machine" in done.out
    assert "each request asks for 32,768" in done.out
    assert used.out == "Read.\n"
    assert asked.path == "/api/chat"
    assert asked.body["model"] == "scripted-large"
    assert asked.body["options"]["num_ctx"] == 32_768


def port_of(url: str) -> str:
    return url.rpartition(":")[2]


# ── the screen ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def open_agent(program: Program) -> Iterator[Callable[..., Terminal]]:
    """Opens the program in a terminal."""
    with ExitStack() as stack:

        def start(*arguments: str, env: Mapping[str, str] | None = None) -> Terminal:
            terminal = Terminal(
                [*AGENT, *arguments],
                cwd=program.workspace,
                env=program.environment(env),
                size=(100, 34),
            )
            return stack.enter_context(terminal)

        yield start


def test_the_screen_asks_tries_and_keeps(
    program: Program, open_agent: Callable[..., Terminal]
) -> None:
    with running_server(by_key, by_key, by_key) as server:
        env = {"OPENAI_API_BASE": f"{server.url}/v1"}
        terminal = open_agent("setup", env=env)
        terminal.wait_for("Which model do you want to use?", "Look around first", "needs a key")
        terminal.send("openai")
        terminal.wait_gone("Anthropic")
        terminal.press("enter")
        terminal.wait_for("Which OpenAI model?", "k tokens")
        terminal.send("gpt-4o")
        terminal.wait_gone("openai/gpt-5 ")
        terminal.press("enter")
        for key in (WRONG, RIGHT):
            terminal.wait_for("Paste your OpenAI API key", "hidden while you type")
            terminal.paste(key)
            terminal.wait_for("•••")
            assert key not in terminal.text()
            terminal.press("enter")
            terminal.wait_gone("hidden while you type")
        assert terminal.wait_end() == 0
        chosen = server.requests[-1].body["model"]
        assert chosen.startswith("gpt-4o")
        assert credentials(program) == {"OPENAI_API_KEY": RIGHT}
        for key in (WRONG, RIGHT):
            assert key.encode() not in terminal.raw
        terminal = open_agent("--trust", env=env)
        terminal.wait_for(READY, chosen)
        ask(terminal, "go")
        terminal.wait_for("It is done.")
    assert files_with(program, WRONG) == []
    assert files_with(program, RIGHT) == ["credentials.json"]


def test_one_key_is_used_with_a_word_about_it(open_agent: Callable[..., Terminal]) -> None:
    with running_server(Reply("It is done.")) as server:
        terminal = open_agent(
            "--trust", env={"OPENAI_API_BASE": f"{server.url}/v1", "OPENAI_API_KEY": RIGHT}
        )
        terminal.wait_for(READY, "Using openai/gpt-5, because OPENAI_API_KEY is set.")
        ask(terminal, "go")
        terminal.wait_for("It is done.")


def test_two_keys_are_asked_about_and_looking_around_reaches_the_prompt(
    open_agent: Callable[..., Terminal],
) -> None:
    terminal = open_agent("--trust", env={"ANTHROPIC_API_KEY": WRONG, "MISTRAL_API_KEY": WRONG})
    shown = terminal.wait_for("Which model do you want to use?", "key in MISTRAL_API_KEY")
    assert "key in ANTHROPIC_API_KEY" in shown
    terminal.send("look around")
    terminal.wait_gone("Anthropic")
    terminal.press("enter")
    terminal.wait_for(READY, "offline:guide")


def test_the_only_local_model_is_used_with_a_warning(open_agent: Callable[..., Terminal]) -> None:
    with serving(ollama("qwen3", show={"model_info": {"q.context_length": 40_000}})) as server:
        ports = f"{NO_SERVERS},ollama={server.port}"
        terminal = open_agent("--trust", env={"AGENT_LOCAL_PORTS": ports})
        terminal.wait_for(READY, "Using ollama_chat/qwen3, because Ollama runs it", "num_ctx")


def test_leaving_the_screen_changes_nothing(
    program: Program, open_agent: Callable[..., Terminal]
) -> None:
    terminal = open_agent("setup")
    terminal.wait_for("Which model do you want to use?")
    terminal.press("ctrl+c")
    assert terminal.wait_end() == 1
    assert not (program.home / ".config" / "agent").exists()
    assert not terminal.modes_left_on - {"?7", "?25"}
