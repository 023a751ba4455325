"""What every request begins with stays small."""

from bench.prompt import run


def test_the_fixed_prompt_and_all_tools_keep_their_budget() -> None:
    *_, whole = run()
    assert whole.ok, f"{whole.value} tokens"
