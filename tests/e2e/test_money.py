"""Budgets and statistics of the real program."""

import json
from typing import Any

from tests.kit.program import Program


def spends(number: int, cost: float | None = 0.4) -> dict[str, Any]:
    usage = {"input_tokens": 500, "output_tokens": 20, "cost": cost}
    arguments = {"file_path": f"f{number}"}
    return {"calls": [{"name": "Read", "arguments": arguments}], "usage": usage}


def test_a_spent_budget_exits_with_3(program: Program) -> None:
    model = program.script(*[spends(n) for n in range(9)])
    done = program.run("-p", "go", "--model", model, "--max-cost", "0.7")
    assert done.code == 3
    assert "$0.80 of $0.70" in done.err
    assert "--max-cost" in done.err


def test_the_budget_of_a_day_counts_every_session(program: Program) -> None:
    limit = {"AGENT_BUDGET_DAY": "0.9"}
    once = ("-p", "go", "--model", program.script(spends(0), spends(1), {"text": "ok"}))
    assert program.run(*once, environment=limit).code == 0
    done = program.run(*once, environment=limit)
    assert done.code == 3
    assert "Today's budget" in done.err


def test_an_unknown_price_is_null_and_not_nothing(program: Program) -> None:
    model = program.script({"text": "ok", "usage": {"input_tokens": 7}})
    done = program.run("-p", "go", "--model", model, "--output-format", "json")
    assert done.events[0]["usage"]["cost"] is None
    limited = program.run(
        "-p", "go", "--model", program.script(spends(0, None), {"text": "ok"}), "--max-cost", "1"
    )
    assert "is unknown" in limited.err


def test_stats_show_what_was_counted(program: Program) -> None:
    (program.workspace / "f0").write_text("x")
    model = program.script(spends(0), spends(1), {"text": "ok"})
    assert program.run("-p", "go", "--model", model).code == 0
    done = program.run("stats", "--json", "--since", "2d")
    assert done.code == 0
    counted = json.loads(done.out)
    (read,) = counted["tools"]
    assert (read["tool"], read["executions"], read["successes"], read["failures"]) == (
        "Read",
        2,
        1,
        1,
    )
    assert counted["models"][0]["model"] == model
    assert counted["models"][0]["usage"]["cost"] == 0.8
    assert len(counted["days"]) == 1
    shown = program.run("stats").out
    assert "Read" in shown
    assert "$0.8000" in shown
    assert "tools available" in shown
    assert "Read" not in program.run("stats", "--by", "model").out


def test_stats_without_anything_say_so(program: Program) -> None:
    done = program.run("stats")
    assert (done.code, done.out) == (0, "")
    assert "No statistics yet" in done.err
    assert program.run("stats", "--since", "soon").code == 2
