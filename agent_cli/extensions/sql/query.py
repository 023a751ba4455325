"""SqlQuery: asks a database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field

from agent_cli.core.display import Display, TextBlock
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.tool import (
    Description,
    StatusTexts,
    Target,
    Tool,
    ToolKind,
    ToolParams,
    ToolResult,
)
from agent_cli.core.tool_context import ToolContext
from agent_cli.extensions.sql.remote_database import host_of, query_mysql, query_postgres
from agent_cli.extensions.sql.rows import Rows
from agent_cli.extensions.sql.sqlite import query_file
from agent_cli.extensions.sql.statement import Statement
from agent_cli.lib.language import mark
from agent_cli.lib.threads import in_own_thread
from agent_cli.safety.paths import PathProblem

_REMOTE: dict[str, Callable[[str, Statement], Rows]] = {
    "postgresql": query_postgres,
    "postgres": query_postgres,
    "mysql": query_mysql,
    "mariadb": query_mysql,
}


class SqlSetup(BaseModel):
    """The `[sql]` table, as far as queries go."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    databases: dict[str, str] = {}
    seconds: float = 30.0
    most_rows: int = 200


class QueryParams(ToolParams):
    """What to ask, and whom."""

    database: str = Field(min_length=1)
    """The path of a SQLite file, or the name of a configured database."""
    query: str = Field(min_length=1)
    """One SQL statement."""
    write: bool = False
    """Whether it may change the database; the user is asked."""


@dataclass
class Databases:
    """The databases there are; which one a call means."""

    setup: SqlSetup

    def file(self, name: str) -> str | None:
        """The path of a SQLite file; None for a database elsewhere."""
        url = self.setup.databases.get(name)
        if url is None:
            return name
        parts = urlsplit(url)
        return unquote(parts.path) if parts.scheme == "sqlite" else None

    def targets(self, params: QueryParams) -> tuple[Target, ...]:
        """What a call touches: a file, or a host."""
        if (path := self.file(params.database)) is not None:
            read = Target("path", path)  # what may write may tell what it read, too
            return (read, Target("path", path, "write")) if params.write else (read,)
        return (Target("host", host_of(self.setup.databases[params.database])),)

    def query(self, params: QueryParams, context: ToolContext) -> Rows:
        """Run a call's statement; it blocks."""
        setup = self.setup
        statement = Statement(
            params.query, params.write, setup.most_rows, setup.seconds, context.cancelled
        )
        if (path := self.file(params.database)) is not None:
            return query_file(self._real(path, context), statement)
        url = setup.databases[params.database]
        run = _REMOTE.get(urlsplit(url).scheme)
        if run is None:
            raise ToolFailure(
                f"The database {params.database} is configured with an unknown kind "
                f"of URL; supported are sqlite, {', '.join(_REMOTE)}."
            )
        return run(url, statement)

    def _real(self, path: str, context: ToolContext) -> str:
        try:
            found = context.resolve(path)
        except PathProblem as problem:
            said = f"{problem}."
            raise ToolFailure(said, type=FailureType.VALIDATION) from problem
        if not found.exists:
            said = f"There is no file {path}."
            if known := ", ".join(self.setup.databases):
                said = f"There is no file {path}. Configured databases: {known}."
            raise ToolFailure(said, type=FailureType.VALIDATION)
        return found.real


def query_tool(databases: Databases) -> Tool[QueryParams]:
    """The tool, for these databases."""

    async def run(params: QueryParams, context: ToolContext) -> ToolResult:
        rows = await in_own_thread(lambda: databases.query(params, context))
        return ToolResult(
            llm_content=rows.text,
            display=(rows.block,) if rows.block else (),
            summary=rows.summary,
            metadata={"rows": len(rows.rows), "more": rows.has_more},
        )

    return Tool(
        name="SqlQuery",
        kind=ToolKind.EXECUTE,
        params=QueryParams,
        run=run,
        description=Description.beside(__file__),
        targets=databases.targets,
        kind_of=lambda params: ToolKind.EXECUTE if params.write else ToolKind.READONLY,
        is_dangerous=lambda params: params.write,
        title=lambda params: f"{params.database}: {' '.join(params.query.split())}"[:200],
        preview=_preview,
        display_name="SQL",
        category="data",
        aliases=("sql_query", "query_database", "run_sql", "execute_sql", "sqlite_query"),
        param_aliases={"sql": "query", "statement": "query", "db": "database", "path": "database"},
        status=StatusTexts(mark("Querying the database…"), mark("Query failed")),
        timeout=None,
    )


async def _preview(params: QueryParams, _context: ToolContext) -> Display | None:
    return TextBlock(text=params.query, language="sql")
