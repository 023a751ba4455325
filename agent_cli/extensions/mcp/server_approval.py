"""Shows the user a server, first how it is reached, then what it offers, and keeps the answer."""

from collections.abc import Callable

from agent_cli.core.display import Display, TextBlock
from agent_cli.extensions.inbox_asker import Asker
from agent_cli.extensions.mcp.approved_servers import (
    ApprovedServer,
    ApprovedServers,
    OfferedTool,
    difference,
    tool_lines,
)
from agent_cli.extensions.mcp.links import Link, Links
from agent_cli.extensions.mcp.mcp_connection import ServerTimeouts, look, why
from agent_cli.extensions.mcp.spec import Server
from agent_cli.lib.language import tr, trn
from agent_cli.safety.reasons import quote_value
from agent_cli.safety.sanitise import oddities

MAX_SHOWN_CHARS = 200_000
"""Characters; the user who is shown more can only say no."""


class ServerApproval:
    """One question and its answer; a server that is not approved is not even started."""

    def __init__(
        self, pins: ApprovedServers, links: Links, limits: ServerTimeouts, person: Asker
    ) -> None:
        self._pins = pins
        self._links = links
        self._limits = limits
        self._person = person
        self.is_given = False

    async def ask(self, server: Server) -> str:
        """Ask about a server as it is now; says what came of it."""
        pin = self._pins.get(server)
        if (pin is None or pin.launch != server.launch) and not await self._may_start(server, pin):
            return tr("{name} was not started.", name=server.name)
        link: Link | None = None
        try:
            link = await self._links.open(server)
            offers = await look(link, self._limits)
        except Exception as error:  # a foreign server's
            if link is not None and link.wants_sign_in:
                return tr("{name} needs you to sign in: /mcp login {name}", name=server.name)
            return tr("Cannot inspect {name}: {why}.", name=server.name, why=why(error, link))
        lines = tool_lines(offers)
        before = pin.tools if pin is not None else None
        if lines != before and not await self._may_offer(server, before, offers):
            return tr("{name} was not approved.", name=server.name)
        self._pins.approve(server, ApprovedServer(server.launch, lines))
        self.is_given = True
        return trn(
            "Approved {name} with {n:,} tool.",
            "Approved {name} with {n:,} tools.",
            len(offers),
            name=server.name,
        )

    async def sign_in(self, server: Server, show: Callable[[str], None]) -> str:
        """Have the user sign in to a server that is approved to be reached."""
        pin = self._pins.get(server)
        if (pin is None or pin.launch != server.launch) and not await self._may_start(server, pin):
            return tr("{name} was not contacted.", name=server.name)
        link = await self._links.open(server, show)
        if link.sign_in is None:
            return tr("{name} is a local program; it has no sign-in.", name=server.name)
        try:
            await look(link, ServerTimeouts(start=600.0))
        except Exception as error:  # a foreign server's
            return tr("Signing in to {name} failed: {why}.", name=server.name, why=why(error, link))
        finally:
            link.sign_in.close()
        return tr("Signed in to {name}.", name=server.name)

    async def _may_start(self, server: Server, pin: ApprovedServer | None) -> bool:
        what = tr("to start the MCP server {name}", name=server.name)
        must = tr("it must be started to list its tools")
        if server.table.url:
            what = tr("to contact the MCP server {name}", name=server.name)
            must = tr("it must be contacted to list its tools")
        text, because = "\n".join(server.lines(tr)), tr("it is new")
        if pin is not None:
            text = difference(pin.launch, server.launch)
            because = tr("it changed since you approved it")
        reasons = (because, tr("it is configured in {file}", file=server.source), must)
        return await self._agrees(what, text, reasons)

    async def _may_offer(
        self, server: Server, before: tuple[str, ...] | None, offers: tuple[OfferedTool, ...]
    ) -> bool:
        text = "\n".join(tool_lines(offers, tr))
        changed = trn("it offers {n:,} tool", "it offers {n:,} tools", len(offers))
        if before is not None:
            text = difference(before, tool_lines(offers))
            changed = tr("its tool descriptions changed since you approved it")
        if len(text) > MAX_SHOWN_CHARS:
            return False
        reasons = (changed, tr("the model will read this text, which the server wrote"))
        what = tr("the tools of the MCP server {name}", name=server.name)
        return await self._agrees(what, text, reasons)

    async def _agrees(self, what: str, text: str, reasons: tuple[str, ...]) -> bool:
        preview: Display = TextBlock(text=text, language="diff" if text.startswith("@@") else "")
        return await self._person.agrees(
            what, preview, tuple(map(quote_value, reasons)), oddities(text)
        )
