"""A large response, handed on as the client reads it: no callback has to copy all of it."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_PIECE_BYTES = 128 * 1024


class ResponseInPieces(Response):
    """Given    a body, whose length is told beforehand as with any Response"""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        body = memoryview(self.body)
        for at in range(0, max(1, len(body)), _PIECE_BYTES):
            piece = bytes(body[at : at + _PIECE_BYTES])
            more = at + _PIECE_BYTES < len(body)
            await send({"type": "http.response.body", "body": piece, "more_body": more})
