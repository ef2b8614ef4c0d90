"""An engine for tests of the wire: it knows by heart what to do with a few statements about shop.orders.

It says what the real one says, and does none of its work: count(*) over shop.orders is 42, or 100
minus the bound in `WHERE amount > bound`; everything else about shop.orders is refused.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from typing_extensions import ParamSpec

from proxy.base.errors import Code, Refusal
from proxy.pgwire.calls import (
    Correct,
    ExecutePrepared,
    Inspect,
    PlanTrial,
    QueryAnswer,
    Read,
    Refuse,
    RunQuery,
    Substitute,
    Trial,
    Verbatim,
)
from proxy.servers.error_boundary import refuses, refuses_later

P = ParamSpec("P")
T = TypeVar("T")

_TOKEN = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | \$(\w*)\$.*?\$\1\$ | --[^\n]* | /\*.*?\*/ | ; | . """,
    re.DOTALL | re.VERBOSE,
)
_COUNT = re.compile(
    r"SELECT\s+count\s*\(\s*\*\s*\)(?P<alias>\s+AS\s+\w+)?\s+FROM\s+(?:shop\.)?orders"
    r"(?:\s+WHERE\s+amount\s*>\s*(?P<bound>\$1|\d+))?",
    re.IGNORECASE,
)
_WRAPPING = re.compile(
    r"\s*(?P<copy>COPY\s*\()|\s*(?:DECLARE\b.*?\bFOR\b|CREATE\s+TEMP\s+TABLE\b.*?\bAS\b"
    r"|(?P<explain>EXPLAIN))",
    re.IGNORECASE | re.DOTALL,
)
_RELATION = re.compile(r"\b(?:FROM|TABLE|JOIN)\s+((?:shop\.)?orders)\b", re.IGNORECASE)
_EXECUTE = re.compile(r"\s*EXECUTE\s+(\w+)\s*(?:\((.*)\))?\s*$", re.IGNORECASE | re.DOTALL)
_PREPARE = r"PREPARE\s+{}\s*(?:\([^)]*\))?\s*AS\s+([^;]*)"

FOR_EVER = 777  # a bound whose question never comes to an end
BREAKS = 666  # a bound whose question fails inside the engine
OVER_BUDGET = 555


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    bound: str | None = None


@dataclass(slots=True)
class ScriptedEngine:
    orders_oid: int
    asked: list[tuple[str, RunQuery]] = field(default_factory=list)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: int = 0

    async def in_turn(
        self, analyst: str, function: Callable[P, T], *given: P.args, **named: P.kwargs
    ) -> T:
        return await asyncio.to_thread(function, *given, **named)

    def split(self, text: str) -> tuple[tuple[int, str], ...]:
        pieces, start = [], 0
        ends = [match.start() for match in _TOKEN.finditer(text) if match[0] == ";"]
        for end in [*ends, len(text)]:
            piece = text[start:end]
            bare = re.sub(r"--[^\n]*|/\*.*?\*/", "", piece, flags=re.DOTALL).strip()
            if bare:
                pieces.append((start, piece))
            start = end + 1
        return tuple(pieces)

    def is_protected(self, table: str) -> bool:
        return table == "orders"

    def unknown_table_hint(self, message: str) -> str | None:
        return None

    def look(self, text: str) -> Verbatim | Inspect | ExecutePrepared | Refuse:
        if match := _EXECUTE.match(text):
            arguments = match[2].split(",") if match[2] else []
            return ExecutePrepared(match[1].lower(), tuple(arguments))
        relations = _RELATION.findall(text)
        if not relations or re.match(r"\s*PREPARE\b", text, re.I):
            return Verbatim()
        analyse = text
        if match := _WRAPPING.match(text):
            inner = text[match.end() :]
            if match["copy"]:
                inner = inner[: inner.rindex(")")]
            analyse = re.sub(r"[^\n]", " ", text[: match.end()]) + inner
        return Inspect(tuple(relations), analyse, Question(text))

    def prepared(self, source: str, name: str) -> str | None:
        match = re.search(_PREPARE.format(name), source, re.IGNORECASE)
        return None if match is None else match[1]

    def can_correct(self, refuse: Refuse) -> bool:
        return False

    async def correct(self, analyst: str, wanted: Correct) -> str | None:
        raise AssertionError("nothing can be corrected")

    @refuses("read")
    def read(self, read: Read) -> Verbatim | Substitute | Refuse:
        text = read.handle.text
        if "read fails" in text:
            raise RuntimeError("secret of the planner")
        if set(read.relation_oids) != {self.orders_oid} or re.search(r"LIMIT 0\s*$", text):
            return Verbatim()
        match = _COUNT.search(text)
        if match is None:
            raise Refusal(
                Code.RAW_ROWS,
                "rows of shop.orders are protected",
                "Ask for count(*).",
                text.index("orders") + 1,
            )
        number = len(read.parameter_oids) + 1
        alias = match["alias"] or " AS count"
        replaced = f"SELECT q.a1{alias} FROM jsonb_to_recordset(${number}->'b1') AS q(a1 bigint)"
        whole = text[: match.start()] + replaced + text[match.end() :]
        wrapping = _WRAPPING.match(text)
        explains = wrapping is not None and wrapping["explain"] is not None
        return Substitute(
            f"SELECT 'the plan'::text AS \"QUERY PLAN\" FROM (SELECT ${number}) AS unused"
            if explains
            else whole,
            number,
            wrapping is not None and wrapping["copy"] is not None,
            Question(whole, match["bound"]),
            "EXPLAIN" if explains else None,
        )

    def of(self, analyst: str) -> ScriptedEngine:
        return self

    async def trial(self, analyst: str, query: PlanTrial) -> Trial | Refuse | None:
        raise AssertionError("statements of this engine are not rehearsed")

    @refuses_later("run")
    async def run(self, analyst: str, request: RunQuery) -> QueryAnswer | Refuse:
        self.asked.append((analyst, request))
        bound: str | None = request.handle.bound
        if bound == "$1":
            bound = request.arguments[0]
        if bound is None or bound == "null":
            value = 42
        else:
            value = int(100 - Fraction(bound))
            if Fraction(bound) == FOR_EVER:
                await self._for_ever()
            if Fraction(bound) == BREAKS:
                raise RuntimeError("secret of the engine")
            if Fraction(bound) == OVER_BUDGET:
                return Refuse("53400", "budget is used up", "It renews tomorrow.", None)
        relation = json.dumps({"b1": [{"a1": value}]}, ensure_ascii=False)
        notice = "charged: 1 €" if request.settings.get("dp.notice") == "on" else None
        inlined = re.sub(r"\$\d+", f"'{relation}'::jsonb", request.handle.text, count=1)
        return QueryAnswer(relation, lambda: notice, inlined)

    async def _for_ever(self) -> None:
        self.waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled += 1
