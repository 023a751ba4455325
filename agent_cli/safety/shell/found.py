"""What the lenient scan collects."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class FoundCommand:
    """One simple command as far as it can be told."""

    argv: tuple[str, ...]
    cwd: str | None
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    stdin: str | None = None
    """Text that is fed to it by a heredoc or here-string."""
    piped_from: "FoundCommand | None" = None
    appends: tuple[str, ...] = ()
    """Those of `writes` that keep what is there."""
    globs: tuple[tuple[str, str], ...] = ()
    """Words with wildcards in them, each with its pattern."""
    varies: bool = False
    """A word of it is another one each time a loop comes round."""


@dataclass(slots=True)
class Frame:
    """A level of nesting: a substitution, a subshell, a parameter expansion."""

    kind: str
    words: list[str] = field(default_factory=list)
    word: list[str] = field(default_factory=list)
    has_word: bool = False
    double: bool = False
    redirect: str | None = None
    writes: list[str] = field(default_factory=list)
    appends: list[str] = field(default_factory=list)
    globs: list[tuple[str, str]] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    stdin: str | None = None
    previous: FoundCommand | None = None
    last: FoundCommand | None = None
    count: int = 0
    cwd: str | None = None
    keyword: str = ""
    varies: bool = False


@dataclass(slots=True)
class Scan:
    """The result: commands, texts that are scripts in their turn, and the text without quotes."""

    found: list[FoundCommand] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    data: list[tuple[str, str | None]] = field(default_factory=list)
    """Texts of which only the substitutions run, with the directory they run in."""
    skeleton: list[str] = field(default_factory=list)
