"""What a server says to one statement, frame by frame, in either protocol."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.pgwire import frames
from tests.raw_client import Frame, RawClient

Column = tuple[bytes, int, int]  # name, type's OID, type modifier


@dataclass(frozen=True, slots=True)
class Outcome:
    """columns: None where no row description came; error: SQLSTATE and message; status: I, T or E."""

    columns: tuple[Column, ...] | None
    rows: tuple[tuple[bytes | None, ...], ...]
    error: tuple[bytes, bytes] | None
    tags: tuple[bytes, ...]
    status: bytes


def outcome(replies: list[Frame]) -> Outcome:
    columns: tuple[Column, ...] | None = None
    rows, tags = [], []
    error: tuple[bytes, bytes] | None = None
    status = b""
    for tag, payload in replies:
        match tag:
            case b"T":
                fields = frames.decode_row_description(payload)
                columns = tuple((f.name, f.type_oid, f.type_modifier) for f in fields)
            case b"D":
                rows.append(frames.decode_data_row(payload))
            case b"E":
                report = dict(frames.decode_report(payload))
                error = error or (report[b"C"], report[b"M"])
            case b"C":
                tags.append(payload)
            case b"Z":
                status = payload
    return Outcome(columns, tuple(rows), error, tuple(tags), status)


def simple(client: RawClient, text: str) -> Outcome:
    client.send(frames.query(text.encode()))
    return outcome(client.until_ready())


def described(client: RawClient, text: str) -> Outcome:
    """Parsed and described, not run."""
    client.send(frames.parse(b"", text.encode()), frames.describe_statement(b""), frames.SYNC)
    return outcome(client.until_ready())


def extended(client: RawClient, text: str) -> Outcome:
    client.send(
        frames.parse(b"", text.encode()),
        frames.bind(b"", b""),
        frames.describe_portal(b""),
        frames.execute(b""),
        frames.SYNC,
    )
    return outcome(client.until_ready())
