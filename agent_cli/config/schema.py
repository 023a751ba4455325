"""Every setting there is. The docstrings below are the manual and become config.example.toml."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from agent_cli.core.deciding.examples import wrong_example
from agent_cli.core.deciding.rules import Rule
from agent_cli.core.errors import UserError
from agent_cli.core.moments import Moment
from agent_cli.core.permissions import Effect, Mode


class FromProject:
    """Marks a setting that a project's file may give: it can tighten, never loosen or redirect."""


class Table(BaseModel):
    """The base of all tables of the configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class ExampledRule(Table):
    """A rule with examples of what it is meant to match; they are checked when it is loaded."""

    rule: str
    """The rule itself."""
    match: tuple[str, ...] = ()
    """Commands or paths that it must match."""
    not_match: tuple[str, ...] = ()
    """Commands or paths that it must not match."""


RuleEntry = str | ExampledRule


class PermissionSettings(Table):
    """Rules that let a call through, ask the person, or refuse it. Deny beats ask beats allow.
    A rule is a text or a table with examples:
    { rule = "Bash(npm run test *)", match = ["npm run test a"], not_match = ["npm run testing"] }.
    """

    allow: tuple[RuleEntry, ...] = ()
    """Calls that need no question, such as "Bash(npm run test *)" or "Edit(docs/**)"."""
    ask: Annotated[tuple[RuleEntry, ...], FromProject()] = ()
    """Calls that always ask, even in yolo mode."""
    deny: Annotated[tuple[RuleEntry, ...], FromProject()] = ()
    """Calls that are refused in every mode."""
    dangerous_cmd: bool = True
    """Whether dangerous commands are confirmed. false: in a trusted folder commands run unasked,
    unless a rule asks, they touch secret or protected files or places outside the workspace, or
    they cannot be read for certain. Catastrophic commands stay refused."""

    @field_validator("allow", "ask", "deny")
    @classmethod
    def _readable(
        cls, entries: tuple[RuleEntry, ...], info: ValidationInfo
    ) -> tuple[RuleEntry, ...]:
        for entry in entries:
            given = ExampledRule(rule=entry) if isinstance(entry, str) else entry
            try:
                rule = Rule.parse(given.rule)
            except UserError as error:
                raise ValueError(f"{error.message} {error.hint}") from error
            effect = Effect(info.field_name or "deny")
            if wrong := wrong_example(rule, effect, given.match, given.not_match):
                raise ValueError(wrong)
        return entries

    def texts(self, effect: Effect) -> tuple[str, ...]:
        """The rules of one effect, without their examples."""
        entries: tuple[RuleEntry, ...] = getattr(self, effect.value)
        return tuple(entry if isinstance(entry, str) else entry.rule for entry in entries)


class LimitSettings(Table):
    """Where a turn stops by itself."""

    steps: int = Field(200, ge=1)
    """Model requests in one turn."""
    retries: int = Field(4, ge=0, le=20)
    """How often a failed model request is made again."""
    idle_seconds: float = Field(300.0, gt=0)
    """Seconds of silence after which a model request is given up."""


class BudgetSettings(Table):
    """Dollars that may be spent. At 70 % you are told, at 90 % the model is told to wrap up, and
    when all is spent you are asked; without anybody to ask, the program stops (exit code 3)."""

    session: float | None = Field(None, gt=0)
    """Dollars in one session (--max-cost); by default there is no limit."""
    day: float | None = Field(None, gt=0)
    """Dollars in one day, over all sessions; by default there is no limit."""


class ContextSettings(Table):
    """What happens as a conversation fills the model's window."""

    compact_at: float = Field(0.8, gt=0.1, le=1.0)
    """The share of the window at which older parts of the conversation are summarised."""
    automatic: bool = True
    """Whether that happens by itself; false: only with /compact, or when the model refuses a
    request for its length."""


class TelemetrySettings(Table):
    """Spans of turns, model requests and tool calls by OpenTelemetry: names and numbers, never
    contents. Needs the extra "otel"."""

    endpoint: str = ""
    """Where they are sent by OTLP over HTTP, such as "http://localhost:4318/v1/traces"; empty:
    nowhere."""


class ModelSettings(Table):
    """What is special about one model."""

    api_base: str | None = None
    """Where it is served, if not at its provider's usual address."""
    prompted_tools: bool | None = None
    """true: it has no native tool calls; false: it has. By default that is found out."""
    takes_images: bool = False
    """Whether it can be shown pictures."""
    window: int | None = Field(None, ge=1)
    """How many tokens a request may have, where the built-in list does not know."""
    input_price: float | None = Field(None, ge=0)
    """Dollars per million input tokens, where the built-in price list does not know."""
    output_price: float | None = Field(None, ge=0)
    """Dollars per million output tokens."""
    cached_price: float | None = Field(None, ge=0)
    """Dollars per million input tokens read from the provider's cache; by default as any other."""
    options: dict[str, Any] = {}
    """Passed to the provider with each request, such as temperature or reasoning_effort."""


class InstructionSettings(Table):
    """Instructions for the model that lie in files (AGENTS.md, CLAUDE.md)."""

    enabled: Annotated[bool, FromProject()] = True
    """Whether such files are read. Those of a project are read only in a trusted folder."""
    most_bytes: int = Field(32_768, ge=0)
    """How much of them is sent; the rest is cut with a note."""


class CheckpointSettings(Table):
    """What is kept before a call changes files, so that /undo can take it back."""

    enabled: bool = True
    """false: nothing is kept, and nothing can be undone."""
    quota: int = Field(1_000, ge=1)
    """Megabytes that all checkpoints together may take; the oldest go first."""
    days: float = Field(30.0, gt=0)
    """Days after which the checkpoints of a session that is not used any more go."""


class SessionSettings(Table):
    """How long sessions are kept."""

    keep_days: int = Field(90, ge=0)
    """Days after which a session nobody came back to is deleted; 0: never."""


class EnvironmentSettings(Table):
    """What commands see of your environment."""

    passed: tuple[str, ...] = ()
    """Names of variables that commands get besides the harmless usual ones."""


class PluginSettings(Table):
    """Tools and commands of your own: files in tools/ beside this one, and installed packages.
    Those of a project (.agent/tools) are loaded only in a trusted folder."""

    enabled: Annotated[bool, FromProject()] = True
    """Whether any are loaded."""
    disabled: Annotated[tuple[str, ...], FromProject()] = ()
    """Names of plugins that are not loaded; `agent plugins disable` is another way."""
    watch: bool = False
    """Whether a changed file is loaded again by itself: for writing one. /reload always does."""
    settings: dict[str, dict[str, Any]] = {}
    """What single plugins are told, by name: [plugins.settings.NAME]."""


class HookSettings(Table):
    """A command that is run when something happens."""

    on: Moment
    """When: "before_tool", "after_tool", "prompt", "approval", "turn_end", "compaction",
    "session_start" or "session_end"."""
    command: str = Field(min_length=1)
    """What sh runs, in the workspace; it is given JSON on its standard input."""
    tools: tuple[str, ...] = ()
    """Before and after a tool: the names or patterns of those it is about; by default all."""
    timeout: float = Field(10.0, gt=0, le=600)
    """Seconds it may take."""


class McpSettings(Table):
    """Servers of the Model Context Protocol. The model may use their tools once you approved."""

    enabled: Annotated[bool, FromProject()] = True
    """Whether any are started."""
    most_tools: int = Field(40, ge=0)
    """Where they bring more tools than this, the model is sent names only and asks for the rest."""
    start_seconds: float = Field(30.0, gt=0)
    """Seconds within which a server must answer."""
    call_seconds: float = Field(120.0, gt=0)
    """Seconds for one call, where a server's own `timeout` does not say otherwise."""
    servers: dict[str, dict[str, Any]] = {}
    """The servers, each a table [mcp.servers.NAME] in a file: `command`, `args`, `env`, `cwd`, or
    `url`, `headers`; and `timeout`, `enabled`. `agent mcp add` writes one."""


class AgentSettings(Table):
    """Agents that the model sends to do a part of the work (the tool Task), each with a profile.
    Profiles of your own are Markdown files in agents/ beside this one."""

    depth: int = Field(1, ge=0, le=2)
    """1: an agent that was sent sends no others; 2: it may, once; 0: none is sent."""
    parallel: int = Field(4, ge=1, le=8)
    """How many work at the same time; others wait."""
    per_turn: int = Field(20, ge=1)
    """How many may be sent in one turn."""


class WebSettings(Table):
    """WebFetch and HttpRequest. Each host is asked about, unless a rule such as
    WebFetch(docs.python.org) allows it."""

    enabled: Annotated[bool, FromProject()] = True
    """Whether the model is offered them."""
    private_hosts: tuple[str, ...] = ()
    """Hosts that may have a private, loopback or link-local address, such as "localhost" or
    "*.corp.example"; all others that lead to one are refused."""
    seconds: float = Field(30.0, gt=0, le=600)
    """Seconds for one request, from the first look-up to the last byte."""
    most_bytes: int = Field(2_000_000, ge=1_000, le=100_000_000)
    """How much of an answer is read, unpacked; the rest is left."""
    cache_minutes: float = Field(15.0, ge=0)
    """Minutes for which a session keeps a page that was fetched; 0: not at all."""


class SqlSettings(Table):
    """SqlQuery. SQLite files are named by path; other databases are given here."""

    enabled: Annotated[bool, FromProject()] = True
    """Whether the model is offered it."""
    databases: dict[str, str] = {}
    """Databases by name, such as shop = "postgresql://reader:${SHOP_PASSWORD}@db.example/shop",
    "mysql://…" or "sqlite:///srv/data.db". `${NAME}` stands for a variable of yours."""
    seconds: float = Field(30.0, gt=0, le=600)
    """Seconds for one query."""
    most_rows: int = Field(200, ge=1, le=10_000)
    """Rows of one result; the rest is left."""


class Settings(Table):
    """The whole configuration."""

    model: str = ""
    """The model, as LiteLLM names it: "anthropic/claude-sonnet-4-5", "ollama_chat/qwen3"."""
    fast_model: str = ""
    """A cheaper model for titles and summaries; empty: the model itself."""
    fallback_models: tuple[str, ...] = ()
    """Models that stand in, in this order, while the model does not answer."""
    api_base: str | None = None
    """Where the model is served, if not at its provider's usual address."""
    mode: Mode = Mode.DEFAULT
    """How much happens without a question: "default", "accept-edits", "plan" (changes nothing),
    "auto" (edits, and commands that are not dangerous inside the sandbox) or "yolo"."""
    sandbox: Literal["auto", "off", "bwrap", "landlock"] = "auto"
    """What confines commands in the mode auto; "auto" takes the best that works here."""
    ui: Literal["full", "inline"] = "full"
    """Where the chat is: on a full screen, or inline in the terminal's scrollback. A terminal that
    cannot move its cursor gets plain lines in any case."""
    language: Literal["auto", "en", "zh"] = "auto"
    """The language the program speaks: English ("en"), Chinese ("zh"), or the locale's."""
    theme: str = ""
    """The look of the full-screen app: "agent-dark", "agent-light" or any other that /theme lists;
    empty: dark or light, as the terminal says."""
    reduced_motion: bool = False
    """Whether nothing on the screen moves by itself: no spinner, no animations."""
    hooks: Annotated[tuple[HookSettings, ...], FromProject()] = ()
    """Commands that are run when something happens, each a table [[hooks]] with `on`, `command`
    and, if wished, `tools` and `timeout` (docs/extending.md). A trusted project's are added."""
    permissions: PermissionSettings = PermissionSettings()
    limits: LimitSettings = LimitSettings()
    budget: BudgetSettings = BudgetSettings()
    context: ContextSettings = ContextSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    instructions: InstructionSettings = InstructionSettings()
    environment: EnvironmentSettings = EnvironmentSettings()
    plugins: PluginSettings = PluginSettings()
    mcp: McpSettings = McpSettings()
    agents: AgentSettings = AgentSettings()
    web: WebSettings = WebSettings()
    sql: SqlSettings = SqlSettings()
    checkpoints: CheckpointSettings = CheckpointSettings()
    sessions: SessionSettings = SessionSettings()
    models: dict[str, ModelSettings] = {}
    """What is special about single models, by name: [models."openai/my-model"]."""
    tools: dict[str, Any] = {}
    """Settings of single tools, by name: [tools.Bash]."""
