"""Tumult's table of sensitivities, row by row: the formula, and what is planned from a policy and a question.

Source: Tumult Analytics, topic guide "Understanding sensitivity" (tables with AddMaxRows: flat maps, public
joins, private joins; tables with AddRowsWithID: MaxRowsPerID, MaxGroupsPerID and MaxRowsPerGroupPerID), with
its worked examples 3x, 2x, 8, 4, 6; docs/design/mechanisms.md 3.2 and 3.3. In their page on truncation
strategies M_left stands beside T_left S_right; what changes there is the right side, so it is M_right
(PROOFS.md, "Joins by truncation"). In the examples both are 1.

A flat map is a UNION ALL of a table with itself; max_rows of AddMaxRows is `unit: {rows: M}`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.cli.explain_command import NoData, NoLedger, resolved
from proxy.drawing.drawer import Drawer
from proxy.engine.query_pipeline import Engine
from proxy.kernel.plan import BlockPlan, GaussianNoise, LaplaceNoise, NoisyStatistic
from proxy.mechanisms import zcdp
from proxy.planner.facts import PublicContents
from proxy.policy.check import check, fitted
from proxy.policy_file.policy_yaml import read_policy
from proxy.query.syntax.statements import Statement
from tests.kernel.examples import l1
from tests.seeded_bits import SeededBits

_POLICY = """
dpproxy: 1
database: s
source: host=nowhere
privacy: {{epsilon: 1, delta: 1e-6, noise: {noise}}}
tables:
  s.l: {left}
  s.r: {right}
  s.p: {public}
budgets: {{total: {{epsilon: 100, delta: 1e-3}}, default: {{epsilon: 10, delta: 1e-4}}}}
"""
_COLUMNS = "columns: {k: {}, g: {values: [1, 2, 3, 4, 5, 6, 7, 8]}, x: {bounds: [-3, 7]}}"


def _table(name: str) -> Table:
    columns = (
        *(Column(c, SqlType.INT4, "integer", False) for c in ("id", "u", "k", "g")),
        Column("x", SqlType.INT4, "integer", True),
    )
    return Table(TableName("s", name), columns, ("id",))


_CATALOG = Catalog({table.name: table for table in map(_table, "lrp")})


def _rows(m: int, keep: int | str | None = None) -> str:
    keys = "" if keep is None else f"join_keys: {{k: {{keep: {keep}}}}}, "
    return f"{{unit: {{rows: {m}}}, {keys}{_COLUMNS}}}"


def _units(rows: int, groups: int | None = None, per_group: int | None = None) -> str:
    bounds = f"max_rows_per_unit: {rows}"
    bounds += "" if groups is None else f", max_groups_per_unit: {groups}"
    bounds += "" if per_group is None else f", max_rows_per_group_per_unit: {per_group}"
    return f"{{unit: {{person: u}}, {bounds}, {_COLUMNS}}}"


_JOIN = "SELECT count(*) FROM s.l JOIN s.r ON l.k = r.k"
_LARGEST = 7  # of a row in a sum of x


@dataclass(frozen=True)
class Line:
    """l1: of a count or sum over all groups together; l2_squared: of Gaussian noise for it."""

    name: str
    l1: int
    l2_squared: int
    question: str
    left: str
    right: str = _rows(1)
    public: str = "public"


def _flat_map(n: int, m: int) -> Line:
    parts = " UNION ALL ".join(["SELECT x FROM s.l"] * m)
    question = f"SELECT count(*) FROM ({parts}) q"
    return Line(f"flat map {n} * {m}", n * m, (n * m) ** 2, question, _rows(n))


def _public_join(n: int, m: int) -> Line:
    return Line(
        f"public join {n} * {m}",
        n * m,
        (n * m) ** 2,
        "SELECT count(*) FROM s.l JOIN s.p ON l.k = p.k",
        _rows(n),
        public=f"{{unit: public, join_keys: {{k: {{keep: {m}}}}}}}",
    )


def _private_join(
    left: int | str,
    right: int | str,
    expected: int,
    m: tuple[int, int] = (1, 1),
    sums: bool = False,
) -> Line:
    """left, right: max_rows of DropExcess, or `unique` for DropNonUnique."""
    (t_l, s_l), (t_r, s_r) = ((1, 1) if t == "unique" else (int(t), 2) for t in (left, right))
    assert t_l * s_r * m[1] + t_r * s_l * m[0] == expected
    name = f"private join, left {left} of {m[0]}, right {right} of {m[1]}"
    question = _JOIN.replace("count(*)", "sum(l.x)") if sums else _JOIN
    moves = expected * (_LARGEST if sums else 1)
    return Line(name, moves, moves**2, question, _rows(m[0], left), _rows(m[1], right))


_COUNT, _SUM = "SELECT count(*) FROM s.l", "SELECT sum(x) FROM s.l"
_BY_GROUP, _SUM_BY_GROUP = f"SELECT g, {_COUNT[7:]} GROUP BY g", f"SELECT g, {_SUM[7:]} GROUP BY g"
TABLE = (
    Line("AddOneRow", 1, 1, _COUNT, _rows(1)),
    Line("AddMaxRows(5)", 5, 25, _COUNT, _rows(5)),
    Line("AddMaxRows(5), sum", 5 * _LARGEST, (5 * _LARGEST) ** 2, _SUM, _rows(5)),
    _flat_map(1, 3),  # their example: 3x
    _flat_map(2, 3),
    _public_join(1, 2),  # their example: 2x
    _public_join(3, 2),
    _private_join(2, 2, 8),  # their examples: 8, 4, 6
    _private_join("unique", 2, 4),
    _private_join(1, 2, 6),
    _private_join("unique", "unique", 2),
    _private_join(3, "unique", 5),
    _private_join(2, 3, 2 * 2 * 7 + 3 * 2 * 5, (5, 7)),
    _private_join("unique", 4, 1 * 2 * 7 + 4 * 1 * 5, (5, 7)),
    _private_join(2, 2, 8, sums=True),
    Line("MaxRowsPerID(4)", 4, 16, _COUNT, _units(4)),
    Line("MaxRowsPerID(4), sum", 4 * _LARGEST, (4 * _LARGEST) ** 2, _SUM, _units(4)),
    Line("MaxRowsPerID(4), by group", 4, 16, _BY_GROUP, _units(4)),
    Line("MaxGroupsPerID(3) x MaxRowsPerGroupPerID(2)", 6, 12, _BY_GROUP, _units(20, 3, 2)),
    Line(
        "MaxGroupsPerID(3) x MaxRowsPerGroupPerID(2), sum",
        *(6 * _LARGEST, 12 * _LARGEST**2, _SUM_BY_GROUP, _units(20, 3, 2)),
    ),
    Line("MaxGroupsPerID(5) x MaxRowsPerGroupPerID(4)", 20, 80, _BY_GROUP, _units(20, 5, 4)),
    # Beyond theirs, where the bounds of groups let more rows through than may count.
    Line("the rows of a unit are fewer", 10, 2 * 4**2 + 2**2, _BY_GROUP, _units(10, 5, 4)),
    Line(
        "the rows of a unit are fewer, sum",
        *(10 * _LARGEST, 36 * _LARGEST**2, _SUM_BY_GROUP, _units(10, 5, 4)),
    ),
    Line("the rows are fewer than of one group", 3, 9, _BY_GROUP, _units(3, 2, 3)),
)


def _planned(line: Line, noise: str) -> BlockPlan:
    text = _POLICY.format(noise=noise, left=line.left, right=line.right, public=line.public)
    policy = read_policy(text, "table.yaml", {})
    assert check(policy, _CATALOG) == []
    policy = fitted(policy, _CATALOG)
    oids = dict(enumerate(sorted(policy.tables), start=1))
    public = PublicContents()
    engine = Engine(Drawer(policy, _CATALOG, NoData(), SeededBits(1)), oids, NoLedger(), public)
    found = engine.statements.look(line.question)
    assert isinstance(found, Statement)
    question = engine.statements.read(found, resolved(found, oids), ())
    assert question is not None
    return engine.planned(question, {}).blocks[0]


def _release(block: BlockPlan) -> NoisyStatistic:
    (release,) = block.releases
    assert isinstance(release, NoisyStatistic)
    return release


@pytest.mark.parametrize("line", TABLE, ids=lambda line: line.name)
def test_laplace_noise_is_for_the_l1_sensitivity(line: Line) -> None:
    block = _planned(line, "laplace")
    release = _release(block)
    assert l1(block) == line.l1
    assert isinstance(release.noise, LaplaceNoise)
    assert release.noise.scale * release.loss.epsilon == line.l1


@pytest.mark.parametrize("line", TABLE, ids=lambda line: line.name)
def test_gaussian_noise_is_for_the_l2_sensitivity(line: Line) -> None:
    release = _release(_planned(line, "gaussian"))
    assert isinstance(release.noise, GaussianNoise)
    rho = zcdp.rho_of_loss(Fraction(1), Fraction(1, 10**6))
    assert release.noise.sigma2 * 2 * rho == line.l2_squared
