"""What a session needs to have the guide at hand; the guide itself is loaded when it is used."""

from collections.abc import Callable
from pathlib import Path

from agent_cli.core.model import Model
from agent_cli.models.guide import NAME


def tour_folder(model: str, temporary: str | None) -> Path | None:
    """Where the guide gives its tour: away from the project, gone with the session."""
    if model != NAME or temporary is None:
        return None
    from agent_cli.models.guide.tour import lay_out  # noqa: PLC0415 (needed only here)

    try:
        return lay_out(Path(temporary).resolve() / "tour")
    except OSError:
        return None


def maker(scratch: Path | None, *, is_paced: bool) -> Callable[[], Model]:
    """Makes the guide; unpaced, it goes through its tour without a pause."""

    def make() -> Model:
        from agent_cli.models.guide.guide_model import GuideModel  # noqa: PLC0415 (few need it)

        return GuideModel(scratch, is_paced=is_paced)

    return make
