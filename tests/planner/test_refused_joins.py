"""Joins whose sensitivity nothing bounds: a protected row meets any number of others, or one key many rows."""

from __future__ import annotations

import pytest

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.cli.explain_command import NoData, NoLedger, resolved
from proxy.drawing.drawer import Drawer
from proxy.engine.query_pipeline import Engine
from proxy.kernel.plan import BlockPlan
from proxy.policy.check import check, fitted
from proxy.policy_file.policy_yaml import read_policy
from proxy.query.syntax.statements import Statement
from tests.kernel.examples import l1
from tests.seeded_bits import SeededBits
from tests.unchecked_blocks import compile_block

_POLICY = """
dpproxy: 1
database: s
source: host=nowhere
privacy: {{epsilon: 1, delta: 1e-6, noise: laplace}}
tables:
  s.a: {a}
  s.b: {b}
  s.p: {p}
budgets: {{total: {{epsilon: 100, delta: 1e-3}}, default: {{epsilon: 10, delta: 1e-4}}}}
"""
_COLUMNS = "columns: {id: {}, k: {}, g: {values: [1, 2]}, t: {}}"
_ROW = f"{{unit: {{rows: 1}}, {_COLUMNS}}}"
_KEYED = f"{{unit: {{rows: 1}}, join_keys: {{k: {{keep: 2}}}}, {_COLUMNS}}}"
_CUT = "or united already, so they cannot be truncated for a join"
_BPCHAR, _VARCHAR, _TEXT = SqlType.BPCHAR, SqlType.VARCHAR, SqlType.TEXT
_WRITTEN = {
    _BPCHAR: "character(8)"
}  # without a length it can be long, and joins of it cost too much


def _table(
    name: str, k: SqlType = SqlType.INT4, key: str | None = "id", unique: tuple[str, ...] = ()
) -> Table:
    kinds = {"id": SqlType.INT4, "u": k, "g": SqlType.INT4, "k": k, "t": SqlType.TEXT}
    columns = tuple(
        Column(c, kind, _WRITTEN.get(kind, kind.sql), False) for c, kind in kinds.items()
    )
    return Table(
        TableName("s", name), columns, () if key is None else (key,), tuple((c,) for c in unique)
    )


def _planned(
    question: str,
    tables: tuple[Table, ...],
    a: str = _ROW,
    b: str = _KEYED,
    p: str = "public",
    checked: bool = True,
) -> BlockPlan:
    catalog = Catalog({table.name: table for table in tables})
    policy = read_policy(_POLICY.format(a=a, b=b, p=p), "joins.yaml", {})
    if checked:
        assert check(policy, catalog) == []
        policy = fitted(policy, catalog)
    oids = dict(enumerate(sorted(policy.tables), start=1))
    engine = Engine(Drawer(policy, catalog, NoData(), SeededBits(1)), oids, NoLedger())
    found = engine.statements.look(question)
    assert isinstance(found, Statement)
    read = engine.statements.read(found, resolved(found, oids), ())
    assert read is not None
    return engine.planned(read, {}).blocks[0]


_THREE = (_table("a"), _table("b"), _table("p"))


@pytest.mark.parametrize(
    "join",
    [
        "s.a JOIN s.p ON a.k = p.id JOIN s.b ON p.id = b.k",
        "s.a JOIN s.p ON a.k = p.id JOIN s.b ON p.id = b.id",
        "s.b JOIN (s.a JOIN s.p ON a.k = p.id) ON p.id = b.k",
        "s.a JOIN (SELECT id FROM s.p) p ON a.k = p.id JOIN s.b ON p.id = b.k",
    ],
)
def test_a_unique_row_of_a_public_table_may_have_met_any_number_of_rows(join: str) -> None:
    with pytest.raises(Refusal):
        _planned(f"SELECT count(*) FROM {join}", _THREE)


@pytest.mark.parametrize("keep", ["unique", "5"])
def test_a_join_key_of_a_public_table_bounds_its_rows_alone(keep: str) -> None:
    public = f"{{unit: public, join_keys: {{k: {{keep: {keep}}}}}}}"
    with pytest.raises(Refusal, match=_CUT):
        _planned(
            "SELECT count(*) FROM s.a JOIN s.p ON a.k = p.id JOIN s.b ON p.k = b.k",
            _THREE,
            p=public,
        )


def test_of_several_equalities_one_of_the_rows_themselves_is_taken() -> None:
    question = (
        "SELECT count(*) FROM s.a JOIN s.p ON a.k = p.id JOIN s.b ON p.id = b.id AND a.k = b.k"
    )
    assert (
        l1(_planned(question, _THREE, a=_KEYED)) == 8
    )  # 2 * 2 + 2 * 2, though p.id and b.id are unique both


def test_rows_without_a_name_that_a_public_table_has_repeated_are_not_alone_with_a_unique_key() -> (
    None
):
    with pytest.raises(Refusal, match=_CUT):
        _planned(
            "SELECT count(*) FROM s.a JOIN s.p ON a.g = p.k JOIN s.b ON a.id = b.id",
            (_table("a", key=None, unique=("id",)), _table("b"), _table("p")),
            b=f"{{unit: {{rows: 100}}, {_COLUMNS}}}",
            p="{unit: public, join_keys: {k: {keep: 50}}}",
        )


@pytest.mark.parametrize("keep", ["2", "unique"])
def test_rows_that_nothing_names_are_kept_by_no_order(keep: str) -> None:
    """Which two of a value stay would be chance; that a value is there once is not. The policy's check says so
    already; the planner does not rely on it."""
    keyed = _KEYED.replace("keep: 2", f"keep: {keep}")
    question = "SELECT count(*) FROM s.a JOIN s.b ON a.k = b.k"
    tables = (_table("a", key=None), _table("b"), _table("p"))
    if keep == "unique":
        assert _planned(question, tables, a=keyed).releases
        return
    for join in (
        question,
        question.replace("b.k", "b.id"),
    ):  # also beside a side that needs no order
        with pytest.raises(Refusal, match=_CUT):
            _planned(join, tables, a=keyed, checked=False)


def test_a_truncated_carries_what_may_be_run_of_and_a_name_that_is_free() -> None:
    source = "(SELECT id, k, g AS dp_place, t AS dp_place_ FROM s.a) a JOIN s.b ON a.k = b.k"
    block = _planned(f"SELECT count(*) FROM {source}", _THREE, a=_KEYED)
    (query,) = compile_block(block)
    assert '"dp_place__"' in query.sql
    (query,) = compile_block(
        _planned("SELECT count(*) FROM s.a JOIN s.b ON a.k = b.k", _THREE, a=_KEYED)
    )
    assert '"k"' in query.sql and '"u"' not in query.sql  # which the policy does not list


_BLANKS = ((_BPCHAR, _VARCHAR), (_VARCHAR, _BPCHAR))
_PERSONS = f"{{unit: {{person: u}}, max_rows_per_unit: 3, {_COLUMNS}}}"


@pytest.mark.parametrize("x, y", _BLANKS)
def test_texts_that_differ_by_blanks_alone_are_no_common_key(x: SqlType, y: SqlType) -> None:
    with pytest.raises(Refusal):
        tables = _table("a", x), _table("b", y), _table("p")
        _planned("SELECT count(*) FROM s.a JOIN s.b ON a.k = b.k", tables, a=_KEYED)


@pytest.mark.parametrize("x, y", _BLANKS)
@pytest.mark.parametrize("p", ["public", "{unit: public, join_keys: {k: {keep: 2}}}"])
def test_nor_the_key_of_a_public_table(x: SqlType, y: SqlType, p: str) -> None:
    key = "k" if p == "public" else "id"
    with pytest.raises(Refusal, match="a public table can be joined"):
        tables = _table("a", x), _table("b"), _table("p", y, key)
        _planned("SELECT count(*) FROM s.a JOIN s.p ON a.k = p.k", tables, p=p)


@pytest.mark.parametrize("x, y", _BLANKS)
def test_nor_the_same_units(x: SqlType, y: SqlType) -> None:
    with pytest.raises(Refusal, match="must be on the privacy unit"):
        tables = _table("a", x), _table("b", y), _table("p")
        _planned("SELECT count(*) FROM s.a JOIN s.b ON a.u = b.u", tables, a=_PERSONS, b=_PERSONS)


@pytest.mark.parametrize("x, y", _BLANKS)
def test_nor_a_reference_by_which_a_unit_is_found(x: SqlType, y: SqlType) -> None:
    tables = _table("a", x, "k"), _table("b", y), _table("p")
    through = f"{{unit: {{person: k -> s.a.u}}, max_rows_per_unit: 3, {_COLUMNS}}}"
    text = _POLICY.format(a=_PERSONS, b=through, p="public")
    policy = read_policy(text, "joins.yaml", {})
    problems = check(policy, Catalog({table.name: table for table in tables}))
    assert [problem.message for problem in problems] == [
        f"{_WRITTEN.get(y, y.sql)} cannot refer to {_WRITTEN.get(x, x.sql)}, the type of the primary key of"
        " 's.a'"
    ]
    with pytest.raises(Refusal, match="must be on the privacy unit"):
        _planned(
            "SELECT count(*) FROM s.b JOIN s.a ON b.k = a.k",
            tables,
            a=_PERSONS,
            b=through,
            checked=False,
        )


@pytest.mark.parametrize("x, y", [(_BPCHAR, _TEXT), (_TEXT, _VARCHAR), (_BPCHAR, _BPCHAR)])
def test_texts_that_are_compared_as_they_are_can_be_joined(x: SqlType, y: SqlType) -> None:
    tables = _table("a", x), _table("b", y), _table("p", y, "k")
    for other in "bp":
        _planned(f"SELECT count(*) FROM s.a JOIN s.{other} ON a.k = {other}.k", tables, a=_KEYED)


@pytest.mark.parametrize(
    "computed", ["CASE WHEN g = 1 THEN k ELSE t END", "coalesce(k, t)", "nullif(k, t)"]
)
def test_what_is_computed_of_several_kinds_of_text_meets_keys_as_text(computed: str) -> None:
    tables = _table("a", _BPCHAR), _table("b"), _table("p", _VARCHAR, "k")
    block = _planned(
        f"SELECT count(*) FROM (SELECT {computed} AS e FROM s.a) q JOIN s.p ON q.e = p.k", tables
    )
    (query,) = compile_block(block)
    assert '::text AS "e"' in query.sql
