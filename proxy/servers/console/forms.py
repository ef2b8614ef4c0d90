"""What comes in from the console's pages: forms, from our own pages alone."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.requests import Request

from proxy.servers.http.http_problem import HttpProblem
from proxy.servers.http.request_reading import read_bounded

_FIELDS = 10
_SIGN_IN_BYTES = 8 * 1024
_FORM_BYTES = 256 * 1024
_KIND = "application/x-www-form-urlencoded"


async def read_form(request: Request, *, is_stranger: bool = False) -> Mapping[str, str]:
    """Read a form that one of our own pages has sent.

    Args:
        request: The request, whose body has not been read.
        is_stranger: Whether nobody is signed in: then a form is short.

    Raises:
        HttpProblem: 403 of another site's form; 400, 408, 413 or 415 of one that cannot be read.
    """
    refuse_other_sites(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        raise HttpProblem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the form must be URL-encoded")
    body = await read_bounded(request, _SIGN_IN_BYTES if is_stranger else _FORM_BYTES)
    try:
        fields = parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS
        )
    except ValueError:
        raise HttpProblem(HTTPStatus.BAD_REQUEST, "the form cannot be read") from None
    if len({name for name, _ in fields}) < len(fields):
        raise HttpProblem(HTTPStatus.BAD_REQUEST, "the form has a field twice")
    return {name: value.replace("\r\n", "\n") for name, value in fields}


def refuse_other_sites(request: Request) -> None:
    """Refuse a form of another site. Browsers say whose page has sent it; a form without that word is refused.

    Raises:
        HttpProblem: 403.
    """
    sent = request.headers.get("sec-fetch-site")
    if sent is not None:
        is_own = sent == "same-origin"
    else:
        origin = request.headers.get("origin", "")
        is_own = origin == f"{request.url.scheme}://{request.headers.get('host', '')}"
    if not is_own:
        raise HttpProblem(
            HTTPStatus.FORBIDDEN,
            "a form of another site is not taken",
            hint="Programs use /v1, with a password or a token of their own.",
        )
