"""Time and speed of a turn."""

from agent_cli.frontends.tui.meter import Meter


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_meter_shows_nothing_between_turns() -> None:
    meter = Meter(Clock())
    assert (meter.elapsed, meter.tokens_per_second) == (None, None)
    meter.start()
    meter.stop()
    assert (meter.elapsed, meter.tokens_per_second) == (None, None)


def test_the_speed_is_guessed_while_the_model_speaks_and_counted_after() -> None:
    clock = Clock()
    meter = Meter(clock)
    meter.start()
    clock.now += 5
    meter.add_text("x" * 400)
    assert meter.tokens_per_second is None
    clock.now += 2
    assert meter.elapsed == 7
    assert meter.tokens_per_second == 50
    meter.set_tokens(120)
    clock.now += 30
    assert meter.tokens_per_second == 60
