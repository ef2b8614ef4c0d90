"""Random numbers."""

from __future__ import annotations

from functools import partial

from tests.never_raise.random_parts import Make, RandomParts
from tests.never_raise.words import (
    DAYS,
    DIVISORS,
    FIELDS,
    INSTANTS,
    NUMBER_CONSTANTS,
    NUMBERS,
    TEXT_CONSTANTS,
    TIME_CONSTANTS,
    WHOLE,
)


class RandomNumbers(RandomParts):
    def number(self, depth: int) -> str:
        if depth <= 0 or self._rarely():
            return self._one(NUMBERS) if self.draw.random() < 0.7 else self._one(NUMBER_CONSTANTS)
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
            self._of_clock,
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

    def _between_times(self, depth: int) -> str:
        """A number made of the difference of two times."""
        columns = (*DAYS, *INSTANTS)
        one, other = self._one(columns), self._one((*columns, *TIME_CONSTANTS[:6]))
        field = self._one(("epoch", "day", "hour", "minute"))
        return self._one(
            (
                f"({self._one(DAYS)} - {self._one((*DAYS, TIME_CONSTANTS[0]))})",
                f"extract({field} FROM {one} - {other})",
                f"extract({self._one(('year', 'month'))} FROM age({other}, {one}))",
            )
        )

    def _arithmetic(self, depth: int) -> str:
        left, right = self.number(depth), self.number(self.draw.randint(0, depth))
        return f"({left} {self._one(('+', '-', '*'))} {right})"

    def _quotient(self, depth: int) -> str:
        divisor = "0" if self.draw.random() < 0.15 else self._one(DIVISORS)
        return f"({self.number(depth)} / {divisor})"

    def _remainder(self, depth: int) -> str:
        whole = self._one((self._one(WHOLE), f"({self.number(depth)})::int", "i4 * i2"))
        return f"({whole} % {self._one(('7', '-3', '1', '2147483647'))})"

    def _rounded(self, depth: int) -> str:
        inner = self.number(depth)
        plain = self._one(("abs", "floor", "ceil", "sign", "trunc", "round", "-"))
        digits = self._one(("0", "1", "3", "20"))
        return self._one(
            (f"{plain}({inner})",) * 4
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
        of = self._one((*DAYS, *INSTANTS)) if self.draw.random() < 0.7 else self.time(depth)
        return f"extract({self._one(FIELDS)} FROM {of})"

    def _of_clock(self, depth: int) -> str:
        """Of what a clock shows at a timestamp."""
        field = self._one(("hour", "minute", "second", "epoch"))
        of = self._one(
            (f"{self._one(INSTANTS)}::time", f"({self.time(min(depth, 1))})::timestamp::time")
        )
        return f"extract({field} FROM {of})"

    def _measured_text(self, depth: int) -> str:
        inner = self.text(depth)
        return self._one((f"length({inner})", f"strpos({inner}, {self._one(TEXT_CONSTANTS)})"))

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
                f"({self._one(WHOLE)} % nullif({self._one(WHOLE)}, 0))",
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
