"""The frame of the benchmarks: the table, the exit code, the turns rivals take."""

from pathlib import Path

import pytest

from agent_cli.core.registry import Registry
from agent_cli.storage.audit_log import AuditLog
from bench.__main__ import _benchmarks, main
from bench.pipeline import NO_OP, _pipeline, _times
from bench.rows import Row, at_most, for_information, table
from bench.timing import medians, ratio


def test_the_table_shows_value_budget_and_verdict() -> None:
    rows = [
        at_most("fast", 0.25, "ms", 1),
        at_most("slow", 1.5, "ms", 1),
        for_information("size", 12345.6, "bytes"),
    ]
    assert table(rows).splitlines() == [
        "          measured  budget",
        "fast       0.25 ms    1 ms    ok",
        "slow        1.5 ms    1 ms  OVER",
        "size  12,346 bytes",
    ]


def test_a_benchmark_is_found_by_its_run() -> None:
    assert {"pipeline", "prompt", "startup"} <= set(_benchmarks())
    assert not {"rows", "timing", "__main__"} & set(_benchmarks())


@pytest.mark.parametrize(("value", "code"), [(1.0, 0), (1.1, 1)])
def test_one_value_over_its_budget_fails_the_run(
    value: float,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [Row("free", 1e9, "s"), at_most("bound", value, "×", 1)]
    monkeypatch.setattr("bench.prompt.run", lambda: rows)
    assert main(["prompt"]) == code
    assert ("OVER" in capsys.readouterr().out) is bool(code)


def test_a_name_nobody_knows_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nonsense"]) == 2
    assert "there are:" in capsys.readouterr().out


def test_rivals_take_turns_and_warm_up_does_not_count() -> None:
    order: list[str] = []

    def rival(name: str, values: list[float]) -> float:
        order.append(name)
        return values.pop(0)

    a, b = [99.0, 1.0, 2.0, 3.0], [99.0, 4.0, 5.0, 6.0]
    found = medians({"a": lambda: rival("a", a), "b": lambda: rival("b", b)}, 3)
    assert found == {"a": 2.0, "b": 5.0}
    assert order == ["a", "b"] * 4


def test_a_ratio_is_taken_round_by_round() -> None:
    assert ratio([2.0, 20.0, 3.0], [1.0, 10.0, 1.0]) == 2.0


async def test_the_pipeline_of_the_benchmarks_runs_a_call(tmp_path: Path) -> None:
    registry = Registry()
    registry.register(NO_OP)
    audit = AuditLog(tmp_path / "audit.jsonl")
    pipeline, events = _pipeline(registry, audit, tmp_path)
    assert len(await _times(pipeline, events, "NoOp", {"file_path": "README.md"}, 3)) == 3
    audit.close()
