"""Rows of public tables are shown only while the database is as the policy was checked against it."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from structlog.testing import capture_logs

from proxy.cli import assembly, judging_rows, loading, reloading
from proxy.cli.assembly import Database
from proxy.cli.building import shadows_being_built
from proxy.cli.judging_rows import judge
from proxy.cli.loading import CheckedPolicy, load_policy
from proxy.cli.refreshing import copy_public_tables
from proxy.cli.reloading import PolicyReloads
from proxy.doctor.all_findings import concerned_tables, diagnose
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.protected import public_values
from proxy.protected.judged_rows import CatalogueMoved, RowsWithheld, catalogue_state
from tests.chosen_slots import with_chosen_slots
from tests.live.served_database import READER, accepting_large_total, policy_head, served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.samples import checked_sample
from tests.servers_fixture import servers
from tests.waiting import until

_NAME = "judged"
_SCRIPT = """\
CREATE SCHEMA club;
CREATE TABLE club.members (id int PRIMARY KEY, email text, sport text);
CREATE TABLE club.sports (code text PRIMARY KEY, title text);
CREATE TABLE club.halls (code text PRIMARY KEY, title text);
CREATE VIEW club.sport_list AS SELECT code, title FROM club.sports;
INSERT INTO club.sports VALUES ('run', 'Running'), ('row', 'Rowing');
INSERT INTO club.halls VALUES ('h1', 'North'), ('h2', 'South');
INSERT INTO club.members SELECT i, 'p' || i || '@x.org', 'run' FROM generate_series(1, 300) i;
"""
_TABLES = """\
tables:
  club.members: {unit: {member: id}, columns: {sport: {references: club.sports.code}}}
  club.sports: public
  club.sport_list: public
  club.halls: public
"""
_SHOW = "SELECT * FROM club.sport_list ORDER BY 1"
_HONEST = [("row", "Rowing"), ("run", "Running")]
_PEOPLE = "CREATE OR REPLACE VIEW club.sport_list AS SELECT id::text AS code, email AS title FROM club.members"
_BACK = "CREATE OR REPLACE VIEW club.sport_list AS SELECT code, title FROM club.sports"
_FINDING = "club.sport_list: PUBLIC_SHOWS_PEOPLE"


class _Turns(list[Database]):
    """Databases that count how often they were gone through."""

    begun = 0

    def __iter__(self) -> Iterator[Database]:
        self.begun += 1
        return super().__iter__()


@dataclass(slots=True)
class Club:
    """The club's database, as its owner, an analyst and the operator see it."""

    database: Database
    proxy: LiveProxy
    owner: psycopg.Connection
    reloads: PolicyReloads
    file: Path

    def shown(self, statement: str = _SHOW) -> list[tuple[object, ...]]:
        with self.proxy.connect(_NAME) as connection:
            return connection.execute(statement.encode()).fetchall()

    def run(self, statement: str) -> None:
        self.owner.execute(statement.encode())

    def is_taken(self) -> bool:
        """As dp.policy says."""
        return self.shown("SELECT not_taken_since IS NULL FROM dp.policy") == [(True,)]

    def is_ready(self) -> bool:
        """As /readyz says of the policy."""
        return self.reloads.are_taken

    def reload(self) -> str | None:
        (found,) = asyncio.run(self.reloads.reload())["policies"]
        told: str | None = found["not_taken"]
        return told

    def copied(self) -> list[Mapping[str, Any]]:
        """Two turns of the hourly copy; what they say of public tables."""

        turns = _Turns([self.database])

        async def two_turns() -> None:
            copying = asyncio.create_task(copy_public_tables(turns, 0.02))
            await asyncio.to_thread(until, lambda: turns.begun > 2)
            copying.cancel()

        with capture_logs() as logged:
            asyncio.run(two_turns())
        return [one for one in logged if one["event"] == "public_tables_not_copied"]

    def rebuild(self) -> list[Mapping[str, Any]]:
        """As after the end of the shadow's server."""
        with capture_logs() as logged:
            self.database.shadow.forget()
            self.database.rebuild_shadow()
        return [one for one in logged if one["event"] == "public_tables_not_copied"]


@pytest.fixture
def club(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Club]:
    pair = servers()
    database = served_database(pair, _NAME, _SCRIPT, _TABLES, "best")
    pair.match_roles()
    proxy = start_proxy(pair, [database])
    proxy.analyst = pair.new_analyst()

    @dataclass
    class Same:
        id: int = database.lease.source  # leases of tests are on made-up sources

    monkeypatch.setattr(reloading, "find_source", lambda *_: Same())
    file = tmp_path / "policy.yaml"
    text = f"{policy_head(_NAME, 'best')}{_TABLES}reuse: none\n"
    file.write_text(with_chosen_slots(accepting_large_total(text)))
    try:
        with psycopg.connect(pair.protected.dsn(_NAME), autocommit=True) as owner:
            limit = f"ALTER ROLE {READER} IN DATABASE {_NAME} SET temp_file_limit = '1GB'"
            owner.execute(limit.encode())
            environment = {"DSN": database.policy.source}
            checked = [CheckedPolicy(database.policy, database.catalog, file=str(file))]
            reloads = PolicyReloads([database], checked, environment)
            found = Club(database, proxy, owner, reloads, file)
            database.note_columns(database.catalog)
            assert found.reload() is None
            assert database.policy.digest == hashlib.sha256(file.read_bytes()).hexdigest()
            yield found
    finally:
        proxy.stop()
        for server in (pair.protected, pair.shadow_server):
            with psycopg.connect(server.dsn(), autocommit=True) as connection:
                connection.execute(f"DROP DATABASE {_NAME} WITH (FORCE)")


def _refusal(act: Callable[[], object]) -> str:
    with pytest.raises(psycopg.Error) as refused:
        act()
    return f"{refused.value.diag.message_primary}"


@pytest.mark.long
def test_a_copy_asks_for_the_verdict_again(club: Club) -> None:
    """A view that was defined anew over people is not copied, seen by a reload before or not."""
    assert club.shown() == _HONEST
    club.run(_PEOPLE)
    told = club.copied()
    assert club.shown() == _HONEST, "the rows of before stay"
    assert told and told[0]["findings"] == [_FINDING] and "@" not in str(told)
    assert not club.is_taken() and not club.is_ready()
    assert "PUBLIC_SHOWS_PEOPLE" in str(club.reload())
    assert club.copied() and club.shown() == _HONEST
    club.run(_BACK)
    club.run("INSERT INTO club.sports VALUES ('swim', 'Swimming')")
    assert club.copied() == []
    assert club.shown() == [*_HONEST, ("swim", "Swimming")]
    assert club.reload() is None and club.is_ready() and club.is_taken()


def test_nothing_of_people_is_an_answers_group(club: Club) -> None:
    """The view is read live where a statement joins with it: until it is mended, it is refused."""
    club.run(_PEOPLE)
    club.database.look_for_changes()
    listed = "SELECT count(*) FROM club.members WHERE sport IN (SELECT code FROM club.sport_list)"
    assert "club.sport_list is not what the policy was checked against" in _refusal(
        lambda: club.shown(listed)
    )
    club.run(_BACK)
    club.database.look_for_changes()
    assert 200 < int(str(club.shown(listed)[0][0])) < 400


@pytest.mark.long
def test_a_rebuilt_shadow_shows_nothing_that_is_refused(club: Club) -> None:
    club.run(_PEOPLE)
    told = club.rebuild()
    assert [one["findings"] for one in told] == [[_FINDING]]
    assert "not what the policy was checked against" in _refusal(club.shown)
    assert len(club.shown("SELECT * FROM club.halls")) == 2, "nothing is found of it"
    assert club.database.shadow.verify() == ()
    assert not club.is_taken() and not club.is_ready()
    club.database.look_for_changes()
    assert "not what the policy was checked against" in _refusal(club.shown)
    club.run(_BACK)
    club.database.look_for_changes()  # the look of each minute
    assert club.shown() == _HONEST and club.is_taken()
    assert club.database.shadow.verify() == ()
    assert club.rebuild() == [] and club.shown() == _HONEST


@pytest.mark.long
def test_a_rebuilt_shadow_is_taken_back_by_a_reload(club: Club) -> None:
    club.run(_PEOPLE)
    club.rebuild()
    assert "PUBLIC_SHOWS_PEOPLE" in str(club.reload())
    club.run(_BACK)
    assert club.reload() is None
    assert club.shown() == _HONEST and club.is_taken() and club.is_ready()


_IN_THE_LIST = "SELECT count(*) FROM club.members WHERE sport IN (SELECT code FROM club.sport_list)"
_HALLS = "SELECT code FROM club.halls ORDER BY 1"


@pytest.mark.long
def test_a_finding_closes_its_table_and_no_other(club: Club) -> None:
    """Innocent tables are copied, and statements that read them are answered."""
    club.run(_PEOPLE)
    club.run("INSERT INTO club.halls VALUES ('h3', 'East')")
    told = club.copied()
    assert told and {tuple(one["findings"]) for one in told} == {(_FINDING,)}
    assert club.shown() == _HONEST and club.shown(_HALLS) == [("h1",), ("h2",), ("h3",)]
    assert not club.is_taken() and not club.is_ready()
    assert club.shown("SELECT count(*) FROM club.members WHERE sport IN ('run')")
    in_halls = "SELECT count(*) FROM club.members WHERE sport IN (SELECT code FROM club.halls)"
    assert club.shown(in_halls)
    assert "club.sport_list is not what the policy was" in _refusal(
        partial(club.shown, _IN_THE_LIST)
    )
    club.rebuild()
    assert club.shown(_HALLS) == [("h1",), ("h2",), ("h3",)]
    assert "not what the policy was" in _refusal(club.shown)
    club.run("INSERT INTO club.halls VALUES ('h4', 'West')")
    assert club.copied() and club.shown(_HALLS)[-1] == ("h4",)
    assert "not what the policy was" in _refusal(club.shown)
    assert club.database.shadow.verify() == ()


@pytest.mark.long
def test_another_table_can_be_mended_first(club: Club) -> None:
    """What a rebuilt shadow withholds comes back table by table."""
    club.run(_PEOPLE)
    club.run("ALTER TABLE club.halls ADD member int REFERENCES club.members")
    club.rebuild()
    for statement in (_SHOW, _HALLS):
        assert "not what the policy was" in _refusal(partial(club.shown, statement))
    club.run(_BACK)
    club.database.look_for_changes()
    assert club.shown() == _HONEST and not club.is_taken()
    assert "not what the policy was" in _refusal(partial(club.shown, _HALLS))
    assert club.database.shadow.verify() == ()
    club.run("ALTER TABLE club.halls DROP member")
    club.database.look_for_changes()
    assert len(club.shown(_HALLS)) == 2 and club.is_taken()


@pytest.mark.long
@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("change", "back"),
    [
        (
            f"GRANT INSERT ON club.halls TO {READER}",
            f"REVOKE INSERT ON club.halls FROM {READER}",
        ),
        (
            f"ALTER ROLE {READER} IN DATABASE {_NAME} RESET temp_file_limit",
            f"ALTER ROLE {READER} IN DATABASE {_NAME} SET temp_file_limit = '1GB'",
        ),
    ],
)
def test_a_finding_of_the_server_stops_no_copy(club: Club, change: str, back: str) -> None:
    """It is told all the same."""
    club.run(change)
    club.run("INSERT INTO club.sports VALUES ('swim', 'Swimming')")
    assert club.copied() == []
    assert club.shown() == [*_HONEST, ("swim", "Swimming")]
    assert club.rebuild() == [] and len(club.shown()) == 3
    assert club.shown(_IN_THE_LIST)
    assert not club.is_taken() and not club.is_ready()
    club.run(back)
    assert club.reload() is None and club.is_taken() and club.is_ready()


@pytest.mark.long
def test_what_shows_rows_of_a_closed_table_is_closed(club: Club) -> None:
    club.run("CREATE VIEW club.hall_codes AS SELECT code FROM club.halls")
    club.run(f"GRANT SELECT ON club.hall_codes TO {READER}")
    club.file.write_text(f"{club.file.read_text()}".replace("tables:\n", f"tables:\n{_CODES}"))
    assert club.reload() is None
    club.run("ALTER TABLE club.halls ADD member int REFERENCES club.members")
    closed = club.database.closed_tables()
    club.database.look_for_changes()
    assert closed == frozenset()
    assert club.database.closed_tables() == {"club.halls", "club.hall_codes"}
    assert club.shown() == _HONEST


_CODES = "  club.hall_codes: public\n"


@pytest.mark.long
def test_a_protected_table_is_closed_by_its_own_finding(club: Club) -> None:
    """Its unit leads elsewhere now. Other tables go on."""
    club.run("CREATE TABLE club.visits (id int PRIMARY KEY, member_id int NOT NULL, minutes int)")
    club.run(f"GRANT SELECT ON club.visits TO {READER}")
    visits = "  club.visits: {unit: {member: member_id}, max_rows_per_unit: 3}\n"
    club.file.write_text(f"{club.file.read_text()}".replace("tables:\n", f"tables:\n{visits}"))
    assert club.reload() is None
    club.run("CREATE TABLE club.teachers (id int PRIMARY KEY)")
    club.run("ALTER TABLE club.visits ADD FOREIGN KEY (member_id) REFERENCES club.teachers")
    club.database.look_for_changes()
    assert club.database.closed_tables() == {"club.visits"}
    refused = _refusal(partial(club.shown, "SELECT count(*) FROM club.visits"))
    assert "club.visits is not what the policy was checked against" in refused
    assert club.shown("SELECT count(*) FROM club.members")
    assert club.copied() == [] and not club.is_taken()


@pytest.mark.long
def test_nobody_judges_by_a_protected_table_that_does_not_fit(club: Club) -> None:
    """Whom public tables are about is told by the units: without them no public row is copied."""
    club.run("ALTER TABLE club.members RENAME id TO number")
    club.run("INSERT INTO club.halls VALUES ('h3', 'East')")
    told = club.copied()
    assert told and told[0]["findings"] == ["club.members: it does not fit the database"]
    assert len(club.shown(_HALLS)) == 2
    club.run("ALTER TABLE club.members RENAME number TO id")
    assert club.copied() == [] and len(club.shown(_HALLS)) == 3


@pytest.mark.long
def test_a_public_table_that_does_not_fit_stops_no_other(club: Club) -> None:
    club.run("DROP TABLE club.halls")
    club.run("INSERT INTO club.sports VALUES ('swim', 'Swimming')")
    told = club.copied()
    assert told and told[0]["findings"] == ["club.halls: it does not fit the database"]
    assert len(club.shown()) == 3 and len(club.shown(_HALLS)) == 2


@pytest.mark.long
def test_a_public_table_that_does_not_fit_hides_nothing_of_another(club: Club) -> None:
    """The others are judged, and what the ledger remembers of them is asked."""
    club.run("DROP VIEW club.sport_list")
    club.run("ALTER TABLE club.halls DROP title, ADD title text")
    club.run("INSERT INTO club.halls VALUES ('h3', 'p1@x.org')")
    club.run("ALTER TABLE club.sports ADD member int REFERENCES club.members")
    club.run("INSERT INTO club.sports VALUES ('swim', 'Swimming')")
    told = club.copied()
    assert told and set(told[0]["findings"]) == {
        "club.sport_list: it does not fit the database",
        "club.halls: it has columns that came later",
        "club.sports: PUBLIC_REFERS_TO_PEOPLE",
    }
    assert "@" not in str(club.shown("SELECT * FROM club.halls"))
    assert len(club.shown("SELECT * FROM club.sports")) == 2


@pytest.mark.long
def test_a_later_column_stops_no_copy(club: Club) -> None:
    """It is not shown, and what was shown is what it was."""
    club.run("ALTER TABLE club.halls ADD note text")
    club.run("INSERT INTO club.halls VALUES ('h3', 'East', 'new')")
    assert club.copied() == [] and len(club.shown(_HALLS)) == 3
    assert not club.is_taken() and "came later" in str(club.reload())
    club.run("ALTER TABLE club.halls DROP title, ADD title text")
    club.run("INSERT INTO club.halls VALUES ('h4', 'old', 'p1@x.org')")
    told = club.copied()
    assert told and told[0]["findings"] == ["club.halls: it has columns that came later"]
    assert len(club.shown(_HALLS)) == 3 and "@" not in str(club.shown("SELECT * FROM club.halls"))


def test_a_finding_that_nobody_can_place_closes_all() -> None:
    policy = checked_sample("shop").policy
    where = str(next(iter(policy.tables)))
    placed = Finding(name=FindingName.PUBLIC_SHOWS_PEOPLE, where=where, what="")
    assert concerned_tables(placed, policy) == {next(iter(policy.tables))}
    assert concerned_tables(replace(placed, where="elsewhere"), policy) == set(policy.tables)
    of_the_role = replace(placed, name=FindingName.ROLE_MAY_WRITE)
    assert concerned_tables(of_the_role, policy) == frozenset()


@pytest.mark.long
def test_one_look_judges_once(club: Club, monkeypatch: pytest.MonkeyPatch) -> None:
    """The look of each minute and the watch of the file share a verdict; a change between them does not."""
    asked = []

    def counted(*given: Any) -> Any:
        asked.append(1)
        return diagnose(*given)

    monkeypatch.setattr(judging_rows, "diagnose", counted)
    monkeypatch.setattr(loading, "diagnose", counted)
    (watch,) = club.reloads._watches
    for change, number in (("", 1), ("CREATE TABLE club.more (a int)", 2), ("", 1)):
        asked.clear()
        club.database.look_for_changes()
        if change:
            club.run(change)
        watch.look(1e9)
        assert len(asked) == number


@pytest.mark.every(4)
@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE club.patients (id int, CONSTRAINT one CHECK (true)) INHERITS (club.halls)",
        "ALTER TABLE club.halls ADD member int REFERENCES club.members",
        "ALTER TABLE club.halls RENAME TO old; ALTER TABLE club.members RENAME TO halls",
        f"DROP TABLE club.halls; {_PEOPLE.replace('sport_list', 'halls')}",
    ],
)
def test_whatever_makes_a_public_table_one_of_people(club: Club, change: str) -> None:
    before = club.shown("SELECT * FROM club.halls ORDER BY 1")
    club.run(change)
    club.run(f"GRANT SELECT ON ALL TABLES IN SCHEMA club TO {READER}")
    told = club.copied()
    assert told and all("club." in one["findings"][0] for one in told)
    assert club.shown("SELECT * FROM club.halls ORDER BY 1") == before
    club.rebuild()
    assert "not what the policy" in _refusal(lambda: club.shown("SELECT * FROM club.halls"))


@pytest.mark.long
def test_a_change_between_verdict_and_copy_is_noticed(
    club: Club, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that is undone before the end: the rows that were read are thrown away."""
    read = public_values.read_public_contents

    changes = [_PEOPLE]

    def meanwhile(policy: Any, catalog: Any) -> Any:
        if changes:
            club.run(changes.pop())
        return read(policy, catalog)

    def and_back(policy: Any, catalog: Any) -> Any:
        club.run(_PEOPLE)
        try:
            return read(policy, catalog)
        finally:
            club.run(_BACK)

    monkeypatch.setattr(assembly, "read_public_contents", and_back)
    with pytest.raises(CatalogueMoved):
        club.database.refresh()
    monkeypatch.setattr(assembly, "read_public_contents", meanwhile)
    club.database.refresh()
    assert [str(one) for one in club.database.open_findings] == [_FINDING]
    assert club.shown() == _HONEST and "@" not in str(club.database.engine.public)


@pytest.mark.long
def test_a_start_and_a_reload_ask_when_they_copy(
    club: Club, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The view changes between the check of the policy and the copy."""
    file = club.file
    checked = load_policy(file, {"DSN": club.database.policy.source})
    club.run(_PEOPLE)
    (built,) = shadows_being_built([checked], servers().shadow_server)
    with pytest.raises(RowsWithheld, match=_FINDING):
        built.result(60)
    club.run(_BACK)
    verdict_of = loading.verdict_of

    def late(*given: Any) -> Any:
        found = verdict_of(*given)
        club.run(_PEOPLE)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(reloading, "verdict_of", late)
        file.write_text(file.read_text().replace("  club.halls: public\n", ""))
        assert "PUBLIC_SHOWS_PEOPLE" in str(club.reload())
    assert club.shown() == _HONEST
    assert len(club.shown("SELECT * FROM club.halls")) == 2


@pytest.mark.long
def test_other_changes_do_not_move_the_state(club: Club) -> None:
    """Rows, statistics and temporary tables of others come and go all the time."""
    source = club.database.policy.source
    before = catalogue_state(source)
    club.run("CREATE TEMPORARY TABLE mine (a int)")
    club.run("INSERT INTO club.halls VALUES ('h3', 'East')")
    club.run("ANALYZE")
    club.run("VACUUM FREEZE")
    assert catalogue_state(source) == before
    for change in (_PEOPLE, _BACK, "ALTER TABLE club.halls ADD note text"):
        club.run(change)
        assert catalogue_state(source) != before
        before = catalogue_state(source)


def test_one_function_brings_public_rows_into_a_shadow() -> None:
    """And a right to read them comes from one place, which asks for findings."""
    folder = Path(judging_rows.__file__).parents[1]
    copying, judging, calls = [], [], []
    for file in sorted(folder.rglob("*.py")):
        text, name = file.read_text(), str(file.relative_to(folder))
        copying += [name] * len(re.findall(r"COPY \(?.*\{\}.* TO STDOUT", text))
        judging += [name] * len(re.findall(r"JudgedRows(?:\.of_\w+)?\(|\bcls\(policy=", text))
        calls += [name] * len(re.findall(r"\b_copy_rows\b|\b_copy_again\b", text))
    assert set(copying) == {"protected/judged_rows.py", "ledger/ledger_backup.py"}
    assert judging == ["cli/judging_rows.py"] * 2 + ["protected/judged_rows.py"] * 2
    assert set(calls) == {"shadow/shadow_making.py"}
    assert judge.__globals__["diagnose"] is diagnose
