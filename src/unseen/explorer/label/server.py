"""The server of the labelling app: the page, answers and updates, below a secret address and nowhere else."""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Mount, Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from unseen.errors import InputError, OutputError, UnseenError
from unseen.explorer.content import Content
from unseen.explorer.html import frame_content, render_page
from unseen.explorer.label.session import Session, Updater
from unseen.explorer.label.store import Store

MAX_BODY = 8_000_000
"""Bytes of a request."""
REQUEST_SECONDS = 5
"""How long the server waits for the head of a request."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


class App:
    """One page, one store, one updater.

    The page is shown as it was at the start. `address` is where the server listens: only requests that name it are
    answered.
    """

    def __init__(self, page: Content, store: Store, updater: Updater, address: tuple[str, int]) -> None:
        self.store, self.updater = store, updater
        self.secret = secrets.token_urlsafe(24)
        host, port = address
        hosts = {*LOOPBACK, host, "[::1]"}
        if host not in LOOPBACK:
            names = socket.gethostbyname_ex(socket.gethostname())
            hosts |= {names[0], *names[1], *names[2]}
        self.hosts = {f"{name}:{port}".encode() for name in hosts}
        self.hosts |= {name.encode() for name in hosts if port == 80}
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}/{self.secret}/"
        content = {**page, "server": {"file": store.path.name, "answers": store.undoable}}
        self.session = Session(store, updater, page.get("suggestions"))
        self._page = render_page(content, connect=True)
        self._policy = f"{frame_content('', connect=True)[2]}; frame-ancestors 'none'"

    def asgi(self) -> Any:
        """Return the application for an ASGI server; whatever is not meant for it gets 403 and no body."""
        routes = [Route("/", self._show, methods=["GET"]), Route("/state", self._state, methods=["GET"])]
        posted = ("answers", "undo", "update", "outside")
        routes += [Route(f"/{name}", self._post, methods=["POST"]) for name in posted]

        @contextlib.asynccontextmanager
        async def lifespan(_: Any) -> AsyncIterator[None]:
            yield
            self.updater.stop()
            self.store.close()

        inner = Starlette(routes=[Mount(f"/{self.secret}", routes=routes)], lifespan=lifespan)

        async def guarded(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "lifespan" or (scope["type"] == "http" and self._is_meant(scope)):
                await inner(scope, receive, send)
            elif scope["type"] == "http":
                headers = [(b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 403, "headers": headers})
                await send({"type": "http.response.body"})
            else:
                await send({"type": "websocket.close"})

        return guarded

    def _is_meant(self, scope: Any) -> bool:
        """Return whether a request names the secret, this host, and no other origin."""
        hosts, origins, site = (
            [value for name, value in scope["headers"] if name == wanted]
            for wanted in (b"host", b"origin", b"sec-fetch-site")
        )
        secret = scope["path"].encode("utf-8", "replace").split(b"/")[1:2]
        return (
            len(hosts) == 1
            and hosts[0].lower() in self.hosts
            and origins in ([], [b"http://" + hosts[0]])
            and (scope["method"] == "GET" or all(value in (b"same-origin", b"none") for value in site))
            and bool(secret)
            and hmac.compare_digest(secret[0], self.secret.encode())
        )

    async def _show(self, _: Any) -> HTMLResponse:
        return HTMLResponse(self._page, headers={**HEADERS, "content-security-policy": self._policy})

    async def _state(self, request: Any) -> JSONResponse:
        """Answer with the state; with what changed after `revision`, and findings newer than `findings`."""

        def look() -> Content:
            numbers: list[int | None] = []
            for name in ("revision", "findings"):
                text = request.query_params.get(name, "")
                if len(text) > 18:
                    msg = f"a number in a query has up to 18 digits, got {len(text):,} letters"
                    raise InputError(msg)
                numbers.append(int(text) if text.isascii() and text.isdecimal() else None)
            return self.session.state(*numbers)

        return await _respond(look)

    async def _post(self, request: Any) -> JSONResponse:
        """Do what a request asks for; an answer is in the journal first, and in the label file after the response."""
        if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            return JSONResponse({"error": "send JSON (content-type: application/json)"}, 415, headers=HEADERS)
        body = b""
        try:
            async for piece in request.stream():
                body += piece
                if len(body) > MAX_BODY:
                    sentence = f"a request may have {MAX_BODY:,} bytes; answer about fewer nodes at once"
                    return JSONResponse({"error": sentence}, 413, headers={**HEADERS, "connection": "close"})
        except ClientDisconnect:
            return JSONResponse({"error": "the request was cut off"}, 400)
        name = request.url.path.rsplit("/", 1)[1]

        def act() -> Content:
            try:
                asked = json.loads(body or b"{}")
            except (ValueError, RecursionError):
                asked = None
            if not isinstance(asked, dict):
                msg = "the request is not a JSON object"
                raise InputError(msg)
            return self.session.act(name, asked)

        def fold() -> None:
            with contextlib.suppress(OutputError):  # the next answer tries again
                self.store.fold()

        response = await _respond(act)
        if name in ("answers", "undo") and response.status_code == 200:
            response.background = BackgroundTask(fold)
        return response


async def _respond(work: Callable[[], Content]) -> JSONResponse:
    """Run `work` beside the loop and answer with what it returns, or with the sentence of its error."""
    try:
        return JSONResponse(await run_in_threadpool(work), 200, headers=HEADERS)
    except UnseenError as error:
        status = 507 if isinstance(error, OutputError) else 400
        return JSONResponse({"error": str(error)}, status, headers=HEADERS)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that holds the port; one that is taken is an error."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except (OSError, OverflowError) as error:
        sock.close()
        reason = getattr(error, "strerror", None) or str(error)
        msg = f"cannot listen on port {port} of {host}: {reason.lower()}; choose another with --port (0 takes any)"
        raise InputError(msg) from None
    return sock


class ImpatientProtocol(H11Protocol):
    """Waits `REQUEST_SECONDS` for the head of a request; otherwise a few idle connections would take all places."""

    _timer: Any = None

    def connection_made(self, transport: Any) -> None:  # noqa: D102
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:  # noqa: D102
        super().data_received(data)
        self._watch()

    def _watch(self) -> None:
        is_waiting = self.cycle is None or self.cycle.response_complete
        if is_waiting and self._timer is None:
            self._timer = self.loop.call_later(REQUEST_SECONDS, self.transport.close)
        elif not is_waiting and self._timer is not None:
            self._timer.cancel()
            self._timer = None


def serve(app: App, sock: socket.socket, on_listening: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; what is left to write is written then."""
    config = uvicorn.Config(
        app.asgi(),
        access_log=False,  # its lines would show the secret
        log_config=None,
        log_level="error",
        server_header=False,
        proxy_headers=False,
        ws="none",
        http=ImpatientProtocol,
        limit_concurrency=64,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
    )
    sock.listen(64)
    on_listening()
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[sock])
