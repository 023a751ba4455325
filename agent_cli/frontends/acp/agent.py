"""What an editor can ask of us: sessions, prompts, modes, cancelling."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, schema
from acp.interfaces import Client

from agent_cli import __version__
from agent_cli.config.user_directories import Directories
from agent_cli.controller.wording import sentences
from agent_cli.core.errors import UserError
from agent_cli.core.policy import Mode
from agent_cli.folder import folder_standing, load_all_settings, load_settings
from agent_cli.frontends.acp.editor_conversation import FAILED, Conversation
from agent_cli.frontends.acp.prompts import Sent
from agent_cli.launch_options import LaunchOptions, Resume
from agent_cli.lib.language import mark, tr
from agent_cli.runtime import find_session, open_session, tidy
from agent_cli.safety.sanitise import visible
from agent_cli.storage.session_store import Sessions

_MAX_LISTED = 200
_UNTRUSTED = mark(
    "{folder} is not trusted: nothing in it is loaded, and only tools that change nothing run. "
    "Run `agent trust` in that folder to see what trust would enable, then start a new thread."
)
_NO_SERVERS = mark("The editor's MCP servers are not used.")


class EditorAgent:
    """Any number of sessions for one editor."""

    def __init__(self, launch_options: LaunchOptions) -> None:
        self._launch_options = launch_options
        self._open: dict[str, Conversation] = {}
        self._client: Client | None = None
        self._has_forms = False

    def on_connect(self, conn: Client) -> None:
        """The protocol's library tells who is at the other end."""
        self._client = conn

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: schema.ClientCapabilities | None = None,
        **_more: Any,
    ) -> schema.InitializeResponse:
        """Say what we can do, and remember what the editor can."""
        asks = client_capabilities.elicitation if client_capabilities else None
        self._has_forms = asks is not None and asks.form is not None
        sessions = schema.SessionCapabilities(
            list=schema.SessionListCapabilities(),
            resume=schema.SessionResumeCapabilities(),
            close=schema.SessionCloseCapabilities(),
            additional_directories=schema.SessionAdditionalDirectoriesCapabilities(),
        )
        return schema.InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=schema.Implementation(name="agent", title="agent", version=__version__),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(
                    image=True, audio=False, embedded_context=True
                ),
                session_capabilities=sessions,
            ),
            auth_methods=[],
        )

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: Sequence[object] | None = None,
        **_more: Any,
    ) -> schema.NewSessionResponse:
        """Begin a session in a directory."""
        with _explain_errors():
            conversation = await self._enter(
                self._options_for(cwd, additional_directories), has_servers=bool(mcp_servers)
            )
        response = schema.NewSessionResponse(
            session_id=conversation.session.id, modes=conversation.modes
        )
        conversation.begin()  # what it tells comes after the answer, which names the session
        return response

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        additional_directories: list[str] | None = None,
        mcp_servers: Sequence[object] | None = None,
        **_more: Any,
    ) -> schema.LoadSessionResponse:
        """Resume a session, and tell what happened in it."""
        with _explain_errors():
            conversation = await self._resume(
                cwd, session_id, additional_directories, has_servers=bool(mcp_servers)
            )
            await conversation.replay()
        conversation.begin()
        return schema.LoadSessionResponse(modes=conversation.modes)

    async def resume_session(
        self,
        cwd: str,
        session_id: str,
        additional_directories: list[str] | None = None,
        mcp_servers: Sequence[object] | None = None,
        **_more: Any,
    ) -> schema.ResumeSessionResponse:
        """Resume a session whose text the editor has kept itself."""
        with _explain_errors():
            conversation = await self._resume(
                cwd, session_id, additional_directories, has_servers=bool(mcp_servers)
            )
        conversation.begin()
        return schema.ResumeSessionResponse(modes=conversation.modes)

    async def list_sessions(
        self, cwd: str | None = None, **_more: Any
    ) -> schema.ListSessionsResponse:
        """The sessions of a directory, or of all, the latest first."""
        index = Sessions(Directories.of(os.environ).state).index
        found = await asyncio.to_thread(
            lambda: index.listing(os.path.realpath(cwd) if cwd else None, _MAX_LISTED)
        )
        return schema.ListSessionsResponse(
            sessions=[
                schema.SessionInfo(
                    session_id=each.id,
                    cwd=each.workspace,
                    title=visible(each.name, one_line=True),
                    updated_at=datetime.fromtimestamp(each.updated, UTC).isoformat(),
                )
                for each in found
            ]
        )

    async def close_session(self, session_id: str, **_more: Any) -> schema.CloseSessionResponse:
        """End a session; it can be loaded again."""
        if conversation := self._open.pop(session_id, None):
            await conversation.close()
        return schema.CloseSessionResponse()

    async def set_session_mode(
        self, mode_id: str, session_id: str, **_more: Any
    ) -> schema.SetSessionModeResponse:
        """Change the permission mode."""
        with _explain_errors():
            self._conversation(session_id).set_mode(mode_id)
        return schema.SetSessionModeResponse()

    async def prompt(
        self, prompt: list[Sent], session_id: str, **_more: Any
    ) -> schema.PromptResponse:
        """Play one turn, and tell what happens meanwhile."""
        with _explain_errors():
            return await self._conversation(session_id).prompt(prompt)

    async def cancel(self, session_id: str, **_more: Any) -> None:
        """End the turn of a session; its prompt is answered then."""
        if conversation := self._open.get(session_id):
            conversation.cancel()

    async def close(self) -> None:
        """End all sessions, and what they left running."""
        while self._open:
            _, conversation = self._open.popitem()
            await conversation.close()
        await asyncio.to_thread(
            tidy, load_settings(self._launch_options, os.environ).settings, os.environ
        )

    def _conversation(self, session_id: str) -> Conversation:
        found = self._open.get(session_id)
        if found is None:
            raise UserError(
                tr("The session {id} is not open.", id=session_id), hint=tr("Load it first.")
            )
        return found

    def _options_for(
        self, cwd: str, added: list[str] | None, resume: Resume | None = None
    ) -> LaunchOptions:
        """What the command line asks for, in the directory that the editor names."""
        directories = [Path(each) for each in (cwd, *(added or ()))]
        for directory in directories:
            if not directory.is_absolute() or not directory.is_dir():
                raise UserError(tr("{path} is not a directory.", path=directory))
        first, *others = (each.resolve() for each in directories)
        return replace(
            self._launch_options,
            cwd=first,
            added=(*self._launch_options.added, *others),
            resume=resume,
        )

    async def _resume(
        self, cwd: str, session_id: str, added: list[str] | None, *, has_servers: bool
    ) -> Conversation:
        await self.close_session(session_id)  # an editor may load what it has open
        wished = self._options_for(cwd, added, Resume(session_id, stay=True))
        wished = await asyncio.to_thread(find_session, wished, os.environ)
        assert wished.resume is not None
        if wished.resume.found is None or wished.resume.found.id != session_id:
            raise UserError(tr("There is no session {id}.", id=session_id))
        return await self._enter(wished, has_servers=has_servers)

    async def _enter(self, launch_options: LaunchOptions, *, has_servers: bool) -> Conversation:
        """Open a session. In a folder that is not trusted nothing can be allowed by asking."""
        assert self._client is not None
        is_trusted = folder_standing(launch_options, os.environ).trusted
        loaded = await asyncio.to_thread(load_all_settings, launch_options, os.environ)
        session = open_session(replace(launch_options, attended=is_trusted), loaded.settings)
        try:
            if session.mode is Mode.AUTO or loaded.settings.sandbox in ("bwrap", "landlock"):
                await session.prepare()
        except BaseException:
            await session.close()
            raise
        notes = list(loaded.warnings)
        if not is_trusted:
            notes.append(tr(_UNTRUSTED, folder=visible(str(launch_options.cwd), one_line=True)))
        if has_servers:
            notes.append(tr(_NO_SERVERS))
        conversation = Conversation(session, self._client, notes, has_forms=self._has_forms)
        self._open[session.id] = conversation
        return conversation


@contextmanager
def _explain_errors() -> Iterator[None]:
    """A UserError in the form an editor shows."""
    try:
        yield
    except UserError as error:
        raise RequestError(FAILED, sentences(error.message, error.hint)) from error
