"""Random scalar expressions as SQL text, over the columns of tests.pipeline_world: everything that the reader
takes.

An expression is made by its kind (number, condition, text, time) and a depth that is left to it.
"""

from __future__ import annotations

import random  # noqa: TID251  the same expressions in every run
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

_NUMBERS = ("i2", "i4", "i8", "n2", "n", "f4", "f8")
_WHOLE = ("i2", "i4", "i8")
_NUMBER_CONSTANTS = (
    *("0", "1", "-1", "2.5", "-0.001", "100", "32767", "-32768", "2147483647", "-2147483648"),
    *("9223372036854775807", "3000000000", "1e15", "-1e-15", "1e300", "1e-310", "NULL", "'7'"),
    *(
        "$1",
        "$2",
        "1::smallint",
        "2.5::float8",
        "3::real",
        "4::numeric",
        "1e-310::real",
        "99999::smallint",
    ),
    *("$8", "$9"),  # the largest and the smallest number that is taken
)
_DIVISORS = ("2", "-3", "7", "0.5", "1000", "1e-9", "3::bigint")
_TEXTS = ("t", "c", "s", "e")
_TEXT_CONSTANTS = (
    "''",
    "'x'",
    "'SECRET'",
    "'a%'",
    r"'\'",
    "'😀'",
    "NULL",
    "$3",
    "'a'::text",
    "'low'",
    "$$x$$",
    "$5",  # as long as a constant may be
    "$7",  # as many characters as a trim may take away
)
_PATTERNS = (
    *(
        "'%'",
        "''",
        "'a%'",
        "'%b_'",
        r"'%\_'",
        r"'\%%'",
        r"'a\\'",
        "'_'",
        "'SEC%ET'",
        "'ß%'",
        "NULL",
    ),
    *(r"'SECRET\'", r"'ab\'", r"'%\'"),
    *("$5", "$6"),  # the latter with as many wildcards as are taken
)
_PARTS = ("'-'", "''", "'a'", "'SECRET'", "'😀'", "$6")
_PLACES = ("1", "-1", "0", "3", "2147483647")
_SHORT_TEXTS = ("''", "'x'", "'😀😀😀😀'", "'0123456789abcdef'")
_PADDED = ("0", "3", "-1, 'x'", "1024, '😀'", "5, ''", "20, 'SECRET'")
_EXPRESSIONS = (
    *(
        "'^S'",
        "'(a|e)+$'",
        "'[a-z]{2,5}'",
        "'[^x]*x'",
        r"'\d+\.\s'",
        "'(.?){30}e{30}'",
        "'%|'",
        "NULL",
    ),
    *(
        "'(.*e){8}'",
        "'[^\U0001f600]'",
        "'(e|ee|eee)*ab'",
        r"'(a)\1'",
        "'*a'",
        "'a{1001}'",
        "$5",
        "$3",
    ),
)
_SIMILAR = ("'%(e|x)%'", "'_{2,4}'", r"'\%%'", "'[a-c]+'", "'(a'", "'%.*'")
_DAYS = ("d",)
_INSTANTS = ("ts", "tz")
_TIME_CONSTANTS = (
    *(
        "date '2010-07-08'",
        "date '0001-01-01'",
        "date '9999-12-31'",
        "timestamp '2000-01-01 12:30:00'",
    ),
    *(
        "timestamptz '2019-12-31 23:59:59+00'",
        "timestamp '9999-12-31 23:59:59.999999'",
        "'2010-07-08'",
        "$4",
    ),
)
_FIELDS = (
    *("year", "month", "day", "quarter", "dow", "doy", "isodow", "week", "isoyear", "epoch"),
    *("hour", "minute", "second"),
)
_UNITS = ("minute", "hour", "day", "week", "month", "quarter", "year")
_INTERVALS = (
    *(
        "interval '1000 years'",
        "interval '1 day'",
        "interval '-13 months'",
        "interval '90 minutes'",
    ),
    *("'999 years'::interval", "interval '365000 days'", "interval '7' day"),
)
_CLOCK_TIMES = ("'24:00'", "'00:00:00.000001'", "'23:59:59.999999'::time", "NULL")
_WIDTHS = ("'15 minutes'", "'31 days'", "interval '7 days'", "'1 microsecond'")
_ZONES = ("Pacific/Kiritimati", "Etc/GMT+12", "America/New_York", "Asia/Kolkata", "UTC")
_TEMPLATES = ("'YYYY-MM-DD HH24:MI:SS'", "'FMMonth Day'", "'IYYY-IW DDD'", "'HH12 AM'")
_KEYS = ("'k'", "'n'", "'o'", "''", "'-1'", "0", "-1", "2147483647", "-2147483648", "$3", "$1")
_JSONS = (
    *("""'{"k": "x"}'""", """'{"k": {"k": "x"}}'""", "'[1]'", "'[]'", "'{}'", "'\"x\"'", "'null'"),
    *(
        """'["x", [7], {"k": ["x"]}]'""",
        "'1e300'::jsonb",
        """'{"": {}}'""",
        f"'{'[' * 30}{']' * 30}'",
    ),
)
_PATHS = ("'{k}'", "ARRAY['k', 'n']", "'{o,k}'")
_ARRAYS = ("ARRAY[1, 7]", "'{}'", "'{2147483647}'", "ARRAY[NULL, 1]", "'{1,2}'::int[]")
_COMPARATORS = ("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")

Make = Callable[[int], str]
T = TypeVar("T")


@dataclass(frozen=True)
class Grammar:
    """
    Given    draw: where choices come from
    """

    draw: random.Random

    def number(self, depth: int) -> str:
        if depth <= 0 or self._rarely():
            return self._one(_NUMBERS) if self.draw.random() < 0.7 else self._one(_NUMBER_CONSTANTS)
        makes: tuple[Make, ...] = (
            *(self._arithmetic,) * 4,
            self._quotient,
            self._remainder,
            self._by_a_row,
            self._real,
            *(self._rounded,) * 2,
            self._number_cast,
            *(self._extract,) * 2,
            self._between_times,
            self._measured_text,
            self._bucket,
            lambda d: self._one(
                (
                    "cardinality(ta)",
                    "cardinality(ia)",
                    "array_length(ia, 1)",
                    "least(cardinality(ta), 3)",
                    "greatest(least(extract(epoch FROM iv), 3600), -60)",
                    "extract(epoch FROM iv)",
                    *(
                        f"extract({field} FROM tod)"
                        for field in ("hour", "minute", "second", "epoch")
                    ),
                    "extract(epoch FROM tod - tod)",
                    "ia[1]",
                )
            ),
            *(partial(self._case, self.number),) * 2,
            *(partial(self._choice, self.number),) * 2,
        )
        return self._one(makes)(depth - 1)

    def condition(self, depth: int) -> str:
        if depth <= 0:
            return self._one(("b", "b IS NOT TRUE", "i4 IS NULL", "free > 0", "true", "NOT b"))
        makes: tuple[Make, ...] = (
            *(self._comparison,) * 4,
            *(self._connective,) * 3,
            lambda d: f"(NOT {self.condition(d)})",
            lambda d: f"({self._any(d)} {self._one(('IS NULL', 'IS NOT NULL'))})",
            lambda d: f"({self.condition(d)} {self._one(('IS TRUE', 'IS NOT FALSE'))})",
            self._in,
            self._between,
            lambda d: (
                f"({self._one(_INSTANTS)} - {self._one(_INSTANTS)} {self._one(_COMPARATORS)}"
                f" {self._one(_INTERVALS)})"
            ),
            *(self._like,) * 2,
            self._matches,
            lambda d: f"starts_with({self.text(d)}, {self._one(_TEXT_CONSTANTS)})",
            partial(self._case, self.condition),
            lambda d: f"coalesce({self.condition(d)}, b)",
            self._truths,
            *(self._inside,) * 2,
        )
        return self._one(makes)(depth - 1)

    def _inside(self, depth: int) -> str:
        """What is in a jsonb or an array."""
        member, item = f"j{self._path()}", self._one(_TEXT_CONSTANTS)
        number = self._one(("1", "7", "NULL", "2147483648", "$1"))
        listed = ", ".join(
            self.draw.sample(("'x'", "'y'", "''", "NULL", "'SECRET'"), self._one((1, 3)))
        )
        return self._one(
            (
                f"({member} @> {self._one(_JSONS)})",
                f"({self._one(_JSONS)} <@ {member})",
                f"({member} ? {self._one(_KEYS)})",
                f"({member} {self._one(('?|', '?&'))} ARRAY['k', 'n'])",
                f"({member} IS NULL)",
                f"(j #> {self._one(_PATHS)} IS NOT NULL)",
                f"(j #>> {self._one(_PATHS)} = {item})",
                f"(coalesce({member} ->> 'k', 'x') = {item})",
                f"({item} = ANY(ta))",
                f"({item} <> ALL(ta))",
                f"({number} = ANY(ia))",
                f"(ta {self._one(('@>', '&&'))} ARRAY[{listed}]::text[])",
                f"(iv {self._one(_COMPARATORS[:6])} {self._one((*_INTERVALS, 'iv'))})",
                f"(iv BETWEEN interval '1 day' AND {self._one(_INTERVALS)})",
                f"(tod {self._one(_COMPARATORS)} {self._one((*_CLOCK_TIMES, 'tod'))})",
                f"(tod IN ('9:30', {self._one(_CLOCK_TIMES)}))",
                f"(tod - {self._one(('tod', _CLOCK_TIMES[2]))} < {self._one(_INTERVALS)})",
                f"(extract(epoch FROM iv) {self._one(_COMPARATORS)} {number})",
                f"(ia {self._one(('@>', '&&'))} {self._one(_ARRAYS)})",
            )
        )

    def _path(self) -> str:
        return "".join(f" -> {self._one(_KEYS)}" for _ in range(self._one((0, 0, 1, 2))))

    def text(self, depth: int) -> str:
        if depth <= 0 or self._rarely():
            return self._one(_TEXTS) if self.draw.random() < 0.8 else self._one(_TEXT_CONSTANTS)
        makes: tuple[Make, ...] = (
            lambda d: f"{self._one(('lower', 'upper'))}({self.text(d)})",
            lambda d: f"{self._one(('left', 'right'))}({self.text(d)}, {self._length()})",
            lambda d: f"substr({self.text(d)}, {self._length()})",
            lambda d: f"substr({self.text(d)}, {self._length()}, {self._length()})",
            lambda d: f"{self._one(('btrim', 'ltrim', 'rtrim'))}({self.text(d)})",
            lambda d: f"trim(leading {self._one(_TEXT_CONSTANTS)} from {self.text(d)})",
            lambda d: f"({self.text(d)})::{self._one(('text', 'varchar'))}",
            lambda d: f"to_char({self.time(min(d, 1))}, {self._one(_TEMPLATES)})",
            *(self._joined,) * 2,
            lambda d: f"{self._one(('initcap', 'reverse'))}({self.text(d)})",
            lambda d: f"split_part({self.text(d)}, {self._one(_PARTS)}, {self._one(_PLACES)})",
            lambda d: f"replace({self.text(d)}, {self._one(_PARTS)}, {self._one(_SHORT_TEXTS)})",
            lambda d: f"{self._one(('lpad', 'rpad'))}({self.text(d)}, {self._one(_PADDED)})",
            lambda d: f"({self.text(d)})::varchar({self._one(('1', '20'))})",
            self._printed,
            *(lambda d: f"(j{self._path()} ->> {self._one(_KEYS)})",) * 2,
            lambda d: self._one(
                (f"jsonb_typeof(j{self._path()})", "ta[1]", "ta[0]", "ta[2147483647]")
            ),
            partial(self._case, self.text),
            partial(self._choice, self.text),
        )
        return self._one(makes)(depth - 1)

    def time(self, depth: int) -> str:
        columns = (*_DAYS, *_INSTANTS)
        if depth <= 0 or self._rarely():
            return self._one(columns) if self.draw.random() < 0.8 else self._one(_TIME_CONSTANTS)
        makes: tuple[Make, ...] = (
            lambda d: f"({self.instant(d)})::date",
            lambda d: f"date({self.instant(d)})",
            lambda d: f"({self._one(columns)})::{self._one(('timestamp', 'timestamptz', 'date'))}",
            lambda d: f"({self.instant(d)} AT TIME ZONE 'UTC')",
            lambda d: f"timezone('{self._one(_ZONES)}', {self._one(columns)})",
            lambda d: f"({self._one(columns)} AT TIME ZONE '{self._one(_ZONES)}')",
            lambda d: (
                f"date_trunc('{self._one(_UNITS)}', {self._one(columns)}, '{self._one(_ZONES)}')"
            ),
            lambda d: (
                f"date_trunc('{self._one(_UNITS)}', {self._one(columns)} AT TIME ZONE '{self._one(_ZONES)}')"
            ),
            lambda d: f"date_trunc('{self._one(_UNITS)}', {self._one(columns)})",
            *(self._moved,) * 3,
            self._bin,
            partial(self._case, self.time),
            partial(self._choice, self.time),
        )
        return self._one(makes)(depth - 1)

    def _moved(self, depth: int) -> str:
        """By an interval: of a column, or of what else takes one."""
        column, unit = self._one((*_DAYS, *_INSTANTS)), self._one(_UNITS)
        of = self._one(
            (
                *(
                    column,
                    f"date_trunc('{unit}', {column})",
                    f"({column} AT TIME ZONE 'Asia/Kolkata')",
                ),
                *(f"({column} + {self._one(_INTERVALS)})", f"({column})::timestamp"),
                f"({self._one(_INSTANTS)} - {' - '.join(_INTERVALS[:1] * self._one((1, 7)))})",
            )
        )
        if depth > 0 and self._rarely():
            return f"date_trunc('{unit}', {self._moved(depth - 1)})"
        if self._rarely():
            return self._week()
        if self._rarely():
            return f"({self._one(_DAYS)} {self._one(('+', '-'))} {self._one(('7', '$1', '300000', '900000'))})"
        return f"({of} {self._one(('+', '-'))} {self._one(_INTERVALS)})"

    def _week(self) -> str:
        """Its first day, as tools write it."""
        day, local = self._one(_DAYS), f"({self._one(_INSTANTS)} AT TIME ZONE 'Asia/Kolkata')"
        number = f"(({self._one(('6', '13'))} + extract(dow FROM {local})::int) % 7)"
        return self._one(
            (
                f"({day} - extract(dow FROM {day})::int)",
                f"({day} - (extract(isodow FROM {day})::int - 1))",
                f"date_trunc('day', {local} - interval '1 day' * {number})",
            )
        )

    def _bin(self, depth: int) -> str:
        width, seconds = self._one(_WIDTHS), self._one(("300", "3600", "604800"))
        of = self._one((*_INSTANTS, f"({self._one(_INSTANTS)} - {_INTERVALS[0]})"))
        origin = self._one(("timestamp '2001-01-01'", "timestamptz '9999-12-31 23:59+00'"))
        return self._one(
            (
                f"date_bin({width}, {of}, {origin})",
                f"to_timestamp(floor(extract(epoch FROM {of}) / {seconds}) * {seconds})",
                f"(timestamp '2001-01-01' + interval '{seconds} seconds' * floor(extract(epoch FROM {of}"
                f" - timestamp '2001-01-01') / extract(epoch FROM interval '{seconds} seconds')))",
            )
        )

    def _between_times(self, depth: int) -> str:
        """A number made of the difference of two times."""
        columns = (*_DAYS, *_INSTANTS)
        one, other = self._one(columns), self._one((*columns, *_TIME_CONSTANTS[:6]))
        field = self._one(("epoch", "day", "hour", "minute"))
        return self._one(
            (
                f"({self._one(_DAYS)} - {self._one((*_DAYS, _TIME_CONSTANTS[0]))})",
                f"extract({field} FROM {one} - {other})",
                f"extract({self._one(('year', 'month'))} FROM age({other}, {one}))",
            )
        )

    def instant(self, depth: int) -> str:
        """A timestamp with or without time zone: mostly a column."""
        if depth <= 0 or self.draw.random() < 0.5:
            return self._one(_INSTANTS)
        return self._choice(self.instant, depth - 1)

    # --- numbers

    def _arithmetic(self, depth: int) -> str:
        left, right = self.number(depth), self.number(self.draw.randint(0, depth))
        return f"({left} {self._one(('+', '-', '*'))} {right})"

    def _quotient(self, depth: int) -> str:
        divisor = "0" if self.draw.random() < 0.15 else self._one(_DIVISORS)
        return f"({self.number(depth)} / {divisor})"

    def _remainder(self, depth: int) -> str:
        whole = self._one((self._one(_WHOLE), f"({self.number(depth)})::int", "i4 * i2"))
        return f"({whole} % {self._one(('7', '-3', '1', '2147483647'))})"

    def _rounded(self, depth: int) -> str:
        inner = self.number(depth)
        plain = self._one(("abs", "floor", "ceil", "sign", "trunc", "round", "-"))
        digits = self._one(("0", "1", "3", "20"))
        return self._one(
            (f"{plain}({inner})",) * 2
            + (f"round(({inner})::numeric, {digits})", f"trunc(({inner})::numeric, {digits})")
            + (f"round(({inner})::numeric, -3)", f"trunc(({inner})::numeric, -20)")
            + ("i4::numeric(5, 2)", "n2::numeric(9, 1)", f"({inner})::numeric(400, 20)")
        )

    def _number_cast(self, depth: int) -> str:
        if self.draw.random() < 0.2:
            return f"({self.condition(depth)})::int"
        kind = self._one(("smallint", "int", "bigint", "numeric", "real", "float8"))
        return f"({self.number(depth)})::{kind}"

    def _extract(self, depth: int) -> str:
        # Inside an aggregate only a column can be taken apart.
        of = self._one((*_DAYS, *_INSTANTS)) if self.draw.random() < 0.7 else self.time(depth)
        return f"extract({self._one(_FIELDS)} FROM {of})"

    def _measured_text(self, depth: int) -> str:
        inner = self.text(depth)
        return self._one((f"length({inner})", f"strpos({inner}, {self._one(_TEXT_CONSTANTS)})"))

    def _bucket(self, depth: int) -> str:
        return f"width_bucket({self.number(depth)}, {self._one(('0', '-5.5'))}, 100, {self._one(('1', '10'))})"

    def _by_a_row(self, depth: int) -> str:
        """Divided by what is not 0."""
        if self._rarely():  # what has to be refused
            return f"({self._one(('n2', 'i4', '1'))} / {self._one(('i4', 'i2', '(i4 * i2)'))})"
        number = self.number(min(depth, 1))
        divisor = self._one(
            (
                *(
                    "(i4 + 1)",
                    "nullif(i2, 0)",
                    "nullif(i4, 0)",
                    "nullif(n2, 0)",
                    "greatest(f8, 0.001)",
                ),
                *("(n + 3)", "(f4 + 1e-6)", "nullif(i2::numeric, 0)", "least(-n2, -0.5)"),
                f"greatest({number}, 1e-9)",
                f"nullif({number}, 0)",
            )
        )
        return self._one(
            (
                f"({self.number(depth)} / {divisor})",
                f"(({self.number(min(depth, 1))})::numeric % ({divisor})::numeric)",
                f"({self._one(_WHOLE)} % nullif({self._one(_WHOLE)}, 0))",
            )
        )

    def _real(self, depth: int) -> str:
        if self._rarely():  # what has to be refused
            return f"{self._one(('ln', 'log', 'sqrt'))}({self._one(('i2', 'i4', 'n', 'f8', 'i8'))})"
        number = self.number(min(depth, 2))
        small = self._one(("i4", "f4", "n2 / 10", "n", "i2", f"least(greatest({number}, -20), 20)"))
        above = self._one(
            ("(i4 + 1)", "greatest(f8, 1e-9)", f"greatest({number}, 0.5)", "(n2 + 1e-15)")
        )
        exponent = self._one(("2", "3", "0.5", "-1", "-0.3", "0", "12"))
        return self._one(
            (
                *(
                    f"ln({above})",
                    f"log({above})",
                    f"log(2.5, ({above})::numeric)",
                    f"sqrt({above})",
                ),
                *(
                    f"sqrt(abs({number}))",
                    "sqrt(i4)",
                    "sqrt(n2)",
                    f"exp({small})",
                    f"exp(-{small})",
                ),
                *(f"power({above}, {exponent})", f"power({small}, 2)", f"({above} ^ {exponent})"),
                *(f"power(1.5, {small})", f"(2 ^ {small})", f"power(0.001, {small})"),
            )
        )

    # --- conditions

    def _truths(self, depth: int) -> str:
        right = self._one(("true", "false", "b", f"({self.condition(min(depth, 1))})"))
        return f"(({self.condition(depth)}) {self._one(_COMPARATORS)} {right})"

    def _comparison(self, depth: int) -> str:
        make: Make = self._one((self.number, self.number, self.text, self.time))
        return f"({make(depth)} {self._one(_COMPARATORS)} {make(self.draw.randint(0, depth))})"

    def _connective(self, depth: int) -> str:
        parts = [
            self.condition(self.draw.randint(0, depth)) for _ in range(self.draw.randint(1, 2))
        ]
        word = self._one(("AND", "OR"))
        return f"({f' {word} '.join((self.condition(depth), *parts))})"

    def _in(self, depth: int) -> str:
        make, constants = self._one(
            (
                (self.number, ("0", "1", "2.5", "42", "NULL", "3000000000", "$1")),
                (self.text, ("'x'", "''", "'a'", "'no label'", "NULL", "$3")),
                (self.time, ("date '2010-07-08'", "timestamp '2000-01-01'", "$4")),
            )
        )
        listed = ", ".join(self.draw.sample(constants, self.draw.randint(1, 3)))
        if self._rarely():
            make, listed = self._one(
                (
                    (self.number, "SELECT k FROM rates WHERE k > 5"),
                    (self.text, "SELECT code FROM places WHERE zone LIKE 's%'"),
                    (self.text, "SELECT e FROM moods WHERE e <> 'low'"),
                )
            )
        return f"({make(depth)} {self._one(('IN', 'NOT IN'))} ({listed}))"

    def _between(self, depth: int) -> str:
        make: Make = self._one((self.number, self.text, self.time))
        return f"({make(depth)} BETWEEN {make(min(depth, 1))} AND {make(min(depth, 1))})"

    def _like(self, depth: int) -> str:
        word = self._one(("LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"))
        pattern = "$3" if self._rarely() else self._one(_PATTERNS)
        return f"({self.text(depth)} {word} {pattern})"

    # --- texts

    def _joined(self, depth: int) -> str:
        parts = [self.text(self.draw.randint(0, depth)) for _ in range(self.draw.randint(1, 3))]
        other = self._one(("i4", "d", "b", "n2", "extract(year FROM d)", self.text(0)))
        if self._rarely():
            return f"concat_ws({self._one(_PARTS)}, {', '.join((*parts, other))})"
        if self._rarely():
            return f"concat({', '.join((*parts, other))})"
        return f"({' || '.join((self.text(depth), *parts, other))})"

    def _printed(self, depth: int) -> str:
        number = self.number(min(depth, 2))
        return self._one(
            (
                *("i8::text", "n2::text", "d::varchar", "b::text", "(i4 * 3 - 1)::text"),
                *("extract(month FROM tz)::text", "length(t)::text", "(i4 / 7)::varchar(5)"),
                *(f"floor({number})::text", f"round(({number})::numeric, 3)::text"),
            )
        )

    def _matches(self, depth: int) -> str:
        """By a regular expression: read ones, and some with which PostgreSQL would raise on a row."""
        text = self.text(depth)
        if self._rarely():
            flags = self._one(("", ", 'i'"))
            return f"regexp_like({text}, {self._one(_EXPRESSIONS)}{flags})"
        if self._rarely():
            return f"({text} SIMILAR TO {self._one(_SIMILAR)})"
        return f"({text} {self._one(('~', '~*', '!~', '!~*'))} {self._one(_EXPRESSIONS)})"

    # --- anything

    def _any(self, depth: int) -> str:
        make: Make = self._one((self.number, self.text, self.time, self.condition))
        return make(depth)

    def _case(self, make: Make, depth: int) -> str:
        otherwise = "" if self._rarely() else f" ELSE {make(depth)}"
        if self.draw.random() < 0.2:
            of: Make = self._one((self.number, self.text, self.time))
            small = min(depth, 1)
            return f"(CASE {of(small)} WHEN {of(small)} THEN {make(depth)}{otherwise} END)"
        more = f" WHEN {self.condition(depth)} THEN {make(0)}" if self._rarely() else ""
        return f"(CASE WHEN {self.condition(depth)} THEN {make(depth)}{more}{otherwise} END)"

    def _choice(self, make: Make, depth: int) -> str:
        word = self._one(("coalesce", "greatest", "least", "nullif"))
        return f"{word}({make(depth)}, {make(self.draw.randint(0, depth))})"

    def _length(self) -> str:
        return self._one(("0", "1", "-1", "3", "2147483647", "-2147483647", "NULL", "$1"))

    def _rarely(self) -> bool:
        return self.draw.random() < 0.15

    def _one(self, choices: Sequence[T]) -> T:
        return self.draw.choice(choices)
