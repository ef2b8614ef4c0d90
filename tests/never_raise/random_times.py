"""Random dates and times."""

from __future__ import annotations

from functools import partial

from tests.never_raise.random_parts import Make, RandomParts
from tests.never_raise.words import DAYS, INSTANTS, INTERVALS, TIME_CONSTANTS, UNITS, WIDTHS, ZONES


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
