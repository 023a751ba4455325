"""A profile: the role an agent plays, with its words, tools, model, mode and budget."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from agent_cli.core.errors import UserError
from agent_cli.core.policy import Mode
from agent_cli.core.registry import Registry, Selection
from agent_cli.lib.language import mark, tr


def select_for_mode(mode: Mode, selection: Selection) -> Selection:
    """What of the selected tools a model is offered: in plan mode, those that change nothing."""
    read_only = selection.read_only or mode is Mode.PLAN
    return replace(selection, mode=mode.value, read_only=read_only)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A named role."""

    name: str
    description: str = ""
    """When to use it, for the user and for the model that delegates."""
    prompt: str = ""
    """Added to the system prompt."""
    model: str = ""
    """Empty: the model in use."""
    tools: tuple[str, ...] | Literal["all"] = "all"
    read_only: bool = False
    """Whether it may use only tools that change nothing."""
    mode: Mode | None = None
    """The permission mode; None: the one in force."""
    budget: float | None = None
    """Dollars."""
    role: str | None = None
    """What tools that require a role are asked for."""
    source: str = mark("built in")
    from_project: bool = False
    """A project wrote it: it can tighten, never loosen."""

    def narrow(self, selection: Selection, registry: Registry) -> Selection:
        """What of the selected tools the profile may use."""
        names = selection.names
        if self.tools != "all":
            known = ((name, registry.get(name)) for name in self.tools)
            own = frozenset(tool.name if tool else name for name, tool in known)
            names = own if names == "all" else own & frozenset(names)
        read_only = selection.read_only or self.read_only
        return replace(selection, names=names, read_only=read_only, role=self.role)


DEFAULT = Profile(name="default", description=mark("All tools, with the current mode and model."))
PLAN = Profile(
    name="plan",
    description=mark("Reads and thinks, changes nothing, and ends with a plan."),
    mode=Mode.PLAN,
    prompt="Find out what has to be done and how, change nothing, and give a plan: the files, "
    "what changes in each, in which order, and how it is checked.",
)
REVIEW = Profile(
    name="review",
    description=mark("Reviews changes or code and reports problems. Read-only."),
    read_only=True,
    prompt="You review. Read what you were pointed to and what it touches. Report faults, the "
    "worst first: where (file and line), what goes wrong and when, and how to fix it. Say "
    "what you verified and what you only suspect. No praise, no matters of taste.",
)
BUILT_IN = (DEFAULT, PLAN, REVIEW)


@dataclass(frozen=True)
class Profiles:
    """All profiles of a session, by name."""

    by_name: Mapping[str, Profile] = field(
        default_factory=lambda: {profile.name: profile for profile in BUILT_IN}
    )
    problems: tuple[str, ...] = ()
    """What could not be used of the files, and why."""

    def __iter__(self) -> Iterator[Profile]:
        return iter(self.by_name.values())

    def get(self, name: str) -> Profile:
        """The profile of this name; raises UserError."""
        if name not in self.by_name:
            raise UserError(
                tr("There is no profile named {name}.", name=name),
                hint=tr("The profiles are: {names}.", names=", ".join(self.by_name)),
            )
        return self.by_name[name]
