"""An MCP server by HTTP that wants its clients to sign in (OAuth), for tests: `… PORT`.

Its pages agree at once, as a person would who presses the button.
"""

import secrets
import sys
import time
from typing import Any

from mcp.server import MCPServer
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken


class Guard:
    """Clients, codes and tokens, in memory."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.tokens: dict[str, AccessToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id
        self.clients[client_info.client_id] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        code = secrets.token_urlsafe()
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 300,
            client_id=client.client_id or "",
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, _client: Any, code: str) -> AuthorizationCode | None:
        return self.codes.get(code)

    async def exchange_authorization_code(self, client: Any, code: AuthorizationCode) -> OAuthToken:
        token = secrets.token_urlsafe()
        self.tokens[token] = AccessToken(
            token=token, client_id=client.client_id, scopes=code.scopes, resource=code.resource
        )
        return OAuthToken(access_token=token, token_type="Bearer", scope=" ".join(code.scopes))

    async def load_refresh_token(self, _client: Any, _token: str) -> RefreshToken | None:
        return None

    async def exchange_refresh_token(self, *_: Any) -> OAuthToken:
        raise NotImplementedError

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.tokens.get(token)

    async def revoke_token(self, *_: Any) -> None:
        raise NotImplementedError


def main() -> None:
    port = int(sys.argv[1])
    address = f"http://127.0.0.1:{port}"
    server = MCPServer(
        "guarded",
        auth_server_provider=Guard(),
        auth=AuthSettings(
            issuer_url=address,  # type: ignore[arg-type]
            resource_server_url=f"{address}/mcp",  # type: ignore[arg-type]
            client_registration_options=ClientRegistrationOptions(enabled=True),
        ),
    )

    @server.tool()
    def secret() -> str:
        """Tells the secret."""
        return "the cake is real"

    @server.tool()
    def flood() -> str:
        """Says too much."""
        return "x" * 50_000_000

    server.run(transport="streamable-http", host="127.0.0.1", port=port)


if __name__ == "__main__":
    main()
