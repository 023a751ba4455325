"""Model servers as they run on a person's own machine: what they tell of themselves, by path."""

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NO_SERVERS = "ollama=0,lm_studio=0,llama_cpp=0,vllm=0"
"""Leaves the machine's own servers alone."""


@dataclass
class LocalServer:
    """Answers with JSON, or with bytes as they are; counts what it was asked."""

    routes: Mapping[str, Any]
    asked: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def ollama(*names: str, show: Mapping[str, Any] | None = None) -> LocalServer:
    tags = {"models": [{"name": name, "size": 1} for name in names]}
    return LocalServer({"/api/tags": tags, "/api/show": show or {}})


def lm_studio(*models: Mapping[str, Any]) -> LocalServer:
    return LocalServer({"/api/v0/models": {"data": list(models)}})


def llama_cpp(name: str, **props: Any) -> LocalServer:
    settings = {"default_generation_settings": {"n_ctx": 8192}, **props}
    return LocalServer({"/props": settings, "/v1/models": {"data": [{"id": name}]}})


def vllm(name: str, window: int) -> LocalServer:
    entry = {"id": name, "owned_by": "vllm", "max_model_len": window}
    return LocalServer({"/v1/models": {"object": "list", "data": [entry]}})


@contextlib.contextmanager
def serving(server: LocalServer) -> Iterator[LocalServer]:
    """The server on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append(self.path)
            answer = server.routes.get(self.path)
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(200 if self.path in server.routes else 404)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            server.bodies.append(json.loads(self.rfile.read(length)))
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.port = http.server_port
    thread = threading.Thread(target=http.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
