"""Random conditions."""

from __future__ import annotations

from functools import partial

from tests.never_raise.random_parts import Make, RandomParts
from tests.never_raise.words import (
    ARRAYS,
    CLOCK_TIMES,
    COMPARATORS,
    EXPRESSIONS,
    INSTANTS,
    INTERVALS,
    JSONS,
    KEYS,
    PATHS,
    PATTERNS,
    SIMILAR,
    TEXT_CONSTANTS,
)


class RandomConditions(RandomParts):
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
                f"({self._one(INSTANTS)} - {self._one(INSTANTS)} {self._one(COMPARATORS)}"
                f" {self._one(INTERVALS)})"
            ),
            *(self._like,) * 2,
            self._matches,
            lambda d: f"starts_with({self.text(d)}, {self._one(TEXT_CONSTANTS)})",
            partial(self._case, self.condition),
            lambda d: f"coalesce({self.condition(d)}, b)",
            self._truths,
            *(self._inside,) * 2,
            self._clock_compared,
            self._named_operator,
        )
        return self._one(makes)(depth - 1)

    def _named_operator(self, depth: int) -> str:
        """Operators with their schema, and collations that change nothing."""
        collation, operator = self._one(("C", "default")), self._one(("=", "<>", "<", ">="))
        return self._one(
            (
                f"(({self.number(depth)}) OPERATOR(pg_catalog.{operator}) ({self.number(0)}))",
                f"""(({self.text(depth)}) COLLATE "{collation}" = {self._one(TEXT_CONSTANTS)})""",
            )
        )

    def _clock_compared(self, depth: int) -> str:
        """What a clock shows at a timestamp."""
        clock, other = f"({self.instant(depth)})::time", self._one((*CLOCK_TIMES, "tod"))
        listed = f"{clock} IN ('9:30', {self._one(CLOCK_TIMES)})"
        return self._one((f"({clock} {self._one(COMPARATORS)} {other})", f"({listed})"))

    def _inside(self, depth: int) -> str:
        """What is in a jsonb or an array."""
        member, item = f"j{self._path()}", self._one(TEXT_CONSTANTS)
        number = self._one(("1", "7", "NULL", "2147483648", "$1"))
        listed = ", ".join(
            self.draw.sample(("'x'", "'y'", "''", "NULL", "'SECRET'"), self._one((1, 3)))
        )
        return self._one(
            (
                f"({member} @> {self._one(JSONS)})",
                f"({self._one(JSONS)} <@ {member})",
                f"({member} ? {self._one(KEYS)})",
                f"({member} {self._one(('?|', '?&'))} ARRAY['k', 'n'])",
                f"({member} IS NULL)",
                f"(j #> {self._one(PATHS)} IS NOT NULL)",
                f"(j #>> {self._one(PATHS)} = {item})",
                f"(coalesce({member} ->> 'k', 'x') = {item})",
                f"({item} = ANY(ta))",
                f"({item} <> ALL(ta))",
                f"({number} = ANY(ia))",
                f"(ta {self._one(('@>', '&&'))} ARRAY[{listed}]::text[])",
                f"(iv {self._one(COMPARATORS[:6])} {self._one((*INTERVALS, 'iv'))})",
                f"(iv BETWEEN interval '1 day' AND {self._one(INTERVALS)})",
                f"(tod {self._one(COMPARATORS)} {self._one((*CLOCK_TIMES, 'tod'))})",
                f"(tod IN ('9:30', {self._one(CLOCK_TIMES)}))",
                f"(tod - {self._one(('tod', CLOCK_TIMES[2]))} < {self._one(INTERVALS)})",
                f"(extract(epoch FROM iv) {self._one(COMPARATORS)} {number})",
                f"(ia {self._one(('@>', '&&'))} {self._one(ARRAYS)})",
            )
        )

    def _truths(self, depth: int) -> str:
        right = self._one(("true", "false", "b", f"({self.condition(min(depth, 1))})"))
        return f"(({self.condition(depth)}) {self._one(COMPARATORS)} {right})"

    def _comparison(self, depth: int) -> str:
        make: Make = self._one((self.number, self.number, self.text, self.time))
        return f"({make(depth)} {self._one(COMPARATORS)} {make(self.draw.randint(0, depth))})"

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
        pattern = "$3" if self._rarely() else self._one(PATTERNS)
        return f"({self.text(depth)} {word} {pattern})"

    def _matches(self, depth: int) -> str:
        """By a regular expression: read ones, and some with which PostgreSQL would raise on a row."""
        text = self.text(depth)
        if self._rarely():
            flags = self._one(("", ", 'i'"))
            return f"regexp_like({text}, {self._one(EXPRESSIONS)}{flags})"
        if self._rarely():
            return f"({text} SIMILAR TO {self._one(SIMILAR)})"
        return f"({text} {self._one(('~', '~*', '!~', '!~*'))} {self._one(EXPRESSIONS)})"
