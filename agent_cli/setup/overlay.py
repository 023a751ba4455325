"""Settings plus what setup found out: the choice, and facts about a local model."""

from agent_cli.config.schema import ModelSettings, Settings
from agent_cli.config.user_directories import Directories
from agent_cli.setup.cards import Card, CardFile
from agent_cli.setup.local_servers import may_be_local
from agent_cli.setup.model_choice import ModelChoiceFile


def with_choice(settings: Settings, places: Directories) -> Settings:
    """The settings with the model chosen earlier, where they name none or the very same."""
    choice = ModelChoiceFile(places.state).read()
    if choice is None or settings.model not in ("", choice.model):
        return settings
    base = settings.api_base or choice.api_base
    return settings.model_copy(update={"model": choice.model, "api_base": base})


def with_card(settings: Settings, places: Directories) -> Settings:
    """The settings with what is known of the model's server, where they do not say it."""
    card = CardFile(places.state).get(settings.model, base_of(settings))
    if card is None:
        return settings
    own = settings.models.get(settings.model) or ModelSettings()
    models = {**settings.models, settings.model: _fill(own, card)}
    return settings.model_copy(update={"models": models})


def learn(settings: Settings, places: Directories) -> str:
    """Probe a local model that has no card yet; returns a warning, or nothing."""
    base = base_of(settings)
    if not may_be_local(settings.model, base):
        return ""
    cards = CardFile(places.state)
    if cards.get(settings.model, base) is not None:
        return ""
    from agent_cli.setup.probe import probe  # noqa: PLC0415 (few need it)

    card = probe(settings.model, base)
    if card is None:
        return ""
    cards.keep(settings.model, base, card)
    return card.warning


def base_of(settings: Settings) -> str | None:
    """Where the model is served, by the settings."""
    own = settings.models.get(settings.model)
    return (own.api_base if own else None) or settings.api_base


def _fill(own: ModelSettings, card: Card) -> ModelSettings:
    """The user's settings win; the card fills in the rest."""
    given = own.model_fields_set
    options = {**card.options, **own.options}
    asked = options.get("num_ctx")
    found: dict[str, object] = {
        "window": asked if isinstance(asked, int) else card.window,
        "prompted_tools": None if card.native_tools is None else not card.native_tools,
        "takes_images": bool(card.takes_images),
    }
    kept = {name: value for name, value in found.items() if name not in given}
    return own.model_copy(update={**kept, "options": options})
