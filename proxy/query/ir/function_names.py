"""Operators and scalar functions by what PostgreSQL calls them."""

from __future__ import annotations

from enum import Enum


class Comparator(Enum):
    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    DISTINCT = "IS DISTINCT FROM"
    NOT_DISTINCT = "IS NOT DISTINCT FROM"

    @property
    def is_of_order(self) -> bool:
        return self in (Comparator.LT, Comparator.LE, Comparator.GT, Comparator.GE)

    @property
    def turned(self) -> Comparator:
        """The comparator of the same condition with its sides exchanged: a < b is b > a."""
        sides = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        return Comparator(sides.get(self.value, self.value))


class Operator(Enum):
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"


class Choice(Enum):
    COALESCE = "coalesce"
    GREATEST = "greatest"
    LEAST = "least"


class NumericFunction(Enum):
    ABS = "abs"
    NEGATE = "negate"
    FLOOR = "floor"
    CEIL = "ceil"
    SIGN = "sign"
    TRUNC = "trunc"
    ROUND = "round"


class RealFunction(Enum):
    """POWER: of an operand to a constant exponent; RAISED: of a constant to an operand."""

    LN = "ln"
    LOG = "log"
    EXP = "exp"
    SQRT = "sqrt"
    POWER = "power"
    RAISED = "raised"


class TextFunction(Enum):
    LOWER = "lower"
    UPPER = "upper"
    LENGTH = "length"
    LEFT = "left"
    RIGHT = "right"
    SUBSTR = "substr"
    STRPOS = "strpos"
    STARTS_WITH = "starts_with"
    BTRIM = "btrim"
    LTRIM = "ltrim"
    RTRIM = "rtrim"
    SPLIT_PART = "split_part"
    REPLACE = "replace"
    LPAD = "lpad"
    RPAD = "rpad"
    REVERSE = "reverse"
    INITCAP = "initcap"


class InsideLook(Enum):
    """What can be asked of a jsonb, an array, a stored interval or time; the first five of jsonb.

    MEMBER: the value at a path, as jsonb; TEXT: its text; KIND: jsonb_typeof(); HAS_KEY: `?`; HOLDS: `@>`.
    ANY: a constant is among the elements; ALL_OF: all constants are (`@>`); SOME_OF: one of them (`&&`).
    EPOCH, COMPARED: seconds of an interval, by extract() (a year has 365.25 days) and by their order
    (360 days); EPOCH, HOUR, MINUTE, SECOND: of a time of day.
    """

    MEMBER = "->"
    TEXT = "->>"
    KIND = "jsonb_typeof"
    HAS_KEY = "?"
    HOLDS = "@> of jsonb"
    ANY = "= ANY"
    ALL_OF = "@>"
    SOME_OF = "&&"
    CARDINALITY = "cardinality"
    LENGTH = "array_length"
    ELEMENT = "a subscript"
    EPOCH = "extract"
    COMPARED = "a comparison of intervals"
    HOUR = "extract(hour)"
    MINUTE = "extract(minute)"
    SECOND = "extract(second)"
