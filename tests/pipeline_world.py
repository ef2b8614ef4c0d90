"""A fixed catalogue and policy for tests of the pipeline: every kind of unit, columns of every type.

All tables have the same data columns, so that every question can be asked of every unit:

    people   row, primary key id             trips    rows: 3, primary key (id, leg)
    events   row, no key                     visits   person uid int8, 5 rows
    orders   person uid int4, 6 rows, 2 groups, 2 rows per group
    notes    author uid text, 4 rows, 2 groups
    members  person uid int4, unique (and sometimes NULL)
    calls    person uid int4, 2 rows; i2 refers to orders.id
    lines    person through order_id -> orders.uid, 7 rows

and public ones: regions (no key), places (code, zone; key code), rates (k int8, the key; fee numeric(8,2)),
moods (e, the key).

e is an enumeration: its labels are keys by the policy of some tables, private ones in the others. How columns
are stored: tests/stored_types.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, ForeignKey, Table, TableName
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.compiling import compile_block
from proxy.engine.policy_statements import allowed_mechanisms
from proxy.engine.present_slots import constants
from proxy.engine.settings import read_settings
from proxy.kernel.checked_plan import CheckedPlan
from proxy.kernel.plan import PrivatePlan
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PlanningContext, PublicBounds, PublicValues
from proxy.planner.planning import ChosenBounds, planned
from proxy.planner.series import SeriesTerms
from proxy.policy.policy_model import (
    BlockLength,
    Bounds,
    BoundsKind,
    Budget,
    Budgets,
    ColumnPolicy,
    IdentifierUnit,
    JoinKey,
    Mechanism,
    MedianNoise,
    Noise,
    Policy,
    Privacy,
    ProtectedTable,
    PublicTable,
    RowUnit,
    TimeBlocks,
    UnitPath,
    Weighed,
)
from proxy.query.ir.binding import bind
from proxy.query.ir.exposed import Exposed
from proxy.query.ir.query import Query
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, UnionAll
from proxy.query.statement_reading import Reading, read_statement
from proxy.query.syntax.statements import Names, Statement, look
from tests.postgres_labels import POSTGRES_LABELS
from tests.stored_types import MOOD

SCHEMA = "w"
_SECONDS = 86_400


def _column(name: str, kind: SqlType, type_name: str = "", scale: int | None = None) -> Column:
    precision = 8 if scale is not None else None
    return Column(name, kind, type_name or kind.sql, True, precision, scale)


DATA = (
    _column("i2", SqlType.INT2),
    _column("i4", SqlType.INT4),
    _column("i8", SqlType.INT8),
    _column("n2", SqlType.NUMERIC, "numeric(8,2)", 2),
    _column("n", SqlType.NUMERIC),
    _column("f4", SqlType.FLOAT4),
    _column("f8", SqlType.FLOAT8),
    _column("t", SqlType.TEXT),
    _column("c", SqlType.BPCHAR, "character(2)"),
    _column("s", SqlType.VARCHAR, "character varying(20)"),
    _column("b", SqlType.BOOL),
    _column("d", SqlType.DATE),
    _column("ts", SqlType.TIMESTAMP),
    _column("tz", SqlType.TIMESTAMPTZ),
    _column("free", SqlType.INT4),
    _column("e", SqlType.ENUM, MOOD),
    _column("j", SqlType.JSONB),
    _column("ta", SqlType.TEXT_ARRAY),
    _column("ia", SqlType.INT4_ARRAY),
    _column("iv", SqlType.DURATION),
    _column("tod", SqlType.TIME_OF_DAY),
)
_ID = Column("id", SqlType.INT4, "integer", False)
_LEG = Column("leg", SqlType.TEXT, "text", False)


def _table(
    name: str,
    before: tuple[Column, ...],
    key: tuple[str, ...] = (),
    unique: tuple[tuple[str, ...], ...] = (),
    refers: tuple[ForeignKey, ...] = (),
) -> Table:
    return Table(
        TableName(SCHEMA, name),
        (*before, *DATA),
        key,
        unique,
        has_ctid=True,
        foreign_keys=refers,
    )


# Declared, and of hostile rows not true: no promise depends on it.
_OF_CALLS = ForeignKey(("i2",), TableName(SCHEMA, "orders"), ("id",))


_TABLES = (
    _table("people", (_ID,), ("id",)),
    _table("events", ()),
    _table("trips", (_ID, _LEG), ("id", "leg")),
    _table("visits", (_ID, _column("uid", SqlType.INT8)), ("id",)),
    _table("orders", (_ID, _column("uid", SqlType.INT4)), ("id",)),
    _table("notes", (_ID, _column("uid", SqlType.TEXT)), ("id",)),
    _table("members", (_ID, _column("uid", SqlType.INT4)), ("id",), (("uid",),)),
    _table("calls", (_ID, _column("uid", SqlType.INT4)), ("id",), refers=(_OF_CALLS,)),
    _table("lines", (_ID, _column("order_id", SqlType.INT4)), ("id",)),
    Table(TableName(SCHEMA, "regions"), (_column("t", SqlType.TEXT),)),
    Table(
        TableName(SCHEMA, "places"),
        (Column("code", SqlType.TEXT, "text", False), _column("zone", SqlType.TEXT)),
        ("code",),
    ),
    Table(
        TableName(SCHEMA, "rates"),
        (
            Column("k", SqlType.INT8, "bigint", False),
            Column("fee", SqlType.NUMERIC, "numeric(8,2)", True, 8, 2),
        ),
        ("k",),
    ),
    Table(TableName(SCHEMA, "moods"), (Column("e", SqlType.ENUM, MOOD, False),), ("e",)),
)
CATALOG = Catalog({table.name: table for table in _TABLES})


def _bounds(low: object, high: object, kind: BoundsKind = BoundsKind.NUMBER) -> Bounds:
    return Bounds(Fraction(str(low)), Fraction(str(high)), kind)


_DAY_LOW, _DAY_HIGH = 10_957, 18_262  # 2000-01-01, 2020-01-01
_COLUMNS = {
    column.name: column
    for column in (
        ColumnPolicy("i2", _bounds(-5, 10), values=("1", "2")),
        ColumnPolicy("i4", _bounds(0, 100)),
        ColumnPolicy("i8", _bounds(-1000, 5000), grid=Fraction(10)),
        ColumnPolicy("n2", _bounds(0, 175)),
        ColumnPolicy("n", _bounds("-2.5", "7.5")),
        ColumnPolicy("f4", _bounds(0, 1)),
        ColumnPolicy("f8", _bounds(-100, 100), grid=Fraction(1, 100)),
        ColumnPolicy("t", values=("x", "y", "z", None)),
        ColumnPolicy("c", values=("a", "bb")),
        ColumnPolicy("s"),
        ColumnPolicy("b", values=("true", "false")),
        ColumnPolicy("d", _bounds(_DAY_LOW, _DAY_HIGH, BoundsKind.DATE)),
        ColumnPolicy(
            "ts", _bounds(_DAY_LOW * _SECONDS, _DAY_HIGH * _SECONDS, BoundsKind.TIMESTAMP)
        ),
        ColumnPolicy(
            "tz", _bounds(_DAY_LOW * _SECONDS, _DAY_HIGH * _SECONDS, BoundsKind.TIMESTAMP)
        ),
        ColumnPolicy("free"),
        ColumnPolicy("e", values=("low", "high", None)),
        ColumnPolicy("j"),
        ColumnPolicy("ta"),
        ColumnPolicy("ia"),
        ColumnPolicy("iv"),
        ColumnPolicy("tod"),
    )
}
_PRIVATE_LABELS = {**_COLUMNS, "e": ColumnPolicy("e")}
_PERSON = IdentifierUnit("person", "uid")


def _name(name: str) -> TableName:
    return TableName(SCHEMA, name)


_PROTECTED = (
    ProtectedTable(_name("people"), RowUnit(), _COLUMNS),
    ProtectedTable(_name("events"), RowUnit(), _COLUMNS),
    ProtectedTable(_name("trips"), RowUnit(3), _PRIVATE_LABELS),
    ProtectedTable(_name("visits"), _PERSON, _PRIVATE_LABELS, max_rows_per_unit=5),
    ProtectedTable(
        _name("orders"),
        _PERSON,
        {**_COLUMNS, "id": ColumnPolicy("id", _bounds(0, 1000))},  # never NULL
        max_rows_per_unit=6,
        max_groups_per_unit=2,
        max_rows_per_group_per_unit=2,
    ),
    ProtectedTable(
        _name("notes"),
        IdentifierUnit("author", "uid"),
        _PRIVATE_LABELS,
        max_rows_per_unit=4,
        max_groups_per_unit=2,
    ),
    ProtectedTable(_name("members"), _PERSON, _COLUMNS, max_rows_per_unit=1),
    ProtectedTable(_name("calls"), _PERSON, _COLUMNS, max_rows_per_unit=2),
    ProtectedTable(
        _name("lines"),
        IdentifierUnit("person", "order_id", UnitPath(_name("orders"), "uid")),
        _PRIVATE_LABELS,
        max_rows_per_unit=7,
    ),
)
PROTECTED = tuple(table.name for table in _PROTECTED)


PUBLIC = (_name("regions"), _name("places"), _name("rates"), _name("moods"))
# What the public tables hold, as the database of the audit has it too.
PLACES = (("x", "north"), ("y", "south"), ("w", "south"))
RATES = (1, 7, 42, 2**53, 2**53 + 1)
# Two of them are beyond the bounds that were read, as in a table that has changed since.
FEES = ("3.50", "-9000", "99999.99", "NULL", "20")
MOODS = ("low", "x", "a ", "unlisted")
KNOWN_PUBLIC: PublicValues = {
    (_name("places"), "zone"): ("north", "south"),
    (_name("moods"), "e"): tuple(sorted(MOODS)),
}


KNOWN_HELD: PublicBounds = {
    (_name("rates"), "k"): Bounds(Fraction(1), Fraction(2**53 + 1)),
    (_name("rates"), "fee"): Bounds(Fraction(0), Fraction(50)),
}


def _policy(epsilon: str, delta: str, **chosen: object) -> Policy:
    tables: dict[TableName, ProtectedTable | PublicTable] = {t.name: t for t in _PROTECTED}
    tables.update({name: PublicTable(name) for name in PUBLIC})
    privacy = Privacy(Fraction(epsilon), Fraction(delta), Fraction(20), Fraction(delta))
    privacy = replace(privacy, mechanism=Mechanism.SMOOTH_MEDIAN)
    privacy = replace(privacy, **chosen)  # type: ignore[arg-type]
    limit = Budget(Loss(Fraction(1000), Fraction(1, 2)))
    return Policy("world", "host=nowhere", privacy, tables, Budgets(limit, limit, {}), "world")


# How the tables may be cut for joins on these columns, in the policies "joins...".
JOIN_KEYS: Mapping[str, Mapping[str, int | None]] = {
    "people": {"t": 3, "i2": 2, "i4": None, "e": 2},
    "events": {"i4": None, "i2": None},
    "trips": {"t": 2, "i4": None, "e": None},
    "visits": {"t": 2, "i2": 3, "i4": None, "e": 3},
    "orders": {"t": 2, "e": 2},
    "notes": {"t": 3, "i2": 2},
    "members": {"t": 2},
    "places": {"zone": 2},
}


def _with_join_keys(policy: Policy) -> Policy:
    def keys(name: TableName) -> Mapping[str, JoinKey]:
        return {column: JoinKey(keep) for column, keep in JOIN_KEYS.get(name.name, {}).items()}

    tables = {name: replace(table, join_keys=keys(name)) for name, table in policy.tables.items()}
    return replace(policy, tables=tables)


def _with_chosen_rows(policy: Policy) -> Policy:
    """Rows of units are bounded by choice, up to 10,000."""

    def chosen(table: ProtectedTable | PublicTable) -> ProtectedTable | PublicTable:
        if table.name.name not in ("orders", "visits", "notes"):
            return table
        assert isinstance(table, ProtectedTable)
        return replace(table, chooses_rows=True, max_rows_per_unit=10_000, join_rows_at_most=50)

    return replace(policy, tables={name: chosen(one) for name, one in policy.tables.items()})


POLICIES: Mapping[str, Policy] = {
    "world": _policy("8", "1e-3"),
    "tight": _policy("0.001", "1e-6"),  # too little for any median
    "pure": _policy("1", "0"),  # no delta: no median at all
    "best": _policy("8", "1e-3", mechanism=Mechanism.BEST),
    "chosen": _with_chosen_rows(_policy("8", "1e-3", mechanism=Mechanism.BEST)),
    "gaussian": _policy("8", "1e-3", noise=Noise.GAUSSIAN),
    "polyplace": _policy("8", "1e-3", median_noise=MedianNoise.POLYPLACE),
    "joins": _with_join_keys(_policy("8", "1e-3")),
    "joins best": _with_join_keys(_policy("8", "1e-3", mechanism=Mechanism.BEST)),
    "joins gaussian": _with_join_keys(_policy("8", "1e-3", noise=Noise.GAUSSIAN)),
    "joins best gaussian": _with_join_keys(
        _policy("8", "1e-3", mechanism=Mechanism.BEST, noise=Noise.GAUSSIAN)
    ),
    "clipped": _policy("8", "1e-3", mechanism=Mechanism.CLIPPED_MEAN),
    "ratio": _policy("8", "1e-3", mechanism=Mechanism.SUM_OVER_COUNT),
    "smallest": replace(_policy("8", "1e-3", mechanism=Mechanism.BEST), min_units_per_group=11),
    "smallest joins": replace(_with_join_keys(_policy("8", "1e-3")), min_units_per_group=11),
    "weighted": _policy(
        "8",
        "1e-3",
        mechanism=Mechanism.BEST,
        weights={Weighed.COUNT: Fraction(1), Weighed.SUM: Fraction(2), Weighed.AVG: Fraction(4)},
    ),
}


def _in_blocks(policy: Policy) -> Policy:
    """Visits and calls of a person are of each month by itself, orders of each quarter; others as ever."""

    def timed(name: str, per: BlockLength, time: str) -> ProtectedTable:
        table = policy.tables[_name(name)]
        assert isinstance(table, ProtectedTable)
        return replace(
            table, unit=replace(_PERSON, blocks=TimeBlocks(per=per, time=time)), columns=_COLUMNS
        )

    tables = (
        timed("visits", BlockLength.MONTH, "ts"),
        timed("calls", BlockLength.MONTH, "d"),
        timed("orders", BlockLength.QUARTER, "tz"),
    )
    return replace(policy, tables={**policy.tables, **{one.name: one for one in tables}})


IN_BLOCKS = _in_blocks(POLICIES["best"])


def _exposed(table: ProtectedTable) -> Exposed:
    held = table.unit.column if isinstance(table.unit, IdentifierUnit) else None
    leads = isinstance(table.unit, IdentifierUnit) and not table.unit.is_in_column
    described = CATALOG.tables[table.name]
    shown = {c.name: c for c in described.columns if c.name in table.columns or c.name == held}
    return Exposed(table.name, shown, True, None if leads else held, key=described.key_among(shown))


EXPOSED = {table.name: _exposed(table) for table in _PROTECTED} | {
    name: Exposed(name, {c.name: c for c in table.columns}, protected=False, key=table.primary_key)
    for name, table in ((name, CATALOG.tables[name]) for name in PUBLIC)
}
# A person is several units there, so that no column holds the unit.
EXPOSED_IN_BLOCKS = EXPOSED | {table.name: _exposed(table) for table in IN_BLOCKS.protected()}
NAMES = Names({name.name for name in PROTECTED}, {name.name for name in PUBLIC})
_BY_TEXT = {
    text: name for name in (*PROTECTED, *PUBLIC) for text in (name.name, f"{SCHEMA}.{name.name}")
}


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What the layers make of one statement, down to the backend SQL."""

    statement: Statement
    reading: Reading
    checked: CheckedPlan
    queries: tuple[tuple[BackendQuery, ...], ...]

    @property
    def plan(self) -> PrivatePlan:
        return self.checked.private


def resolve(written: str) -> TableName | None:
    """What to_regclass does with a search_path of `w`: unquoted names are folded."""
    parts = [p[1:-1] if p[:1] == '"' else p.lower() for p in written.replace(" ", "").split(".")]
    return _BY_TEXT.get(".".join(parts))


def read(
    text: str,
    types: tuple[SqlType, ...] = (),
    with_errors: bool = False,
    exposed: Mapping[TableName, Exposed] = EXPOSED,
) -> tuple[Statement, Reading] | None:
    """None: relayed as it is.

    Refuses  as the query floor does
    """
    statement = look(text, NAMES)
    if not isinstance(statement, Statement):
        return None
    resolved = tuple(map(resolve, statement.relations))
    reading = read_statement(statement, resolved, exposed, types, with_errors)
    if reading is not None and reading.preview is not None:
        raise reading.preview.refusal  # as in a session that refuses previews
    return None if reading is None else (statement, reading)


def walk(
    text: str,
    policy: Policy = POLICIES["world"],
    types: tuple[SqlType, ...] = (),
    arguments: tuple[str | None, ...] = (),
    settings: Mapping[str, str] | None = None,
    chosen: Callable[[PrivatePlan], ChosenBounds] | None = None,
    series: SeriesTerms | None = None,
) -> Pipeline | None:
    """The whole way of a statement. None: relayed as it is.

    Given    chosen: bounds for a plan that has to choose some; series: of a statement that is published so
    """
    is_in_blocks = policy.tables[_name("visits")] is IN_BLOCKS.tables[_name("visits")]
    found = read(text, types, exposed=EXPOSED_IN_BLOCKS if is_in_blocks else EXPOSED)
    if found is None:
        return None
    statement, reading = found
    given = read_settings(settings or {}, policy.privacy, allowed_mechanisms(policy))
    values = constants(arguments, types)
    bound = Query(
        tuple(bind(block, values) for block in reading.query.blocks), reading.query.scalars
    )
    known = PlanningContext(
        policy,
        CATALOG,
        KNOWN_PUBLIC,
        bounds=KNOWN_HELD,
        mechanism=given.mechanism,
        evaluating=POSTGRES_LABELS,
        series=series,
    )
    planned_query = planned(bound, known, given.loss)
    checked = planned_query.checked
    if chosen is not None:
        checked = planned_query.with_bounds(chosen(checked.private))
    return Pipeline(statement, reading, checked, tuple(map(compile_block, checked.blocks)))


def moved(relation: Relation, schema: str | Mapping[str, str]) -> Relation:
    """The relation on the tables of another schema; or of another for each table."""
    match relation:
        case Scan():
            name = relation.table.name
            place = schema if isinstance(schema, str) else schema[name]
            return replace(relation, table=TableName(place, name))
        case Join():
            left, right = moved(relation.left, schema), moved(relation.right, schema)
            return replace(relation, left=left, right=right)
        case Subquery() | GroupByUnit():
            return replace(relation, source=moved(relation.source, schema))
        case UnionAll():
            parts = tuple(
                replace(part, source=moved(part.source, schema)) for part in relation.parts
            )
            return replace(relation, parts=parts)
        case Truncate():
            source = moved(relation.source, schema)
            assert isinstance(source, Scan | Subquery | UnionAll | Truncate)
            return replace(relation, source=source)
        case _:
            assert_never(relation)
