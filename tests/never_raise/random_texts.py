"""Random texts and times."""

from __future__ import annotations

from functools import partial

from tests.never_raise.random_parts import Make, RandomParts
from tests.never_raise.words import (
    DAYS,
    INSTANTS,
    INTERVALS,
    KEYS,
    PADDED,
    PARTS,
    PLACES,
    SHORT_TEXTS,
    TEMPLATES,
    TEXT_CONSTANTS,
    TEXTS,
    TIME_CONSTANTS,
    UNITS,
    WIDTHS,
    ZONES,
)


class RandomTimes(RandomParts):
    def time(self, depth: int) -> str:
        columns = (*DAYS, *INSTANTS)
        if depth <= 0 or self._rarely():
            return self._one(columns) if self.draw.random() < 0.8 else self._one(TIME_CONSTANTS)
        makes: tuple[Make, ...] = (
            lambda d: f"({self.instant(d)})::date",
            lambda d: f"date({self.instant(d)})",
            lambda d: f"({self._one(columns)})::{self._one(('timestamp', 'timestamptz', 'date'))}",
            lambda d: f"({self.instant(d)} AT TIME ZONE 'UTC')",
            lambda d: f"timezone('{self._one(ZONES)}', {self._one(columns)})",
            lambda d: f"({self._one(columns)} AT TIME ZONE '{self._one(ZONES)}')",
            lambda d: (
                f"date_trunc('{self._one(UNITS)}', {self._one(columns)}, '{self._one(ZONES)}')"
            ),
            lambda d: (
                f"date_trunc('{self._one(UNITS)}', {self._one(columns)} AT TIME ZONE '{self._one(ZONES)}')"
            ),
            lambda d: f"date_trunc('{self._one(UNITS)}', {self._one(columns)})",
            *(self._moved,) * 3,
            self._bin,
            partial(self._case, self.time),
            partial(self._choice, self.time),
        )
        return self._one(makes)(depth - 1)

    def _moved(self, depth: int) -> str:
        """By an interval: of a column, or of what else takes one."""
        column, unit = self._one((*DAYS, *INSTANTS)), self._one(UNITS)
        of = self._one(
            (
                *(
                    column,
                    f"date_trunc('{unit}', {column})",
                    f"({column} AT TIME ZONE 'Asia/Kolkata')",
                ),
                *(f"({column} + {self._one(INTERVALS)})", f"({column})::timestamp"),
                f"({self._one(INSTANTS)} - {' - '.join(INTERVALS[:1] * self._one((1, 7)))})",
            )
        )
        if depth > 0 and self._rarely():
            return f"date_trunc('{unit}', {self._moved(depth - 1)})"
        if self._rarely():
            return self._week()
        if self._rarely():
            return f"({self._one(DAYS)} {self._one(('+', '-'))} {self._one(('7', '$1', '300000', '900000'))})"
        return f"({of} {self._one(('+', '-'))} {self._one(INTERVALS)})"

    def _week(self) -> str:
        """Its first day, as tools write it."""
        day, local = self._one(DAYS), f"({self._one(INSTANTS)} AT TIME ZONE 'Asia/Kolkata')"
        number = f"(({self._one(('6', '13'))} + extract(dow FROM {local})::int) % 7)"
        return self._one(
            (
                f"({day} - extract(dow FROM {day})::int)",
                f"({day} - (extract(isodow FROM {day})::int - 1))",
                f"date_trunc('day', {local} - interval '1 day' * {number})",
            )
        )

    def _bin(self, depth: int) -> str:
        width, seconds = self._one(WIDTHS), self._one(("300", "3600", "604800"))
        of = self._one((*INSTANTS, f"({self._one(INSTANTS)} - {INTERVALS[0]})"))
        origin = self._one(("timestamp '2001-01-01'", "timestamptz '9999-12-31 23:59+00'"))
        return self._one(
            (
                f"date_bin({width}, {of}, {origin})",
                f"to_timestamp(floor(extract(epoch FROM {of}) / {seconds}) * {seconds})",
                f"(timestamp '2001-01-01' + interval '{seconds} seconds' * floor(extract(epoch FROM {of}"
                f" - timestamp '2001-01-01') / extract(epoch FROM interval '{seconds} seconds')))",
            )
        )

    def instant(self, depth: int) -> str:
        """A timestamp with or without time zone: mostly a column."""
        if depth <= 0 or self.draw.random() < 0.5:
            return self._one(INSTANTS)
        return self._choice(self.instant, depth - 1)


class RandomTexts(RandomParts):
    def text(self, depth: int) -> str:
        if depth <= 0 or self._rarely():
            return self._one(TEXTS) if self.draw.random() < 0.8 else self._one(TEXT_CONSTANTS)
        makes: tuple[Make, ...] = (
            lambda d: f"{self._one(('lower', 'upper'))}({self.text(d)})",
            lambda d: f"{self._one(('left', 'right'))}({self.text(d)}, {self._length()})",
            lambda d: f"substr({self.text(d)}, {self._length()})",
            lambda d: f"substr({self.text(d)}, {self._length()}, {self._length()})",
            lambda d: f"{self._one(('btrim', 'ltrim', 'rtrim'))}({self.text(d)})",
            lambda d: f"trim(leading {self._one(TEXT_CONSTANTS)} from {self.text(d)})",
            lambda d: f"({self.text(d)})::{self._one(('text', 'varchar'))}",
            lambda d: f"to_char({self.time(min(d, 1))}, {self._one(TEMPLATES)})",
            *(self._joined,) * 2,
            lambda d: f"{self._one(('initcap', 'reverse'))}({self.text(d)})",
            lambda d: f"split_part({self.text(d)}, {self._one(PARTS)}, {self._one(PLACES)})",
            lambda d: f"replace({self.text(d)}, {self._one(PARTS)}, {self._one(SHORT_TEXTS)})",
            lambda d: f"{self._one(('lpad', 'rpad'))}({self.text(d)}, {self._one(PADDED)})",
            lambda d: f"({self.text(d)})::varchar({self._one(('1', '20'))})",
            self._printed,
            *(lambda d: f"(j{self._path()} ->> {self._one(KEYS)})",) * 2,
            lambda d: self._one(
                (f"jsonb_typeof(j{self._path()})", "ta[1]", "ta[0]", "ta[2147483647]")
            ),
            partial(self._case, self.text),
            partial(self._choice, self.text),
        )
        return self._one(makes)(depth - 1)

    def _joined(self, depth: int) -> str:
        parts = [self.text(self.draw.randint(0, depth)) for _ in range(self.draw.randint(1, 3))]
        other = self._one(("i4", "d", "b", "n2", "extract(year FROM d)", self.text(0)))
        if self._rarely():
            return f"concat_ws({self._one(PARTS)}, {', '.join((*parts, other))})"
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
