"""The policy: what may be asked, what it costs. Plain data, exact numbers, checked in itself.

Numbers are Fractions of the text that the owner wrote. Bounds of a date are days since 1970-01-01,
bounds of a timestamp are seconds since 1970-01-01 00:00:00 (UTC).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from fractions import Fraction

from proxy.catalog.catalog_model import TableName
from proxy.mechanisms.loss import Loss
from proxy.policy.finding_names import FindingName
from proxy.policy.publication import Publication


@dataclass(frozen=True, slots=True)
class RowUnit:
    """Neighbours differ in `rows` rows (1: `unit: row`; k: `unit: {rows: k}`)."""

    rows: int = 1


@dataclass(frozen=True, slots=True)
class UnitPath:
    """Where a reference leads: the identifier is in `column` of the row of `table` with this key."""

    table: TableName
    column: str


UNIT_OF_COPY = "dp_unit"  # of prepared copies whose unit is behind a reference


class BlockLength(Enum):
    """How long the blocks of time are of which each has a budget of its own."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeBlocks:
    """time: the column that says in which block a row is (policy/blocks_of_time.py)."""

    per: BlockLength
    time: str


@dataclass(frozen=True, slots=True)
class IdentifierUnit:
    """Neighbours differ in all rows of one identifier, which is in `column`; or, with a path, in the row of
    another protected table whose primary key `column` holds; or, with blocks, in those of one block of time."""

    identifier: str
    column: str
    path: UnitPath | None = None
    blocks: TimeBlocks | None = None

    @property
    def is_in_column(self) -> bool:
        """Whether the column by itself tells units apart."""
        return self.path is None and self.blocks is None

    @property
    def column_in_copy(self) -> str:
        """The column of a prepared copy that holds the unit. A reference is no unit: the copy has both."""
        return self.column if self.path is None else UNIT_OF_COPY

    @property
    def kind(self) -> str:
        """What one unit is called.

        >>> IdentifierUnit("person", "id", blocks=TimeBlocks(per=BlockLength.MONTH, time="at")).kind
        'person in a month'
        """
        if self.blocks is None:
            return self.identifier
        return f"{self.identifier} in a {self.blocks.per.value}"

    @property
    def their_rows(self) -> str:
        """Which rows of one identifier are protected together."""
        return (
            "all their rows"
            if self.blocks is None
            else f"their rows of one {self.blocks.per.value}"
        )


Unit = RowUnit | IdentifierUnit


class BoundsKind(Enum):
    """What the two numbers of a `Bounds` count; the column's type must ask for the same."""

    NUMBER = "numbers"
    DATE = "dates"  # days since 1970-01-01
    TIMESTAMP = "timestamps"  # seconds since 1970-01-01 00:00:00 UTC


@dataclass(frozen=True, slots=True)
class Bounds:
    low: Fraction
    high: Fraction
    kind: BoundsKind = BoundsKind.NUMBER

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("bounds are the wrong way round")


@dataclass(frozen=True, slots=True)
class MovingBounds:
    """Bounds whose upper end is `now`: `[2018-01-01, now]`. Their numbers: moving_bounds.bounds_on.

    Attributes:
        kind: Dates or timestamps.
    """

    low: Fraction
    kind: BoundsKind


class Noise(Enum):
    """Of COUNT and SUM."""

    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"


class MedianNoise(Enum):
    """Of the smoothed median."""

    LAPLACE = "laplace"
    POLYPLACE = "polyplace"


class Mechanism(Enum):
    """Of AVG, MIN and MAX. The last two are of AVG alone: with them MIN and MAX are smoothed medians. AUTO is
    resolved by planning (planner/measuring.py)."""

    AUTO = "auto"
    SMOOTH_MEDIAN = "smooth_median"
    BEST = "best"
    CLIPPED_MEAN = "clipped_mean"
    SUM_OVER_COUNT = "sum_over_count"

    @property
    def of_extremes(self) -> Mechanism:
        """What MIN and MAX are made with."""
        return Mechanism.BEST if self is Mechanism.BEST else Mechanism.SMOOTH_MEDIAN


class Weighed(Enum):
    """What has a share of epsilon and delta."""

    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    VARIANCE = "variance"
    STDDEV = "stddev"
    PERCENTILE = "percentile"
    GROUPS = "groups"  # the choice of private keys


@dataclass(frozen=True, slots=True)
class Said:
    """Who states something of the policy, and when."""

    by: str | None = None
    on: date | None = None

    @property
    def words(self) -> str:
        """
        >>> Said("Ida", date(2026, 11, 27)).words, Said(on=date(2026, 11, 27)).words, Said().words
        ('said by Ida on 2026-11-27', 'said on 2026-11-27', '')
        """
        by = "" if self.by is None else f" by {self.by}"
        on = "" if self.on is None else f" on {self.on.isoformat()}"
        return f"said{by}{on}" if by or on else ""


@dataclass(frozen=True, slots=True)
class ColumnPolicy:
    """What is known publicly about one column.

    values: the public keys in the owner's order, each as the text PostgreSQL prints for it, None
    for NULL.
    grid: the granularity of results on this column; None: proxy.policy.grid says it by the type.
    partitions: fixed odd number of sample-and-aggregate partitions; None: the adopted rule.
    references: schema, table and column that this column refers to.
    per_unit: of the sum over all rows of a unit; chooses_per_unit: that bound is chosen privately.
    said: who states bounds and values, for reports alone.
    """

    name: str
    bounds: Bounds | MovingBounds | None = None
    values: tuple[str | None, ...] | None = None
    grid: Fraction | None = None
    partitions: int | None = None
    references: tuple[TableName, str] | None = None
    mechanism: Mechanism | None = None  # None: what the policy says for all columns
    per_unit: Bounds | None = None
    chooses_per_unit: bool = False
    said: Said = field(default_factory=Said, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class JoinKey:
    """How a table is cut before it is joined on a column that is no key of it. keep: at most so many rows of
    one value, by keyed hash (DropExcess); None: only rows that are alone with their value (DropNonUnique)."""

    keep: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCopy:
    """A table with at most so many rows of each unit, which the owner fills (docs/how-to/prepared-copies.md).

    Attributes:
        table: Its name.
        max_age: Seconds for which it answers instead of the protected table.
    """

    table: TableName
    max_age: int

    @property
    def view(self) -> TableName:
        """The view that says what is in the copy.

        >>> str(PreparedCopy(table=TableName("dp", "events"), max_age=60).view)
        'dp.events_source'
        """
        return TableName(self.table.schema, f"{self.table.name}_source")

    @property
    def refreshed(self) -> TableName:
        """What a refresh fills, until it takes the place of the copy."""
        return TableName(self.table.schema, f"{self.table.name}_new")


TIMES_OF_COPIES, SEEDS_OF_COPIES = (
    "prepared",
    "prepared_seeds",
)  # tables beside the copies of a schema
ROWS_AT_MOST = 1_000_000  # of a unit, where a policy says nothing
JOIN_ROWS_AT_MOST = 100


@dataclass(frozen=True, slots=True)
class ProtectedTable:
    """A table about people. A column that is not in `columns` is not there, but for the unit's.

    chooses_rows: max_rows_per_unit is the largest bound, of which a smaller one is chosen privately;
    join_rows_at_most: then so many rows of a unit are multiplied by a join; is_unbounded: nor is one chosen,
    and nothing is answered that needs one."""

    name: TableName
    unit: Unit
    columns: Mapping[str, ColumnPolicy]
    max_rows_per_unit: int | None = None
    max_groups_per_unit: int | None = None
    max_rows_per_group_per_unit: int | None = None
    join_keys: Mapping[str, JoinKey] = field(default_factory=dict)
    chooses_rows: bool = False
    join_rows_at_most: int = JOIN_ROWS_AT_MOST
    is_unbounded: bool = False
    min_units_per_group: int | None = None  # None: what the policy says for all tables
    prepared: PreparedCopy | None = None


@dataclass(frozen=True, slots=True)
class PublicTable:
    """Not about people: copied into the shadow as it is. columns: what analysts can see; None: all of them."""

    name: TableName
    join_keys: Mapping[str, JoinKey] = field(default_factory=dict)
    columns: tuple[str, ...] | None = None
    said: Said = field(
        default_factory=Said, repr=False, compare=False
    )  # who says so, for reports alone

    def has(self, column: str) -> bool:
        """Whether the column, if the database has it, is there for analysts."""
        return self.columns is None or column in self.columns


@dataclass(frozen=True, slots=True)
class Privacy:
    epsilon: Fraction  # per statement
    delta: Fraction  # per statement
    max_epsilon: Fraction  # most that SET dp.epsilon may ask for
    max_delta: Fraction  # most that SET dp.delta may ask for (the policy's delta)
    noise: Noise = Noise.LAPLACE
    median_noise: MedianNoise = MedianNoise.LAPLACE
    mechanism: Mechanism = Mechanism.AUTO
    weights: Mapping[Weighed, Fraction] = field(default_factory=dict)
    is_rounded: bool = False  # answers, where a session does not SET dp.round
    uses_published: bool = True  # for answers, where a session does not SET dp.published
    has_notices: bool = True  # with cost and errors, where a session does not SET dp.notice

    def weight(self, of: Weighed) -> Fraction:
        """Its share of epsilon and delta, beside the others of a statement."""
        return self.weights.get(of, Fraction(1))


class Period(Enum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    NONE = "none"  # lifetime


@dataclass(frozen=True, slots=True)
class Budget:
    limit: Loss
    per: Period = Period.NONE


@dataclass(frozen=True, slots=True)
class Budgets:
    total: Budget  # everybody together, lifetime
    default: Budget  # each analyst without a line of their own
    analysts: Mapping[str, Budget]
    groups: Mapping[str, Budget] = field(default_factory=dict)  # all members of one together
    tables: Mapping[TableName, Budget] = field(
        default_factory=dict
    )  # what is drawn of one, lifetime

    def of(self, analyst: str) -> Budget:
        return self.analysts.get(analyst, self.default)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What the owner takes responsibility for, and why. where: of the finding; None: wherever it is; covers:
    which subjects of the finding are accepted; None: the policy names none."""

    name: FindingName
    where: str | None
    reason: str
    covers: frozenset[str] | None = None
    signed: Said = field(default_factory=Said)  # who takes it, and when

    @property
    def said(self) -> str:
        """
        >>> Acceptance(FindingName.TOTAL_IS_LARGE, None, "agreed", signed=Said("DPO")).said
        'agreed (said by DPO)'
        """
        return f"{self.reason} ({self.signed.words})" if self.signed.words else self.reason


class Previews(Enum):
    """Of a query that would show a few rows of a protected table (SELECT * ... LIMIT n)."""

    REFUSE = "refuse"
    EMPTY = "empty"  # no rows, with their names and types


class StatementTexts(Enum):
    """What receipts keep of what an analyst ran."""

    HASHED = "hashed"  # a fingerprint
    ENCRYPTED = "encrypted"  # the text, under a key that is not in the ledger


# Seconds; each divides the day.
_PRESENT_SLOTS = (3600, 900, 300, 60)


@dataclass(frozen=True, slots=True)
class Reuse:
    """Answers are kept for slots of so many seconds, which begin `offset` seconds after midnight, UTC.
    is_lifted: `column = constant` is drawn as a group of that column.

    Attributes:
        step: Seconds to which the present is rounded down in questions, always; None: as `is_exact` says.
        is_exact: Times stand as they are written, the present is what it is.
        window_step: Seconds to which both ends of a constant window are rounded down, if they lie equally far
            beyond a step.
    """

    seconds: int
    offset: int = 0
    is_lifted: bool = True
    step: int | None = None
    is_exact: bool = False
    window_step: int = 1

    @property
    def present_slots(self) -> tuple[int, ...]:
        """Slots of which one is chosen for a statement about the present, the longest first.

        >>> Reuse(86_400).present_slots, Reuse(86_400, step=60).present_slots
        ((3600, 900, 300, 60), ())
        """
        return () if self.is_exact or self.step is not None else _PRESENT_SLOTS


class Accounting(Enum):
    """How charges add up against a budget."""

    BASIC = "basic"  # epsilons and deltas
    ZCDP = "zcdp"  # so, or as rho: whichever admits more, each with half of the budget's delta


@dataclass(frozen=True, slots=True)
class Policy:
    """One database. digest: the SHA-256 of the policy file's text, hexadecimal."""

    database: str
    source: str  # libpq connection string, environment already put in; never logged
    privacy: Privacy
    tables: Mapping[TableName, ProtectedTable | PublicTable]
    budgets: Budgets
    digest: str
    accepted: tuple[Acceptance, ...] = ()
    previews: Previews = Previews.REFUSE
    reuse: Reuse | None = None  # None: no answer is kept
    statements: StatementTexts = StatementTexts.HASHED
    accounting: Accounting = Accounting.BASIC
    publish: tuple[Publication, ...] = ()
    units_about: int | None = (
        None  # so many units, by public knowledge; for findings and expected errors
    )
    min_units_per_group: int = 1
    approve_above: Fraction | None = None  # what agents may spend on a statement without a person
    text: str = field(
        default="", compare=False
    )  # of the file, with the source as it is written there

    def __repr__(self) -> str:  # `source` and `text` may hold a password
        return f"Policy(database={self.database!r}, digest={self.digest[:12]})"

    def fewest_units(self, names: Iterable[TableName]) -> int:
        """So many units a group of these tables has to have: what the strictest of them asks for."""
        tables = (self.tables.get(name) for name in names)
        return max(
            (
                self.min_units_per_group
                if table.min_units_per_group is None
                else table.min_units_per_group
                for table in tables
                if isinstance(table, ProtectedTable)
            ),
            default=1,
        )

    def protected(self) -> tuple[ProtectedTable, ...]:
        return tuple(table for table in self.tables.values() if isinstance(table, ProtectedTable))
