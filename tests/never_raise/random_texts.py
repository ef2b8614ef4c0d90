"""Random texts."""

from __future__ import annotations

from functools import partial

from tests.never_raise.random_parts import Make, RandomParts
from tests.never_raise.words import (
    KEYS,
    PADDED,
    PARTS,
    PLACES,
    SHORT_TEXTS,
    TEMPLATES,
    TEXT_CONSTANTS,
    TEXTS,
)


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
