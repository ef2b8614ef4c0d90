"""Reads, plays and writes conversations: tests/golden/wire/*.talk (after Materialize's pgtest).

    # why this matters                    a sentence
    > Query SELECT 1                      frames of the client, sent together
    < RowDescription ?column?:23          frames of the server, up to one ReadyForQuery for each
    < DataRow 1                             Query and Sync sent
    < CommandComplete SELECT 1
    < ReadyForQuery I

Each conversation is a paragraph and has a connection of its own. One that begins with `@postgres` must
go the same way directly with PostgreSQL; `@asks 2` says how many questions the engine is asked.
Arguments are separated by ` | `.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from proxy.pgwire import frames
from tests.raw_client import Frame, RawClient

_COMPLETIONS = {
    b"1": "ParseComplete",
    b"2": "BindComplete",
    b"3": "CloseComplete",
    b"n": "NoData",
    b"s": "PortalSuspended",
    b"I": "EmptyQueryResponse",
    b"c": "CopyDone",
    b"G": "CopyInResponse",
    b"H": "CopyOutResponse",
}


@dataclass(slots=True)
class Conversation:
    line: int
    comments: list[str]
    with_postgres: bool
    asks: int = 0
    turns: list[tuple[list[str], list[str]]] = field(default_factory=list)

    def play(self, conninfo: str) -> list[list[str]]:
        """What the server says, turn by turn."""
        heard = []
        with RawClient(conninfo) as client:
            for said, _ in self.turns:
                client.send(*(_encode(line) for line in said))
                ends = sum(line.split()[0] in ("Query", "Sync", "FunctionCall") for line in said)
                answers = client.until_ready(ends)
                # Which settings are reported differs between versions of PostgreSQL.
                heard.append([_show(frame) for frame in answers if frame[0] != b"S"])
        return heard

    def written(self, heard: list[list[str]], asks: int) -> str:
        lines = [f"# {comment}" for comment in self.comments]
        if asks:
            lines.append(f"@asks {asks}")
        if self.with_postgres:
            lines.append("@postgres")
        for (said, _), answers in zip(self.turns, heard, strict=True):
            lines += [f"> {line}" for line in said]
            lines += [f"< {line}" for line in answers]
        return "\n".join(lines) + "\n"


def read(path: Path) -> list[Conversation]:
    conversations = []
    start = 1
    for paragraph in path.read_text().split("\n\n"):
        conversation = Conversation(start, [], False)
        for line in paragraph.splitlines():
            if line.startswith("# "):
                conversation.comments.append(line[2:])
            elif line == "@postgres":
                conversation.with_postgres = True
            elif line.startswith("@asks "):
                conversation.asks = int(line.split()[1])
            elif line.startswith("> "):
                if not conversation.turns or conversation.turns[-1][1]:
                    conversation.turns.append(([], []))
                conversation.turns[-1][0].append(line[2:])
            elif line.startswith("< "):
                conversation.turns[-1][1].append(line[2:])
            elif line:
                raise ValueError(f"{path}: cannot read {line!r}")
        start += paragraph.count("\n") + 2
        if conversation.turns:
            conversations.append(conversation)
    return conversations


def _encode(line: str) -> bytes:
    name, _, rest = line.partition(" ")
    words = [word.strip() for word in rest.split(" | ")] if rest else []
    words = ["" if word == "''" else word for word in words]
    match name:
        case "Query":
            return frames.query(rest.replace("\\n", "\n").encode())
        case "Parse":
            oids = [int(oid) for oid in words[2].split(",")] if len(words) > 2 else []
            return frames.parse(words[0].encode(), words[1].encode(), oids)
        case "Bind":
            values = [None if w == "NULL" else w.encode() for w in words[2:]]
            return frames.bind(words[0].encode(), words[1].encode(), values)
        case "DescribeStatement":
            return frames.describe_statement(_first(words))
        case "DescribePortal":
            return frames.describe_portal(_first(words))
        case "Execute":
            return frames.execute(_first(words), int(words[1]) if len(words) > 1 else 0)
        case "CloseStatement":
            return frames.close_statement(_first(words))
        case "ClosePortal":
            return frames.close_portal(_first(words))
        case "CopyData":
            return frames.frame(b"d", rest.encode() + b"\n")
        case "CopyDone":
            return frames.frame(b"c")
        case "CopyFail":
            return frames.frame(b"f", rest.encode() + b"\0")
        case "FunctionCall":
            return frames.frame(b"F", bytes(10))
        case "Flush":
            return frames.FLUSH
        case "Sync":
            return frames.SYNC
    raise ValueError(f"no such message: {line}")


def _first(words: list[str]) -> bytes:
    return words[0].encode() if words else b""


def _show(frame: Frame) -> str:
    tag, payload = frame
    if tag in _COMPLETIONS:
        return _COMPLETIONS[tag]
    match tag:
        case b"T":
            fields = frames.decode_row_description(payload)
            shown = (f"{field.name.decode()}:{field.type_oid}" for field in fields)
            return " ".join(["RowDescription", *shown])
        case b"D":
            values = frames.decode_data_row(payload)
            return " ".join(["DataRow", *("NULL" if v is None else v.decode() for v in values)])
        case b"C":
            return f"CommandComplete {payload[:-1].decode()}"
        case b"Z":
            return f"ReadyForQuery {payload.decode()}"
        case b"t":
            oids = frames.decode_parameter_description(payload)
            return " ".join(["ParameterDescription", *map(str, oids)])
        case b"d":
            return f"CopyData {payload.decode().rstrip()}"
        case b"E" | b"N":
            parts = dict(frames.decode_report(payload))
            words = [parts[b"S"].decode(), parts[b"C"].decode(), parts[b"M"].decode()]
            for code, name in ((b"H", "hint"), (b"P", "position")):
                if code in parts:
                    words.append(f"({name}: {parts[code].decode()})")
            return " ".join(["ErrorResponse" if tag == b"E" else "NoticeResponse", *words])
    raise ValueError(f"unexpected frame {tag!r}")
