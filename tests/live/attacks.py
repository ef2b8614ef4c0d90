"""The hostile corpus ../shared/attacks: statements, their verdicts, and where this product differs and why."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "shared" / "attacks"
PRESENT = (FOLDER / "attacks.jsonl").is_file()
REASON = "the corpus ../shared/attacks is not here"

REJECT, ANSWER, METADATA = "reject", "answer_dp", "metadata_only"
_SERVERS_OWN = ("drop database", "create database", "\\", "create role", "grant", "revoke")


@dataclass(frozen=True, slots=True)
class Attack:
    """verdicts: the expected one, and those that its note says are fine too."""

    id: str
    sql: str
    verdicts: frozenset[str]


def corpus() -> list[Attack]:
    lines = (FOLDER / "attacks.jsonl").read_text(encoding="utf-8").splitlines()
    found = []
    for line in lines:
        attack = json.loads(line)
        others = re.findall(r"ALT:(\w+)", attack["note"])
        found.append(Attack(attack["id"], attack["sql"], frozenset({attack["expect"], *others})))
    return found


def script() -> str:
    """What makes the corpus' tables, without what is psql's and the server's."""
    lines = (FOLDER / "schema.sql").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith(_SERVERS_OWN))


# All columns are exposed, the one with the secret too: what is refused is refused for what it asks.
TABLES = """\
tables:
  public.adult:
    unit: {person: user_id}
    max_rows_per_unit: 1
    columns:
      age:       {bounds: [0, 120]}
      sex:       {values: [M, F, null]}
      education: {values: [HS, BA, MS, PhD]}
      hours:     {bounds: [0, 100], grid: 1}
      income:    {bounds: [0, 200000], grid: 100}
      born:      {bounds: [1940-01-01, 2010-01-01]}
      zip:       {}
      notes:     {}
  public.visits:
    unit: {person: user_id}
    max_rows_per_unit: 10
    columns:
      ts:     {bounds: [2024-01-01, 2025-01-01]}
      amount: {bounds: [0, 100], grid: 0.1}
      store:  {values: [store0, store1, store2]}
  public.states: public
"""

# "reject" means that nothing about a protected row may come back (docs/design/sql.md 6). Of the 212, these come
# back with noise, and charged: each is of a kind that the product is to answer, and what is hostile in the
# statement is gone in the form in which it runs. The test proves it on data with and without the person of the
# secret.
_TOTAL = "runs in numeric on clamped columns (docs/design/sql.md 2), where it cannot raise"
_SCALED = "the bounds follow the expression, and the noise the bounds"
_AFTER = "works on the noisy number, after it has been paid for"
_CLAMPED = (
    "the column is brought within its bounds first, and of a value within them nothing raises"
)
_SELECTED = "a key that is not public appears for many units only (partition selection)"
NOISY = {
    "ROW-073": "the median comes from the exponential mechanism on the policy's grid, not from a row",
    "ROW-079": "the maximum is a noisy one on the policy's grid, not a row's",
    "ROW-082": "each is true or false by a noisy number of rows, whose noise is far above one person's row",
    "ROW-091": "a correlation is made of noisy sums, each bounded per unit: no stored value is in it",
    **dict.fromkeys(["ERR-001", "ERR-025", "ERR-058", "ERR-061"], _CLAMPED),
    "ERR-007": _TOTAL,
    "ERR-013": _TOTAL,
    "ERR-079": f"{_AFTER}: a noisy 0 makes it NULL, whatever the exact number is",
    "PAR-058": "a column list behind a table's alias renames its columns here as in PostgreSQL",
    "PAR-094": "OPERATOR(pg_catalog.>) is the operator itself, and is read as one",
    "PAR-112": "BETWEEN SYMMETRIC is written out as both orders of its ends",
    "SEN-049": "'NaN' is a number that no value of the clamped column is",
    "PAR-079": "1_000 is a number since PostgreSQL 16, and the shadow, which is newer, reads it first",
    "PAR-001": "each statement of a string is its own: the count is answered, the rows are refused",
    "SEN-004": "joins on the privacy unit are per-unit work: the product of rows per unit counts",
    "SEN-019": "UNION ALL of one table with itself has twice the rows of each unit, and twice the noise",
    **dict.fromkeys(["SEN-022", "SEN-025", "SEN-028"], _SCALED),
    "SEN-034": _SCALED,
    "SEN-040": _SCALED,
    "SEN-046": "at most one value of each unit counts, noisy like any other count",
    "SEN-055": _SCALED,
    **dict.fromkeys(["SEN-064", "SEN-070"], _SELECTED),
    **dict.fromkeys(
        ["SEN-073", "SEN-076"], "the groups of ROLLUP over public values are public, too"
    ),
    "SEN-082": _AFTER,
    "SEN-094": _AFTER,
    "SEN-100": "the inner aggregate is a noisy constant to the outer question, and both are paid for",
    "SEN-118": "the present and a constant are compared before any row is read",
    **dict.fromkeys(
        ["TIM-007", "SEN-007"], "the series multiplies the noisy count on the shadow, and no row"
    ),
    "CMP-040": _AFTER,
    "CMP-043": _AFTER,
}
# They have now() or a constant that PostgreSQL reads: the session evaluates it before they are planned.
OF_THE_SESSION = {"ERR-058", "SEN-049", "SEN-118"}
# They divide by a noisy number: where it is 0 they are NULL, with a NOTICE.
MAY_BE_NULL = {"ERR-079", "SEN-061"}
# "reject" as well, which an answer holds to "where the statement touches only the shadow, an answer that cannot
# contain protected data" (docs/design/sql.md 6): free of charge, and nothing of it reaches the protected
# database.
_SETTINGS = "a setting of the analyst's own session or role on the shadow"
_CATALOGUE = "the catalogue and statistics of the shadow, which has no data"
RELAYED = {
    **dict.fromkeys(["TIM-025", "TIM-028", "TIM-031", "EFF-022", "EFF-028"], _SETTINGS),
    **dict.fromkeys(["EFF-031", "EFF-034", "EFF-040", "EFF-043", "EFF-055"], _SETTINGS),
    "EFF-049": "locks of the analyst's own session on the shadow",
    "EFF-052": "nobody notifies on the shadow",
    "EFF-058": "the shadow's own transaction number",
    "EFF-073": "a statement kept on the shadow: EXECUTE is looked into, and refused",
    "EFF-082": "names no table",
    "PAR-031": "names no table",
    "PAR-034": "names no table",
    "SEN-085": "the policy's list of keys, not the data's",
    "CMP-031": "LIMIT 0 reads nothing",
    **dict.fromkeys(["EFF-115", "EFF-118", "EFF-121"], _CATALOGUE),
    **dict.fromkeys(["MET-004", "MET-010", "MET-028", "MET-037", "MET-040"], _CATALOGUE),
}  # fmt: skip
# "answer_dp", answered free of charge because nothing is read.
FREE = {"CMP-028": "WHERE false is a probe for names and types (docs/design/pipeline.md 3.2)"}
# What must be given to be asked at all; the simple protocol has no parameters.
PARAMETERS = {"CMP-019": ("4242",)}
# Before these stands the guard of the shadow's tables alone.
GUARDED = ("EFF-100",)
# Of the relayed ones that keep a statement: what reads through them, refused.
AFTERWARDS = {"EFF-073": "execute p"}
