"""In which format an answer is sent: the one that Accept likes best (RFC 9110, section 12.5.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from http import HTTPStatus
from importlib.util import find_spec

from proxy.servers.http.http_problem import HttpProblem

_QUALITY = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")
_RANGES = 64  # of a header: no client has so many
_PARTS = 8  # parameters of a range


class Format(Enum):
    """The media type first, then others by which it is known. Of what is liked alike the first is sent."""

    JSON = ("application/json",)
    CSV = ("text/csv",)
    LINES = ("application/x-ndjson", "application/jsonl", "application/ndjson")
    ARROW = ("application/vnd.apache.arrow.stream",)

    @property
    def media_type(self) -> str:
        return str(self.value[0])

    @property
    def is_there(self) -> bool:
        """Whether what writes it is installed."""
        return self is not Format.ARROW or find_spec("nanoarrow") is not None


def chosen_format(accept: str | None) -> Format:
    """
    >>> chosen_format("text/csv;q=0.5, application/x-ndjson").name, chosen_format(None).name
    ('LINES', 'JSON')
    >>> chosen_format("text/*, application/json;q=0.9").name, chosen_format("text/csv;q=0, */*").name
    ('CSV', 'JSON')

    Raises:
        HttpProblem: 406.
    """
    if accept is None or not accept.strip():
        return Format.JSON
    ranges = list(_ranges(accept))
    liked = [
        (-quality, place, number, one)
        for number, one in enumerate(Format)
        if one.is_there
        for quality, place in (_liking(one, ranges),)
        if quality > 0
    ]
    if not liked:
        names = ", ".join(one.media_type for one in Format if one.is_there)
        more = "" if Format.ARROW.is_there else " Arrow needs dpproxy[arrow] on the server."
        raise HttpProblem(
            HTTPStatus.NOT_ACCEPTABLE,
            "no format that Accept names is there",
            hint=f"There are {names}.{more}",
        )
    return min(liked, key=lambda one: one[:3])[-1]


def _ranges(accept: str) -> Iterator[tuple[str, float]]:
    for entry in accept.lower().split(",", _RANGES)[:_RANGES]:
        kind, *parameters = (part.strip() for part in entry.split(";", _PARTS))
        given = [one.removeprefix("q=") for one in parameters if one.startswith("q=")]
        if kind and all(map(_QUALITY.fullmatch, given)):
            yield kind, float(given[0]) if given else 1.0


def _liking(one: Format, ranges: list[tuple[str, float]]) -> tuple[float, int]:
    """The quality that its most specific range gives it, and the place of that."""
    for kinds in (one.value, (f"{one.media_type.partition('/')[0]}/*",), ("*/*",)):
        for place, (kind, quality) in enumerate(ranges):
            if kind in kinds:
                return quality, place
    return 0.0, 0
