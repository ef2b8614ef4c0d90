"""Tutorials, as they stand: of an owner, an operator and a privacy officer; and a policy that changes."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.docs.page_shell import page_shell
from tests.servers_fixture import servers

pytestmark = [pytest.mark.long, pytest.mark.postgres]

_DOCS = Path(__file__).parents[2] / "docs"
_LEDGER = Path("ledger").with_suffix(".md")
_RUNBOOK = Path("runbook").with_suffix(".md")
_CLUB = """\
CREATE SCHEMA club;
CREATE TABLE club.sports (code text PRIMARY KEY, title text NOT NULL);
INSERT INTO club.sports VALUES ('row', 'Rowing'), ('run', 'Running'), ('swim', 'Swimming');
CREATE TABLE club.members (id integer PRIMARY KEY, name text NOT NULL, email text, born date NOT NULL,
    sex text NOT NULL CHECK (sex IN ('f', 'm', 'x')), joined date NOT NULL,
    fee numeric(6, 2) NOT NULL CHECK (fee BETWEEN 0 AND 500));
INSERT INTO club.members SELECT i, 'Member ' || i, 'm' || i, '1960-01-01'::date + i, 'f', '2020-01-01', 120
    FROM generate_series(1, 3000) i;
CREATE TABLE club.visits (id bigint PRIMARY KEY, member_id integer NOT NULL REFERENCES club.members,
    sport text NOT NULL REFERENCES club.sports, day date NOT NULL,
    minutes integer NOT NULL CHECK (minutes BETWEEN 1 AND 600));
INSERT INTO club.visits SELECT i, 1 + i % 3000, (ARRAY['row', 'run', 'swim'])[1 + i % 3], '2026-01-01', 60
    FROM generate_series(1, 30000) i;
ANALYZE;
"""


@contextmanager
def _database(name: str, rows: str = "") -> Iterator[None]:
    """A database of the protected server, gone afterwards with its reader."""
    server = servers().protected
    with psycopg.connect(server.dsn(), autocommit=True) as outer:
        if rows:
            outer.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'".encode())
            with psycopg.connect(server.dsn(name), autocommit=True) as connection:
                connection.execute(rows.encode())
        try:
            yield
        finally:
            outer.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
            outer.execute(f"DROP ROLE IF EXISTS {name}_reader".encode())


def test_an_owner_comes_from_a_bare_database_to_an_answer_and_changes_the_policy(
    tmp_path: Path,
) -> None:
    with _database("club", _CLUB), page_shell(tmp_path, "club.yaml") as shell:
        shell.follow(_DOCS / "tutorials" / "owner.md")
        shell.follow(_DOCS / "how-to" / "change-a-policy.md")
        serving = shell.serving
        assert serving is not None
        (first,) = (text for text in shell.answers if "(3 rows)" in text)
        counts = [
            int(line.split("|")[1])
            for line in first.splitlines()
            if line.count("|") == 2 and "avg" not in line
        ]
        assert len(counts) == 3 and all(9_000 < count < 11_000 for count in counts)
        (told,) = (text for text in shell.answers if "analysts gain" in text)
        assert "+ tables.club.members.columns.born: can be used" in told
        ask = f"psql -h 127.0.0.1 -p {shell.ports['6432']} -U alice club -qAtc "
        shell.until(ask + shlex.quote("SHOW dp.epsilon"), "0.5")
        shell.run(ask + shlex.quote("SELECT min(born) FROM club.members"))
        digests = shell.run(ask + shlex.quote("SELECT policy FROM dp.history")).split()
        assert len(set(digests)) == 2
        with (tmp_path / "club.yaml").open("a") as file:
            file.write("tables: [\n")
        serving.send_signal(signal.SIGHUP)
        standing = "SELECT digest, not_taken_since IS NOT NULL FROM dp.policy"
        shell.until(ask + shlex.quote(standing), f"{digests[-1]}|t")
        assert "policy_not_taken" in (tmp_path / "err.txt").read_text()
        serving.send_signal(signal.SIGTERM)
        assert serving.wait(60) in (0, 143)


def test_an_operator_serves_and_restores_and_a_privacy_officer_reviews(tmp_path: Path) -> None:
    with _database("sample"), page_shell(tmp_path) as shell:
        shell.follow(_DOCS / "tutorials" / "operator.md")
        status, metrics, verified, restored = shell.answers[-4:]
        assert "ready" in status
        assert "dpproxy_queries_total" in metrics
        assert "all checks passed" in verified
        assert "everybody together" in restored
        shell.follow(_DOCS / "tutorials" / "privacy-officer.md")
        assert any("0.5" in text and "alice" in text for text in shell.answers[-4:])
        shell.follow(_DOCS / "how-to" / "people.md")
        assert '"columns"' in shell.answers[-1] and "nightly report" in shell.answers[-1]
        shell.follow(_DOCS / "how-to" / _LEDGER)
        assert "all checks passed" in shell.answers[-1]
        policy = (tmp_path / "policy.yaml").read_text()
        block, *_series_and_ranges = re.findall(
            r"^```yaml\n(.*?)^```$", (_DOCS / "how-to" / "publish.md").read_text(), re.M | re.S
        )
        (tmp_path / "published.yaml").write_text(f"{policy}\n{block}")
        shell.run("dpproxy policy check published.yaml")
        told = shell.run("dpproxy policy diff policy.yaml published.yaml")
        assert "orders_by_status" in told


def test_a_person_is_erased_and_incidents_are_handled(tmp_path: Path) -> None:
    with _database("sample"), page_shell(tmp_path) as shell:
        shell.follow(_DOCS / "tutorials" / "operator.md")
        shell.answers.clear()
        shell.follow(_DOCS / "review.md")
        asked, erased, released, _, left = shell.answers
        assert asked == erased, "kept and published answers go on"
        assert "epsilon 1 charged" in released
        assert "alice,0.5" in left and "all checks passed" in left
        shell.answers.clear()
        shell.follow(_DOCS.parent / "deploy" / _RUNBOOK)
        leaked, bound, published = shell.answers
        assert ",alice," in leaked
        assert "bounds" in bound and "epsilon 1 charged" in bound
        assert "- tables.shop.products" in published
