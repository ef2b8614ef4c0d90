"""`dpproxy policy bounds`: charged before it reads, refused where the budget does not cover it; what it prints
is a piece of the policy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from psycopg.conninfo import make_conninfo

from tests.cli.commands import Done, dpproxy
from tests.live.served_database import made_database
from tests.servers_fixture import servers

_NAME = "proposed_bounds"
_UNITS = 3000
# A unit has 1 to 5 rows; amounts have a long tail, refunds are rare but there, days are of some years.
_SCRIPT = f"""\
CREATE TABLE public.person (id integer PRIMARY KEY, born date, score double precision);
INSERT INTO public.person
SELECT g, date '1950-01-01' + (g * 37) % 15000, CASE WHEN g % 50 = 0 THEN 'NaN' ELSE g % 100 / 100.0 END
FROM generate_series(1, {_UNITS}) g;
CREATE TABLE public.sale (id serial PRIMARY KEY, person integer REFERENCES public.person, kind text,
                          amount numeric(10,2), pieces integer, at timestamptz, note text);
INSERT INTO public.sale (person, kind, amount, pieces, at)
SELECT p, CASE WHEN r % 2 = 0 THEN 'a' ELSE 'b' END,
       CASE WHEN (p + r) % 4 = 0 THEN -1 ELSE 1 END * round(exp(((p * 7919 + r) % 1000) / 150.0)::numeric, 2),
       (p + r) % 12, timestamptz '2020-01-01 00:00+00' + (p % 1000) * interval '1 day'
FROM generate_series(1, {_UNITS}) p, generate_series(1, 5) r WHERE r <= 1 + p % 5;
"""
_POLICY = """\
dpproxy: 1
database: proposed
source: ${DSN}
privacy: {epsilon: 1, delta: 1e-6}
tables:
  public.person:
    unit: {person: id}
    max_rows_per_unit: 1
    columns: {born: {}, score: {}}
  public.sale:
    unit: {person: person}
    columns:
      kind: {values: [a, b]}
      amount: {}
      pieces: {}
      at: {}
      note: {}
budgets:
  total: {epsilon: 25, delta: 1e-3}
  default: {epsilon: 0, delta: 0}
accept: {TEMP_FILES_UNLIMITED: "a server for tests"}
"""
_RECEIPTS = (
    "SELECT analyst, epsilon::float8, jsonb_array_length(events) FROM ledger.receipt ORDER BY id"
)


class _Here:
    def __init__(self, folder: Path, source: str, ledger: str) -> None:
        self.policy, self.ledger = folder / "policy.yaml", ledger
        self.policy.write_text(_POLICY)
        self._folder, self._environment = folder, {"DSN": source}

    def run(self, *arguments: str | Path) -> Done:
        return dpproxy(*arguments, typed="a long password", environment=self._environment)

    def with_ledger(self, *arguments: str | Path) -> Done:
        return self.run(*arguments, "--state", self._folder / "state", "--ledger", self.ledger)

    def bounds(self, *options: str) -> Done:
        return self.with_ledger("policy", "bounds", self.policy, *options)

    def receipts(self) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.ledger) as connection:
            return connection.execute(_RECEIPTS.encode()).fetchall()


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Here]:
    pair = servers()
    source = made_database(pair.protected, _NAME, _SCRIPT)
    superuser = make_conninfo(pair.protected.dsn(), dbname=_NAME)
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute("GRANT EXECUTE ON FUNCTION pg_control_system() TO live_reader")
    with psycopg.connect(pair.ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE proposed_bounds_ledger")
        ledger = make_conninfo(pair.ledger_dsn, dbname="proposed_bounds_ledger")
        try:
            found = _Here(tmp_path_factory.mktemp("bounds"), source, ledger)
            adopted = found.with_ledger("ledger", "adopt", "--policy", found.policy, "--new")
            assert adopted.code == 0, adopted.err
            yield found
        finally:
            server.execute("DROP DATABASE proposed_bounds_ledger WITH (FORCE)")


def test_from_no_bounds_to_a_policy_that_fits(here: _Here, tmp_path: Path) -> None:
    checked = here.run("policy", "check", here.policy)
    assert "born, score of public.person; amount, pieces, at of public.sale" in checked.out
    assert f"`dpproxy policy bounds {here.policy}`" in checked.out

    done = here.bounds("--epsilon", "12")
    assert done.code == 0, done.err
    assert "It cost epsilon 12 of the shared budget" in done.out
    # low and high of five columns, rows and groups: a walk and a report each
    assert here.receipts()[-1] == ("(policy bounds)", 12.0, 24)
    found = yaml.safe_load(done.out)["tables"]
    person, sale = found["public.person"]["columns"], found["public.sale"]
    # A walk ends a step too late with a probability of a quarter each: 12 steps, a factor of 8, too late
    # once in ten million times, and the largest bound within 10/7 of where it ends is taken.
    assert 5 <= sale["max_rows_per_unit"] <= 5 * 12
    assert 2 <= sale["max_groups_per_unit"] <= sale["max_rows_per_unit"]
    low, high = sale["columns"]["amount"]["bounds"]
    assert -12 * 800 <= low <= -400 and 400 <= high <= 12 * 800
    low, high = sale["columns"]["pieces"]["bounds"]
    assert (
        -12 <= low <= 0 and 9 <= high <= 12 * 12
    )  # nothing is below 0: the walk that looks ends late likewise
    low, high = person["score"]["bounds"]
    assert -12 <= low <= 0 and high >= 0.7
    low, high = (str(end) for end in person["born"]["bounds"])
    assert "1790-01-01" <= low <= "1955-01-01" and "1985-01-01" <= high <= "2149-12-31"
    low, high = (str(end) for end in sale["columns"]["at"]["bounds"])
    assert "1969-12-01" <= low <= "1970-01-01" and "2020-01-01" <= high <= "2149-12-31"
    assert re.search(r"about \d+ \+-\d+ units have a value above", done.out)

    policy = yaml.safe_load(_POLICY)
    for table, proposal in found.items():
        for column, of_column in proposal.pop("columns").items():
            policy["tables"][table]["columns"][column].update(of_column)
        policy["tables"][table].update(proposal)
    pasted = tmp_path / "pasted.yaml"
    pasted.write_text(yaml.safe_dump(policy))
    checked = here.run("policy", "check", pasted)
    assert "public.sale" in checked.out and "policy bounds" not in checked.out, checked.err
    assert checked.code == 0, checked.out


def test_each_run_is_charged_and_shown(here: _Here) -> None:
    before = here.receipts()
    done = here.bounds("--table", "public.sale", "--column", "amount")
    assert done.code == 0, done.err
    assert "It cost epsilon 0.5" in done.out and "pieces" not in done.out
    assert here.bounds("--table", "public.sale", "--column", "amount").code == 0
    assert here.receipts()[len(before) :] == [("(policy bounds)", 0.5, 8)] * 2
    shown = here.with_ledger("ledger", "show").out
    spent = sum(epsilon for _, epsilon, _ in here.receipts())
    line = next(line for line in shown.splitlines() if "(policy bounds)" in line)
    assert f"{spent:g}" in line.split() and "25" in line.split()
    everybody = next(line for line in shown.splitlines() if "(everybody together)" in line)
    assert f"{spent:g}" in everybody.split()
    assert here.with_ledger("ledger", "verify").code == 0


def test_what_the_budget_does_not_cover_is_not_read(here: _Here) -> None:
    before = here.receipts()
    done = here.bounds("--epsilon", "25.5")  # of 25, whatever was spent before
    assert done.code == 1 and done.out == ""
    assert "the shared budget (total) does not cover epsilon 25.5" in done.err
    assert here.receipts() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--epsilon", "0"), "--epsilon is a number"),
        (("--epsilon", "x"), "--epsilon is a number"),
        (("--column", "amount"), "--column needs --table"),
        (("--table", "public.nothing"), "no protected table public.nothing"),
        (("--table", "public.sale", "--column", "note"), "no column note of numbers"),
        (("--table", "public.sale", "--column", "nothing"), "no column nothing of numbers"),
    ],
)
def test_what_cannot_be_proposed_is_not_charged(
    options: tuple[str, ...], said: str, here: _Here
) -> None:
    before = here.receipts()
    done = here.bounds(*options)
    assert done.code == 1 and said in done.err
    assert here.receipts() == before


def test_no_analyst_has_the_name_of_the_account(here: _Here) -> None:
    done = here.with_ledger("user", "add", "(policy bounds)", "--password-stdin")
    assert done.code == 1 and "does not begin with" in done.err
