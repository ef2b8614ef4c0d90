"""Statements of both corpora, and variants of them with conditions whose constants are at the limits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from proxy.base.limits import (
    CONSTANT_BYTES,
    LIST_ELEMENTS,
    NUMBER_DIGITS,
    PATTERN_WILDCARDS,
    SEARCHED_BYTES,
    TRIM_CHARACTERS,
)
from tests.live import attacks, public_data
from tests.live.neighbour_data import LAB, PERSON, PUBLIC

_TEXT_WORK = (
    4 * 1024
)  # so many octets of her text times what is searched for in it: within the price of a row
_LONG = "a" * CONSTANT_BYTES
_WILD = "%a" * (PATTERN_WILDCARDS - 1) + "%b"
_NEEDLE = "b" + "a" * (SEARCHED_BYTES - 1)
_LITERAL = "%" + "a" * (SEARCHED_BYTES - 3) + "b%"
# The longest texts that may be searched for so much.
_FOR_WILD = "a" * (_TEXT_WORK // len(_WILD))
_FOR_NEEDLE = "a" * (_TEXT_WORK // (SEARCHED_BYTES + 16))
_FOR_ILIKE = "a" * (_TEXT_WORK // (len(_WILD) + 32))
_TRIMMED = "b" * (TRIM_CHARACTERS - 1) + "a"
_FOR_TRIM = "a" * (_TEXT_WORK // (TRIM_CHARACTERS + 16))
_DIGITS = "9" * NUMBER_DIGITS
_FRACTION = "0." + "1" * NUMBER_DIGITS


@dataclass(frozen=True, slots=True)
class Asked:
    """sql has $1 and so on for values. shaped_by_noise: the number of rows may be the noise's; is_own: an
    original of a corpus, which may change its session."""

    name: str
    data: str
    sql: str
    values: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    shaped_by_noise: bool = False
    is_own: bool = False
    many_statements: bool = False


@dataclass(frozen=True, slots=True)
class _Condition:
    """text: with {u} for the unit's column, {p} for the person, {t} for a column of text."""

    name: str
    text: str
    values: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


_HERS = "CASE WHEN {u} = {p} THEN $1 ELSE '' END"
_TEXT, _TEXTS = ("text",), ("text", "text")
_CONDITIONS = (
    _Condition("pattern of many %", "{t} LIKE $1 OR {u} > 0", (_WILD,), _TEXT),
    _Condition("hers against many %", f"{_HERS} LIKE $2 OR {{u}} > 0", (_FOR_WILD, _WILD), _TEXTS),
    _Condition(
        "hers against a long pattern",
        f"{_HERS} LIKE $2 OR {{u}} > 0",
        ("a" * (_TEXT_WORK // SEARCHED_BYTES), _LITERAL),
        _TEXTS,
    ),
    _Condition("hers against ILIKE", f"{_HERS} ILIKE $2", (_FOR_ILIKE, _WILD), _TEXTS),
    _Condition("her trimmed text", f"btrim({_HERS}, $2) = ''", (_FOR_TRIM, _TRIMMED), _TEXTS),
    _Condition(
        "her trimmed text, many times",
        " OR ".join([f"rtrim({_HERS}, $2) = 'x'"] * 8) + " OR {u} > 0",
        (_FOR_TRIM[: len(_FOR_TRIM) // 8], _TRIMMED),
        _TEXTS,
    ),
    _Condition("trimmed column", "ltrim({t}, $1) <> 'x'", (_TRIMMED,), _TEXT),
    _Condition(
        "searched in hers",
        f"strpos({_HERS}, $2) = 0",
        (_FOR_NEEDLE, _NEEDLE),
        _TEXTS,
    ),
    _Condition("searched in a column", "strpos({t}, $1) = 0", (_NEEDLE,), _TEXT),
    _Condition("her length", f"length(upper({_HERS})) < 9000", (_LONG,), _TEXT),
    _Condition("hers compared", f"{_HERS} <= $2 OR {{u}} > 0", (_LONG, _LONG[:7000]), _TEXTS),
    _Condition("column compared", "{t} > $1 OR {t} <= $1", (_LONG,), _TEXT),
    _Condition(
        "her number",
        "CASE WHEN {u} = {p} THEN $1::numeric ELSE 1 END > 0",
        (_DIGITS,),
        ("text",),
    ),
    _Condition(
        "her product",
        "CASE WHEN {u} = {p} THEN $1::numeric ELSE 1 END * $2::numeric > 0",
        (_DIGITS, _FRACTION),
        _TEXTS,
    ),
    _Condition("compared with digits", "{u} < $1::numeric", (_DIGITS,), ("text",)),
    _Condition(
        "list of numbers", "{u} IN ({p}, " + ", ".join(map(str, range(1, LIST_ELEMENTS))) + ")"
    ),
    _Condition(
        "bound list of texts",
        "{t} IN (" + ", ".join(f"${n}" for n in range(1, 501)) + ") OR {u} > 0",
        tuple(f"text number {n}" for n in range(500)),
        ("text",) * 500,
    ),
    _Condition("left of hers", f"left({_HERS}, 8000) <> 'x'", (_LONG,), _TEXT),
    _Condition(
        "starts with", f"starts_with({_HERS}, $2) OR {{u}} > 0", (_FOR_NEEDLE, _NEEDLE), _TEXTS
    ),
)


@dataclass(frozen=True, slots=True)
class _Columns:
    unit: str
    person: str
    text: str


_COLUMNS = {
    "adult": _Columns("user_id", str(PERSON), "notes"),
    "public.adult": _Columns("user_id", str(PERSON), "notes"),
    "visits": _Columns("user_id", str(PERSON), "store"),
    "census.adult": _Columns("person_id", str(PERSON), "occupation"),
    "shop.orders": _Columns("user_id", "1", "CASE WHEN quantity > 1 THEN 'many' ELSE 'one' END"),
    "shop.people": _Columns("id", "1", "city"),
    "chinook.customer": _Columns("customer_id", "23", "country"),
    "chinook.invoice": _Columns("customer_id", "23", "billing_country"),
}
_NOT_VARIED = re.compile(
    r"\b(join|union|except|intersect|with|having|lateral|limit)\b|/|,\s*adult|;\s*\S|--"
)
_FROM = re.compile(
    r"\bfrom\s+(?P<table>[\w.]+)(?P<alias>(?:\s+(?:as\s+)?(?!where\b|group\b|order\b|fetch\b)\w+)?)"
)
# Their rows or their success are the noise's: they filter by or divide by noisy numbers.
_NOISE_DECIDES = re.compile(r"\bhaving\b|\"source\".\"count\" >", re.IGNORECASE)


_QUESTION = re.compile(r"(/\*.*?\*/|\s)*(select|with)\b", re.IGNORECASE | re.DOTALL)
# Ended by the time or the memory that the shadow gives it, whichever is first; names no table.
_ENDED = ("TIM-001", "TIM-004", "TIM-013")


def is_question(sql: str) -> bool:
    """A SELECT, which each interface takes."""
    return _QUESTION.match(sql) is not None


def originals() -> list[Asked]:
    """Without those whose success the machine decides."""
    found = [
        Asked(
            attack.id,
            LAB,
            attack.sql,
            values=attacks.PARAMETERS.get(attack.id, ()),
            types=("integer",) * len(attacks.PARAMETERS.get(attack.id, ())),
            shaped_by_noise=_NOISE_DECIDES.search(attack.sql) is not None,
            is_own=True,
            many_statements=";" in attack.sql.strip().rstrip(";"),
        )
        for attack in attacks.corpus()
        if attack.id not in _ENDED
    ]
    if public_data.PRESENT:
        lines = (public_data.FOLDER / "queries_public.jsonl").read_text(encoding="utf-8")
        for line in lines.splitlines():
            query = json.loads(line)
            decides = _NOISE_DECIDES.search(query["sql"]) is not None
            found.append(
                Asked(
                    query["id"],
                    PUBLIC,
                    query["sql"],
                    shaped_by_noise=decides,
                    is_own=True,
                    many_statements=";" in query["sql"].strip().rstrip(";"),
                )
            )
    return found


def variants(accepted: list[Asked]) -> Iterator[Asked]:
    """Accepted statements of one table with one more condition: each with the first of its conditions, then
    each with the second, so that every condition comes as often as any other."""
    bases = [(asked, place) for asked in accepted if (place := _place(asked)) is not None]
    for turn in range(len(_CONDITIONS)):
        for number, (asked, (at, has_where, columns)) in enumerate(bases):
            condition = _CONDITIONS[(number + turn) % len(_CONDITIONS)]
            text = condition.text.replace("{u}", columns.unit)
            text = text.replace("{p}", columns.person).replace("{t}", columns.text)
            added = f" where ({text}) and" if has_where else f" where ({text})"
            rest = re.sub(r"^\s*where\b", "", asked.sql[at:], count=1, flags=re.IGNORECASE)
            yield Asked(
                f"{asked.name}, {condition.name}",
                asked.data,
                asked.sql[:at] + added + " " + rest.lstrip(),
                condition.values,
                condition.types,
                asked.shaped_by_noise,
            )


def _place(asked: Asked) -> tuple[int, bool, _Columns] | None:
    """Where a condition goes: behind the only table; None: not in this statement."""
    text = asked.sql.lower()
    found = _FROM.findall(text)
    if (
        not is_question(asked.sql)
        or asked.values
        or len(found) != 1
        or text.count("select") != 1
        or _NOT_VARIED.search(text)
    ):
        return None
    match = _FROM.search(text)
    assert match is not None
    columns = _COLUMNS.get(match["table"])
    if columns is None or (
        not text[match.end() :].lstrip().startswith(("where", "group", "order", ";", "/*"))
        and text[match.end() :].strip()
    ):
        return None
    return match.end(), text[match.end() :].lstrip().startswith("where"), columns
