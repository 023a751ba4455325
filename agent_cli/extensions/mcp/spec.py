"""What is configured about MCP servers, whichever file says it."""

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from agent_cli.lib.files import open_regular
from agent_cli.lib.language import mark, tr
from agent_cli.safety.scripts import digest, named_scripts

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,30}")
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
MAX_FILE_BYTES = 1_000_000


class ServerTable(BaseModel):
    """One server, as a file gives it. The keys are those other agents use too."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: Literal["stdio", "http", "streamable-http"] | None = None
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    """Variables for the server; `${NAME}` in a value stands for a variable of yours."""
    cwd: str | None = None
    url: str = ""
    headers: dict[str, str] = {}
    """Sent with each request; `${NAME}` as in `env`."""
    timeout: float | None = Field(None, gt=0)
    """Seconds for one call."""
    enabled: bool = True

    @field_validator("url")
    @classmethod
    def _http(cls, url: str) -> str:
        if url and not re.match(r"https?://[^/\s]+", url):
            raise ValueError(tr("it is not an http(s) URL"))
        return url

    @model_validator(mode="after")
    def _one_way(self) -> "ServerTable":
        if bool(self.command) == bool(self.url):
            raise ValueError(tr("it needs either a command or a url"))
        return self


@dataclass(frozen=True)
class Server:
    """A configured server: its name, where it is configured, and how it is reached."""

    name: str
    source: str
    """The file that configures it."""
    table: ServerTable
    workspace: str = ""
    """Where it would be started; the scripts there that it runs are a part of it."""

    @property
    def launch(self) -> tuple[str, ...]:
        """How it is reached, line by line: what is pinned, whatever language is spoken."""
        return self.lines(str.format)

    def lines(self, say: Callable[..., str]) -> tuple[str, ...]:
        """The same in the words of `say`.

        Values that are set here appear as a hash: a change of them counts, and shows no secret.
        """
        table = self.table
        lines = [say(mark("command: {command}"), command=self.command_line)]
        if table.url:
            lines = [say(mark("url: {url}"), url=table.url)]
        if table.cwd:
            lines.append(say(mark("directory: {path}"), path=table.cwd))
        lines += [
            say(mark("environment {name}: {origin}"), name=name, origin=_origin(value, say))
            for name, value in sorted(table.env.items())
        ]
        lines += [
            say(mark("header {name}: {origin}"), name=name, origin=_origin(value, say))
            for name, value in sorted(table.headers.items())
        ]
        lines += [
            say(mark("file {path}: {hash}"), path=path, hash=digest(path)[:16])
            for path in self._scripts()
        ]
        return tuple(lines)

    def _scripts(self) -> tuple[str, ...]:
        """The files of the workspace that it runs."""
        if not (self.workspace and self.table.command):
            return ()
        directory = str(Path(self.workspace, self.table.cwd or "."))
        return named_scripts(self.command_line, self.workspace, directory)

    @property
    def command_line(self) -> str:
        """The command as a shell would read it."""
        return shlex.join([self.table.command, *self.table.args])

    @property
    def key(self) -> str:
        """A file name for what is kept about it."""
        return sha256(f"{self.source}\0{self.name}".encode()).hexdigest()[:32]

    def fill_in(self, values: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
        """`env` or `headers` with the user's variables in their places; one not set is empty."""
        return {
            name: VARIABLE.sub(lambda found: variables.get(found[1], ""), value)
            for name, value in values.items()
        }


def _origin(value: str, say: Callable[..., str]) -> str:
    names = ", ".join(VARIABLE.findall(value))
    if names and VARIABLE.sub("", value) == "":
        return say(mark("your {names}"), names=names)
    hashed = sha256(value.encode()).hexdigest()[:8]
    if names:
        return say(mark("set here ({hash}), with your {names}"), hash=hashed, names=names)
    return say(mark("set here ({hash})"), hash=hashed)


@dataclass(frozen=True)
class Configured:
    """The servers there are, and what was wrong with others."""

    servers: tuple[Server, ...]
    problems: tuple[str, ...] = ()


def read_servers(tables: Mapping[str, Mapping[str, Any]], workspace: str = "") -> Configured:
    """The servers of several files, `{file: {name: table}}`; a name belongs to the first."""
    servers: dict[str, Server] = {}
    problems: list[str] = []
    for source, named in tables.items():
        for name, table in named.items():
            try:
                known = ServerTable.model_validate(table)
                server = Server(_check_name(name), source, known, workspace)
            except (ValidationError, ValueError) as error:
                text = mark("{file}: skipped the MCP server {name!r}: {why}.")
                problems.append(tr(text, file=source, name=name, why=_describe(error)))
                continue
            if name in servers:
                text = mark("{file}: skipped the MCP server {name}: it is already in {other}.")
                problems.append(tr(text, file=source, name=name, other=servers[name].source))
            else:
                servers[name] = server
    enabled = tuple(each for each in servers.values() if each.table.enabled)
    return Configured(enabled, tuple(problems))


def read_json(path: Path) -> dict[str, Any]:
    """The tables in a `.mcp.json`, by name; raises ValueError."""
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            known = json.loads(file.read(MAX_FILE_BYTES))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(tr("cannot read {path}: {error}", path=path, error=error)) from error
    named = known.get("mcpServers") if isinstance(known, dict) else None
    if not isinstance(named, dict):
        said = tr('{path} has no "mcpServers"', path=path)
        raise ValueError(said)  # noqa: TRY004 (it is the file's fault)
    return named


def _check_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise ValueError(tr("its name must be at most 31 letters, digits, - and single _"))
    return name


def _describe(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(_problem(each) for each in error.errors(include_url=False))
    return str(error)


def _problem(problem: Mapping[str, Any]) -> str:
    where = ".".join(map(str, problem["loc"]))
    said = str(problem["msg"]).removeprefix("Value error, ")
    return f"{where}: {said}" if where else said
