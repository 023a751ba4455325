"""Every setting. The docstrings are the manual; config.example.toml is generated from them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from agent_cli.core.deciding.examples import wrong_example
from agent_cli.core.deciding.rules import Rule
from agent_cli.core.errors import UserError
from agent_cli.core.moments import Moment
from agent_cli.core.policy import Effect, Mode


class FromProject:
    """Marks a setting that a project may set: it can tighten, never loosen or redirect."""


class Table(BaseModel):
    """The base of all configuration tables."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class ExampledRule(Table):
    """A rule with examples of what it should match. They are checked when it is loaded."""

    rule: str
    """The rule."""
    match: tuple[str, ...] = ()
    """Commands or paths it must match."""
    not_match: tuple[str, ...] = ()
    """Commands or paths it must not match."""


RuleEntry = str | ExampledRule


class PermissionSettings(Table):
    """Rules that allow a call, ask you first, or block it. Deny beats ask beats allow.
    A rule is a string, or a table with examples:
    { rule = "Bash(npm run test *)", match = ["npm run test a"], not_match = ["npm run testing"] }.
    """

    allow: tuple[RuleEntry, ...] = ()
    """Calls that run without asking, such as "Bash(npm run test *)" or "Edit(docs/**)"."""
    ask: Annotated[tuple[RuleEntry, ...], FromProject()] = ()
    """Calls that always ask, even in yolo mode."""
    deny: Annotated[tuple[RuleEntry, ...], FromProject()] = ()
    """Calls that are blocked in every mode."""
    dangerous_cmd: bool = True
    """Whether to confirm dangerous commands. If false, commands in a trusted folder run without
    asking, unless a rule says ask, they touch secret or protected files or leave the workspace, or
    it is unclear what they would run. Catastrophic commands are always blocked."""

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
    """When a turn stops on its own."""

    steps: int = Field(200, ge=1)
    """Most model requests in one turn."""
    retries: int = Field(4, ge=0, le=20)
    """How often a failed model request is retried."""
    idle_seconds: float = Field(300.0, gt=0)
    """Seconds without any data after which a model request is abandoned."""


class BudgetSettings(Table):
    """Spending limits in dollars. At 70 % you get a notice, at 90 % the model is told to wrap up,
    and at the limit you are asked. If nobody can be asked, the program stops (exit code 3)."""

    session: float | None = Field(None, gt=0)
    """Limit per session (--max-cost); default: none."""
    day: float | None = Field(None, gt=0)
    """Limit per day, over all sessions; default: none."""


class ContextSettings(Table):
    """What happens when a conversation fills the model's context window."""

    compact_at: float = Field(0.8, gt=0.1, le=1.0)
    """The share of the window at which older parts of the conversation are summarised."""
    automatic: bool = True
    """Whether to do that automatically. If false, only on /compact, or when the model rejects a
    request as too long."""


class TelemetrySettings(Table):
    """OpenTelemetry spans for turns, model requests and tool calls: names and numbers, never
    content. Needs the extra "otel"."""

    endpoint: str = ""
    """Where to send them with OTLP over HTTP, such as "http://localhost:4318/v1/traces"; empty:
    off."""


class ModelSettings(Table):
    """Settings for a single model."""

    api_base: str | None = None
    """Its address, if it isn't the provider's usual one."""
    prompted_tools: bool | None = None
    """true if it has no native tool calls, false if it has; default: detect it."""
    takes_images: bool = False
    """Whether it accepts images."""
    window: int | None = Field(None, ge=1)
    """Its context window in tokens, if the built-in list doesn't know it."""
    input_price: float | None = Field(None, ge=0)
    """Dollars per million input tokens, if the built-in price list doesn't know it."""
    output_price: float | None = Field(None, ge=0)
    """Dollars per million output tokens."""
    cached_price: float | None = Field(None, ge=0)
    """Dollars per million cached input tokens; default: the input price."""
    options: dict[str, Any] = {}
    """Sent to the provider with each request, such as temperature or reasoning_effort."""


class InstructionSettings(Table):
    """Instruction files for the model (AGENTS.md, CLAUDE.md)."""

    enabled: Annotated[bool, FromProject()] = True
    """Whether to read them. A project's files are read only in a trusted folder."""
    most_bytes: int = Field(32_768, ge=0)
    """How many bytes to send; the rest is cut, with a note."""


class CheckpointSettings(Table):
    """Copies of files made before a call changes them, for /undo."""

    enabled: bool = True
    """If false, nothing is saved and nothing can be undone."""
    quota: int = Field(1_000, ge=1)
    """Megabytes for all checkpoints together; the oldest are deleted first."""
    days: float = Field(30.0, gt=0)
    """Days after which the checkpoints of an unused session are deleted."""


class SessionSettings(Table):
    """How long sessions are kept."""

    keep_days: int = Field(90, ge=0)
    """Days after which an unused session is deleted; 0: never."""


class EnvironmentSettings(Table):
    """Which environment variables commands can see."""

    passed: tuple[str, ...] = ()
    """Variables to pass on in addition to the harmless standard ones."""


class PluginSettings(Table):
    """Your own tools and commands: files in tools/ next to this file, and installed packages.
    A project's tools (.agent/tools) are loaded only in a trusted folder."""

    enabled: bool = True
    """Whether to load plugins. A project can't switch yours off."""
    disabled: tuple[str, ...] = ()
    """Plugins not to load; `agent plugins disable` does the same."""
    watch: bool = False
    """Whether to reload changed files automatically, while you write one. /reload always works."""
    settings: dict[str, dict[str, Any]] = {}
    """Settings for single plugins: [plugins.settings.NAME]."""


class HookSettings(Table):
    """A command to run when something happens."""

    on: Moment
    """When: "before_tool", "after_tool", "prompt", "approval", "turn_end", "compaction",
    "session_start" or "session_end"."""
    command: str = Field(min_length=1)
    """The command line for sh, run in the workspace with JSON on stdin."""
    tools: tuple[str, ...] = ()
    """For before_tool and after_tool: names or patterns of tools; default: all."""
    timeout: float = Field(10.0, gt=0, le=600)
    """Seconds before it is stopped."""


class McpSettings(Table):
    """MCP servers. The model can use their tools once you have approved the server."""

    enabled: Annotated[bool, FromProject()] = True
    """Whether to start them."""
    most_tools: int = Field(40, ge=0)
    """With more tools than this, the model gets only their names and asks for details."""
    start_seconds: float = Field(30.0, gt=0)
    """Seconds a server has to start."""
    call_seconds: float = Field(120.0, gt=0)
    """Seconds for one call, unless the server's own `timeout` says otherwise."""
    servers: dict[str, dict[str, Any]] = {}
    """The servers, each a table [mcp.servers.NAME] with `command`, `args`, `env`, `cwd`, or `url`,
    `headers`; and `timeout`, `enabled`. `agent mcp add` writes one."""


class AgentSettings(Table):
    """Sub-agents that the model starts for part of the work (the Task tool), each with a profile.
    Your own profiles are Markdown files in agents/ next to this file."""

    depth: int = Field(1, ge=0, le=2)
    """0: no sub-agents; 1: they can't start others; 2: they can, one level deep."""
    parallel: int = Field(4, ge=1, le=8)
    """How many run at the same time; others wait."""
    per_turn: int = Field(20, ge=1)
    """How many may be started in one turn."""


class WebSettings(Table):
    """WebFetch and HttpRequest. You are asked about each host, unless a rule such as
    WebFetch(docs.python.org) allows it."""

    enabled: Annotated[bool, FromProject()] = True
    """Whether the model can use them."""
    private_hosts: tuple[str, ...] = ()
    """Hosts that may have a private, loopback or link-local address, such as "localhost" or
    "*.corp.example"; any other host with such an address is blocked."""
    seconds: float = Field(30.0, gt=0, le=600)
    """Seconds for one request, from DNS lookup to last byte."""
    most_bytes: int = Field(2_000_000, ge=1_000, le=100_000_000)
    """How many bytes of a response to read, uncompressed; the rest is dropped."""
    cache_minutes: float = Field(15.0, ge=0)
    """Minutes a session caches a fetched page; 0: no cache."""


class SqlSettings(Table):
    """SqlQuery. SQLite files are opened by path; configure other databases here."""

    enabled: Annotated[bool, FromProject()] = True
    """Whether the model can use it."""
    databases: dict[str, str] = {}
    """Databases by name, such as shop = "postgresql://reader:${SHOP_PASSWORD}@db.example/shop",
    "mysql://…" or "sqlite:///srv/data.db". `${NAME}` inserts an environment variable."""
    seconds: float = Field(30.0, gt=0, le=600)
    """Seconds for one query."""
    most_rows: int = Field(200, ge=1, le=10_000)
    """Most rows in one result; the rest is dropped."""


class Settings(Table):
    """The whole configuration."""

    model: str = ""
    """The model's LiteLLM name: "anthropic/claude-sonnet-4-5", "ollama_chat/qwen3"."""
    fast_model: str = ""
    """A cheaper model for titles and summaries; empty: use the main model."""
    fallback_models: tuple[str, ...] = ()
    """Models to try, in this order, while the main model doesn't answer."""
    api_base: str | None = None
    """The model's address, if it isn't the provider's usual one."""
    mode: Mode = Mode.DEFAULT
    """What may happen without asking: "default", "accept-edits", "plan" (no changes), "auto"
    (edits, and harmless commands in the sandbox) or "yolo"."""
    sandbox: Literal["auto", "off", "bwrap", "landlock"] = "auto"
    """What confines commands that run unasked; "auto" picks the best that works here."""
    sandbox_approved: bool = False
    """Whether commands you approve, by an answer, an allow rule or yolo mode, are confined too."""
    ui: Literal["full", "inline"] = "full"
    """Full screen, or inline in the terminal's scrollback. A terminal that can't move its cursor
    always gets plain lines."""
    language: Literal["auto", "en", "zh"] = "auto"
    """The interface language: English ("en"), Chinese ("zh"), or the locale's ("auto")."""
    theme: str = ""
    """The colour theme of the full-screen app: "agent-dark", "agent-light" or another that /theme
    lists; empty: dark or light to match the terminal."""
    warm_minutes: int = Field(default=30, ge=0)
    """How long a process that has the model libraries loaded waits, so that the next start is
    quick; 0: none is kept."""
    reduced_motion: bool = False
    """Whether to turn off spinners and animations."""
    hooks: Annotated[tuple[HookSettings, ...], FromProject()] = ()
    """Commands to run when something happens, each a table [[hooks]] with `on`, `command` and,
    optionally, `tools` and `timeout` (docs/extending.md). A trusted project's hooks are added."""
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
    """Settings for single models: [models."openai/my-model"]."""
    tools: dict[str, Any] = {}
    """Settings for single tools: [tools.Bash]."""
