"""A policy, or a catalogue, that changes while the proxy serves."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import psycopg
import pytest
from psycopg import errors
from structlog.testing import capture_logs

from proxy.cli import reloading
from proxy.cli.assembly import Database
from proxy.cli.building import refuse_new_columns
from proxy.cli.cli_error import CliError
from proxy.cli.loading import CheckedPolicy, load_policy
from proxy.cli.reloading import PolicyReloads, PolicyWatch
from proxy.engine.charged_queries import ChargedQueries
from proxy.engine.publishing import Publishing
from proxy.engine.query_pipeline import Engine
from proxy.ledger.ledger_lease import BudgetLease, BudgetsAwaited
from proxy.ledger.ledger_sources import Source, SourceError
from proxy.ledger.noted_columns import UNIT_COLUMNS
from proxy.pgwire import frames as f
from proxy.policy.policy_model import Policy
from proxy.policy_file.policy_yaml import read_policy
from proxy.protected.protected_database import DatabaseSession
from proxy.shadow import shadow_database
from proxy.shadow.shadow_database import Shadow
from proxy.shadow.shadow_tables import ShadowError
from tests.asked_by import run_by
from tests.chosen_slots import reuse_with_far_step, with_chosen_slots
from tests.cli.held_statements import (
    CHANGED_POLICIES,
    DOCTORS,
    HELD_FORMS,
    JOINED,
    NAME,
    SCRIPT,
    TABLES,
    VISITS,
)
from tests.ledger_key import LEDGER_CIPHER
from tests.live.served_database import (
    READER,
    accepting_large_total,
    asked,
    policy_head,
    served_database,
)
from tests.live_proxy import LiveProxy, start_proxy
from tests.raw_client import RawClient
from tests.servers_fixture import Servers, servers
from tests.waiting import until

_SUM = "SELECT sum(cost) FROM visits"
_MOST = "2"
_DRAWS = 8  # two are equal once in some hundred


@dataclass(slots=True)
class Served:
    """The proxy's own view of one database, and the file of its policy."""

    proxy: LiveProxy
    database: Database
    file: Path
    watch: PolicyWatch
    clock: float = 0.0

    def write(self, tables: str = TABLES, **replaced: str) -> None:
        """A policy file, and two looks at it."""
        text = policy_head(NAME, "best", _MOST) + tables
        text += "" if "reuse:" in tables else "reuse: none\n"
        for old, new in replaced.items():
            assert old in text, old
            text = text.replace(old, new)
        self.put(text)

    def put(self, text: str) -> None:
        self.file.write_text(with_chosen_slots(accepting_large_total(text) if text else ""))
        self.look()
        self.look()

    def look(self) -> None:
        self.clock += 10.0
        self.watch.look(self.clock)

    def connect(self) -> psycopg.Connection:
        return self.proxy.connect(NAME)

    def value(self, statement: str) -> object:
        with self.connect() as connection:
            row = connection.execute(statement.encode()).fetchone()
        return None if row is None else row[0]

    def receipts(self) -> list[tuple[str, float, float]]:
        """Digest, epsilon and delta of the analyst's charges."""
        lease = self.database.lease
        with psycopg.connect(lease.ledger_dsn) as ledger:
            return ledger.execute(
                "SELECT policy_digest, epsilon::float8, delta::float8 FROM ledger.receipt"
                " WHERE source = %s AND analyst = %s ORDER BY id",
                (lease.source, self.proxy.analyst),
            ).fetchall()

    def standing(self) -> tuple[object, ...]:
        with self.connect() as connection:
            row = connection.execute(
                "SELECT digest, not_taken_since IS NULL FROM dp.policy"
            ).fetchone()
        assert row is not None
        return row


@pytest.fixture(scope="module")
def pair() -> Servers:
    return servers()


@pytest.fixture(scope="module")
def world(pair: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    database = served_database(pair, NAME, SCRIPT, TABLES, "best", most=_MOST)
    with psycopg.connect(pair.protected.dsn(NAME), autocommit=True) as owner:
        limit = f"ALTER ROLE {READER} IN DATABASE {NAME} SET temp_file_limit = '1GB'"
        owner.execute(limit.encode())
    pair.match_roles()
    proxy = start_proxy(pair, [database])
    file = tmp_path_factory.mktemp("reloaded") / "policy.yaml"
    watch = PolicyWatch(database, file, {"DSN": database.policy.source})
    try:
        yield Served(proxy, database, file, watch)
    finally:
        proxy.stop()
        for server in (pair.protected, pair.shadow_server):
            with psycopg.connect(server.dsn(), autocommit=True) as connection:
                connection.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


@pytest.fixture
def served(world: Served, pair: Servers, monkeypatch: pytest.MonkeyPatch) -> Served:
    """Under the first policy, with an analyst who has asked nothing."""

    @dataclass
    class Same:
        id: int = world.database.lease.source  # leases of tests are on made-up sources

    monkeypatch.setattr(reloading, "find_source", lambda *_: Same())
    world.write()
    assert world.database.policy.digest == hashlib.sha256(world.file.read_bytes()).hexdigest()
    world.proxy.analyst = pair.new_analyst()
    return world


@contextlib.contextmanager
def _added(
    served: Served, pair: Servers, added: str, made: str, beneath: str = ""
) -> Iterator[psycopg.Connection]:
    """A connection of the owner, while there is one more table or view that the proxy may read.

    Args:
        added: Its kind and name.
        made: The statements that make it.
        beneath: The statements that drop what else they made.
    """
    _, name = added.split()
    with psycopg.connect(pair.protected.dsn(NAME), autocommit=True) as owner:
        owner.execute(f"{made}; GRANT SELECT ON {name} TO {READER}".encode())
        try:
            served.database.look_for_changes()
            yield owner
        finally:
            owner.execute(f"DROP {added} CASCADE; {beneath}".encode())
            served.database.look_for_changes()


@pytest.mark.long
def test_a_changed_bound_is_taken_up(served: Served) -> None:
    before = served.database.policy.digest
    assert abs(float(str(served.value(_SUM))) - 20_000) < 9_000
    served.write(**{"bounds: [0, 100]": "bounds: [0, 5]"})
    assert served.database.policy.digest != before
    assert abs(float(str(served.value(_SUM))) - 10_000) < 1_500
    digests = [digest for digest, *_ in served.receipts()]
    assert digests == [before, served.database.policy.digest]
    assert served.standing() == (served.database.policy.digest, True)
    with psycopg.connect(served.database.lease.ledger_dsn) as ledger:
        known = ledger.execute(
            "SELECT digest FROM ledger.policy_version WHERE source = %s",
            (served.database.lease.source,),
        ).fetchall()
    assert {digest for (digest,) in known} >= set(digests)
    names = [served.database.engine.known.naming_key]
    served.database.refresh()
    names.append(served.database.engine.known.naming_key)
    assert names == [LEDGER_CIPHER.naming_key] * 2, "under which plans have their names"


@pytest.mark.long
def test_a_table_that_goes_is_refused_at_the_next_statement(served: Served) -> None:
    with served.connect() as connection:
        connection.execute("SELECT count(*) FROM visits")
        served.write(f"tables:\n{DOCTORS}")
        with pytest.raises(errors.UndefinedTable):
            connection.execute("SELECT count(*) FROM visits")
        counted = connection.execute("SELECT count(*) FROM doctors").fetchone()
        assert counted is not None and 200 < counted[0] < 400
        with pytest.raises(errors.UndefinedTable):
            connection.execute("SELECT * FROM wards")
    assert len(served.receipts()) == 2


def test_a_public_table_that_becomes_protected_is_shown_no_more(served: Served) -> None:
    with served.connect() as connection:
        held = connection.cursor()
        held.execute("SELECT name FROM wards ORDER BY 1", prepare=True)
        assert held.fetchall() == [("north",), ("south",)]
        served.write(f"tables:\n{VISITS}  public.wards: {{unit: row, columns: {{name: {{}}}}}}\n")
        with pytest.raises(psycopg.Error):
            held.execute("SELECT name FROM wards ORDER BY 1", prepare=True)
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute("SELECT name FROM wards LIMIT 1")


@pytest.mark.long
def test_what_is_prepared_goes_on_under_the_new_policy(served: Served) -> None:
    with served.connect() as connection:
        question = "SELECT count(*) FROM visits WHERE cost < %s"
        connection.execute(question, (50,), prepare=True)
        served.write(**{"max_rows_per_unit: 4": "max_rows_per_unit: 2"})
        connection.execute(question, (50,), prepare=True)
        served.write(f"tables:\n{VISITS}{DOCTORS}")  # other tables: the shadow is made anew
        connection.execute(question, (50,), prepare=True)
    assert len({digest for digest, *_ in served.receipts()}) == 3


@pytest.mark.long
def test_what_is_prepared_loses_its_right_with_the_policy(served: Served) -> None:
    with served.connect() as connection:
        connection.execute(_SUM, prepare=True)
        charged = len(served.receipts())
        served.write(**{"cost: {bounds: [0, 100]}": "cost: {}"})
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute(_SUM, prepare=True)
    assert len(served.receipts()) == charged


def test_a_shadow_that_is_rebuilt_is_known_by_its_new_tables_only(served: Served) -> None:
    """Numbers of the tables before may be those of other tables in the new shadow."""
    database = served.database
    before, standing = database.engine, served.standing()
    before.drawer.changed = frozenset({"public.doctors"})
    database.shadow.forget()
    with pytest.raises(ShadowError, match="was not built"):
        database.shadow.verify()
    database.rebuild_shadow()
    assert database.shadow.verify() == ()
    known = database.engine.statements.relations
    assert known == {oid: name for name, oid in database.shadow.relation_oids().items()}
    assert known != before.statements.relations
    assert database.engine.drawer.changed == before.drawer.changed, "what is not asked stays so"
    database.engine.drawer.changed = frozenset()
    assert served.standing() == standing
    assert abs(float(str(served.value(_SUM))) - 20_000) < 9_000


@pytest.mark.long
def test_a_column_that_goes_is_gone_from_what_is_prepared(served: Served) -> None:
    """The shadow holds a text in which the column does not occur any more: it would not notice."""
    question = "SELECT count(*) FROM visits WHERE ward = %s"
    with served.connect() as connection:
        connection.execute(question, ("north",), prepare=True)
        served.write(**{", ward: {values: [north, south]}": ""})
        with pytest.raises(psycopg.Error) as refused:
            connection.execute(question, ("north",), prepare=True)
        assert "ward" in str(refused.value)
    assert len(served.receipts()) == 1


@pytest.mark.long
def test_caching_begins_and_what_it_kept_is_of_its_policy(served: Served) -> None:
    reused = with_chosen_slots(f"reuse: 24h\n{TABLES}")  # one slot for all of them
    assert len({served.value(_SUM) for _ in range(_DRAWS)}) > 1
    served.write(reused)
    kept = served.value(_SUM)
    assert served.value(_SUM) == kept
    served.write(reused, **{"bounds: [0, 100]": "bounds: [0, 5]"})
    assert abs(float(str(served.value(_SUM))) - 10_000) < 1_500
    served.write(reused)
    assert served.value(_SUM) == kept
    served.write()
    assert {served.value(_SUM) for _ in range(_DRAWS)} != {kept}
    assert [cost for _, cost, _ in served.receipts()] == [1.0] * (2 * _DRAWS + 2)


@pytest.mark.long
def test_what_is_prepared_says_the_present_as_it_was_read(served: Served) -> None:
    """The shadow holds the words that round it: they are refused, not taken for those of the new policy."""
    question = "SELECT count(*) FROM visits WHERE cost < extract(year FROM now())::int"
    with served.connect() as connection:
        connection.execute(question, prepare=True)
        charged = len(served.receipts())
        served.write(f"{reuse_with_far_step()}\n{TABLES}")
        with pytest.raises(errors.FeatureNotSupported, match="policy has changed"):
            connection.execute(question, prepare=True)
        assert len(served.receipts()) == charged
        connection.rollback()
        connection.execute(question, prepare=False)
        connection.execute(question, prepare=False)
    assert len(served.receipts()) == charged + 1


def test_a_lower_epsilon_holds_in_sessions_that_are_open(served: Served) -> None:
    with served.connect() as connection, served.connect() as own:
        connection.execute(_SUM)
        own.execute("SET dp.epsilon = 0.75")
        served.write(**{"epsilon: 1,": "epsilon: 0.5,"})
        connection.execute(_SUM)
        own.execute(_SUM)
        served.write(**{"epsilon: 1,": "epsilon: 1.5,"})
        connection.execute(_SUM)  # costs no more than the session says
    assert [epsilon for _, epsilon, _ in served.receipts()] == [1.0, 0.5, 0.75, 1.0]


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("tables: [", "error in the file"),
        ("", "error in the file"),
        ("tables: {public.visits: {unit: {patient: nobody}}}\n", "error in the file"),
        ("tables:\n" + VISITS + "  public.beds: public\n", "severe finding"),
    ],
)
def test_a_bad_file_leaves_what_is_in_force(served: Served, text: str, reason: str) -> None:
    before = served.database.policy, served.database.engine
    with capture_logs() as logged:
        served.put(policy_head(NAME, "best", _MOST) + text if text else "")
        served.look()
        served.look()
    assert (served.database.policy, served.database.engine) == before
    told = [one for one in logged if one["event"] == "policy_not_taken"]
    assert len(told) == 1 and reason in told[0]["reason"] and told[0]["problems"]
    assert before[0].source not in str(logged)
    assert served.standing() == (before[0].digest, False)
    assert abs(float(str(served.value(_SUM))) - 20_000) < 9_000
    served.write()
    assert served.standing() == (before[0].digest, True)


_ACCEPTED = (
    f"tables:\n{VISITS}  public.wards: public\n  public.doctors: public\n"
    'accept: {PUBLIC_LOOKS_LIKE_PEOPLE: {public.doctors: "their names are on their doors"}}\n'
)


@pytest.mark.long
def test_the_log_tells_what_is_found_of_a_policy_that_is_taken(served: Served) -> None:
    """What was told before is not told again."""
    with capture_logs() as logged:
        served.write(_ACCEPTED)
        first = len(logged)
        served.write(f"{_ACCEPTED}# another text\n")
    events = [(one["event"], one.get("name")) for one in logged[:first]]
    assert events[0] == ("policy_taken", None)
    assert ("finding_accepted", "PUBLIC_LOOKS_LIKE_PEOPLE") in events
    accepted = [one for one in logged if one["event"] == "finding_accepted"]
    assert [one["reason"] for one in accepted if one["name"] != "TOTAL_IS_LARGE"] == [
        "their names are on their doors"
    ]
    assert [one["event"] for one in logged[first:]] == ["policy_taken"]


@pytest.mark.long
def test_the_log_tells_that_a_policy_is_in_force_again(served: Served) -> None:
    text = served.file.read_text()
    with capture_logs() as logged:
        served.put(text + "no_such_key: 1\n")
        served.put(text)
        served.look()
    events = [(one["event"], one["database"]) for one in logged]
    assert events == [("policy_not_taken", NAME), ("policy_in_force_again", NAME)]
    assert logged[1]["digest"] == served.database.policy.digest[:12]


@pytest.mark.long
def test_an_acceptance_does_not_cover_a_column_that_comes_later(
    served: Served, pair: Servers
) -> None:
    covering = _ACCEPTED.replace("doctors", "desks").replace(
        '"their names are on their doors"', '{covers: [phone], because: "the desk has one"}'
    )
    made = "CREATE TABLE public.desks (number int PRIMARY KEY, phone text)"
    with _added(served, pair, "TABLE public.desks", made) as owner:
        served.write(covering)
        taken = served.database.policy
        assert served.standing() == (taken.digest, True)
        owner.execute("ALTER TABLE public.desks ADD patient_email text")
        with capture_logs() as logged:
            served.database.look_for_changes()
            served.look()
        (told,) = [one for one in logged if one["event"] == "policy_not_taken"]
        assert "accept does not cover patient_email" in told["problems"][0]
        line = served.file.read_text().splitlines().index("  public.desks: public") + 1
        assert told["problems"][0].startswith(f"{line}:3: PUBLIC_LOOKS_LIKE_PEOPLE: ")
        assert served.watch.refusal == f"{told['reason']}: {told['problems'][0]}"
        assert served.standing() == (taken.digest, False)
        with pytest.raises(errors.UndefinedColumn):
            served.value("SELECT patient_email FROM desks")


_PUBLIC_VIEW = "SELECT name AS kind FROM public.wards"


@pytest.mark.long
def test_what_a_view_shows_is_judged_at_each_look(served: Served, pair: Servers) -> None:
    """A refusal lasts until what is wrong is mended, not until the next look."""
    made = f"CREATE VIEW public.kinds AS {_PUBLIC_VIEW}"
    with _added(served, pair, "VIEW public.kinds", made) as owner:
        served.write(f"{TABLES}  public.kinds: public\n")
        taken = served.database.policy
        assert served.standing() == (taken.digest, True)
        people = "SELECT patient::text AS kind FROM public.visits"
        owner.execute(f"CREATE OR REPLACE VIEW public.kinds AS {people}".encode())
        with capture_logs() as logged:
            for _ in range(3):
                served.database.look_for_changes()
                served.look()
                assert served.standing() == (taken.digest, False)
        (told,) = [one for one in logged if one["event"] == "policy_not_taken"]
        assert "PUBLIC_SHOWS_PEOPLE" in told["problems"][0]
        assert "policy_in_force_again" not in [one["event"] for one in logged]
        owner.execute(f"CREATE OR REPLACE VIEW public.kinds AS {_PUBLIC_VIEW}".encode())
        with capture_logs() as logged:
            served.database.look_for_changes()
            served.look()
        assert "policy_in_force_again" in [one["event"] for one in logged]
        assert served.standing() == (taken.digest, True)


@pytest.mark.long
def test_a_finding_that_comes_with_the_database_alone_is_told(
    served: Served, pair: Servers
) -> None:
    """No table is declared otherwise: the role may write now."""
    served.write()
    taken = served.database.policy
    with psycopg.connect(pair.protected.dsn(NAME), autocommit=True) as owner:
        owner.execute(f"GRANT INSERT ON public.visits TO {READER}".encode())
        try:
            with capture_logs() as logged:
                served.database.look_for_changes()
                served.look()
            assert "policy_not_taken" in [one["event"] for one in logged]
            assert served.standing() == (taken.digest, False)
        finally:
            owner.execute(f"REVOKE INSERT ON public.visits FROM {READER}".encode())
        served.database.look_for_changes()
        served.look()
        assert served.standing() == (taken.digest, True)


@pytest.mark.every(3)
@pytest.mark.parametrize("place", ["view", "view beneath", "function beneath"])
def test_a_protected_view_that_shows_something_else_is_closed(
    served: Served, pair: Servers, place: str
) -> None:
    honest = "SELECT id, patient, cost FROM public.visits"
    other = "SELECT patient AS id, id AS patient, cost FROM public.visits"
    made = "CREATE OR REPLACE VIEW public.{} AS {};"
    function = "CREATE OR REPLACE FUNCTION public.whose(int, int) RETURNS int LANGUAGE sql AS 'SELECT ${}';"
    by_function = "SELECT id, public.whose(id, patient) AS patient, cost FROM public.visits"
    first, second = {
        "view": (made.format("seen", honest), made.format("seen", other)),
        "view beneath": (
            made.format("inner_seen", honest)
            + made.format("seen", "SELECT * FROM public.inner_seen"),
            made.format("inner_seen", other),
        ),
        "function beneath": (
            function.format(2) + made.format("seen", by_function),
            function.format(1),
        ),
    }[place]
    beneath = "DROP VIEW IF EXISTS public.inner_seen; DROP FUNCTION IF EXISTS public.whose"
    with _added(served, pair, "VIEW public.seen", first, beneath) as owner:
        served.write(
            f"{TABLES}  public.seen:\n    unit: {{patient: patient}}\n    max_rows_per_unit: 4\n"
            "    columns: {cost: {bounds: [0, 100]}}\n"
        )
        assert served.value("SELECT count(*) FROM seen") is not None
        owner.execute(second.encode())
        served.database.look_for_changes()
        with pytest.raises(psycopg.Error, match="not what the policy was checked against"):
            served.value("SELECT count(*) FROM seen")


_ROW_SECURITY = "ALTER TABLE public.nights ENABLE ROW LEVEL SECURITY"
_ALL_ROWS = "CREATE POLICY own ON public.nights USING (public.is_open(patient))"
_ASKS_MEMBERSHIP = (
    "CREATE POLICY own ON public.nights"
    " USING (patient > 1 OR pg_has_role(current_user, 'night_owls', 'member'))"
)
_OF_A_ROLE = "CREATE POLICY owls ON public.nights AS RESTRICTIVE TO night_owls USING (patient > 1)"
_JOINS = f"GRANT night_owls TO {READER}"


@pytest.mark.every(18)
@pytest.mark.parametrize(
    ("before", "change"),
    [
        ("", _ROW_SECURITY),
        (f"{_ALL_ROWS}; {_ROW_SECURITY}", "DROP POLICY own ON public.nights"),
        (f"{_ALL_ROWS}; {_ROW_SECURITY}", "ALTER TABLE public.nights DISABLE ROW LEVEL SECURITY"),
        (
            f"{_ALL_ROWS}; {_ROW_SECURITY}",
            "ALTER POLICY own ON public.nights USING (1 / patient > -1)",
        ),
        (
            f"{_ALL_ROWS}; {_ROW_SECURITY}",
            "CREATE OR REPLACE FUNCTION public.is_open(int) RETURNS bool LANGUAGE sql"
            " AS 'SELECT NOT EXISTS (SELECT FROM public.visits WHERE patient = 7)'",
        ),
        (f"{_ASKS_MEMBERSHIP}; {_ROW_SECURITY}", _JOINS),
        (f"{_ALL_ROWS}; {_OF_A_ROLE}; {_ROW_SECURITY}", _JOINS),
        (
            f"GRANT night_owls TO day_owls; {_ALL_ROWS}; {_OF_A_ROLE}; {_ROW_SECURITY}",
            f"GRANT day_owls TO {READER}",
        ),
        (
            f"{_ALL_ROWS}; {_ROW_SECURITY}",
            "ALTER FUNCTION public.is_open(int) SET search_path = public",
        ),
    ],
    ids=[
        *[
            "on",
            "other policies",
            "off",
            "another condition",
            "function beneath",
            "asks membership",
        ],
        *["policy of a role", "through another role", "setting of a function"],
    ],
)
@pytest.mark.parametrize("seen", ["nights", "shown_nights"])
def test_row_security_that_asks_something_else_closes_its_table(
    served: Served, pair: Servers, before: str, change: str, seen: str
) -> None:
    """Its condition may raise on a row, or show rows of some people by those of others. Also below a view."""
    with psycopg.connect(pair.protected.dsn(NAME), autocommit=True) as owner:
        owner.execute(
            (
                "CREATE TABLE public.nights AS SELECT id, patient FROM public.visits;"
                "CREATE FUNCTION public.is_open(int) RETURNS bool LANGUAGE sql AS 'SELECT true';"
                "CREATE ROLE night_owls; CREATE ROLE day_owls;"
                f"{before};"
                "CREATE VIEW public.shown_nights AS SELECT * FROM public.nights;"
                f"GRANT SELECT ON public.nights, public.shown_nights TO {READER}"
            ).encode()
        )
        try:
            served.database.look_for_changes()
            table = f"  public.{seen}: {{unit: {{patient: patient}}, max_rows_per_unit: 4}}\n"
            served.write(f"{TABLES}{table}")
            assert served.value(f"SELECT count(*) FROM {seen}") is not None
            owner.execute(change.encode())
            served.database.look_for_changes()
            charged = len(served.receipts())
            with pytest.raises(psycopg.Error, match="not what the policy was checked against"):
                served.value(f"SELECT count(*) FROM {seen}")
            assert len(served.receipts()) == charged
        finally:
            owner.execute("DROP TABLE public.nights CASCADE; DROP FUNCTION public.is_open")
            owner.execute("DROP ROLE night_owls, day_owls")
            served.database.look_for_changes()


def test_a_column_of_a_public_table_that_comes_later_is_not_shown(
    served: Served, pair: Servers
) -> None:
    """Not by itself, nor after a restart, nor after another change of the file."""
    made = "CREATE TABLE public.floors (number int PRIMARY KEY)"
    with _added(served, pair, "TABLE public.floors", made) as owner:
        served.write(f"{TABLES}  public.floors: public\n")
        taken = served.database.policy
        assert served.standing() == (taken.digest, True)
        owner.execute("ALTER TABLE public.floors ADD remark text")
        with capture_logs() as logged:
            served.database.look_for_changes()
            served.look()
            served.write(f"{TABLES}  public.floors: public\n# another text\n")
        told = [one for one in logged if one["event"] == "policy_not_taken"]
        assert [one["reason"] for one in told] == ["columns of public tables came later"] * 2
        assert "shown it: remark" in told[0]["problems"][0]
        assert served.standing() == (taken.digest, False)
        with pytest.raises(errors.UndefinedColumn):
            served.value("SELECT remark FROM floors")
        lease = served.database.lease
        source = Source(lease.source, NAME, ())
        checked = load_policy(served.file, served.watch.environment)
        with pytest.raises(CliError, match=r"columns that it did not have .*: remark") as refused:
            refuse_new_columns(checked, lease.ledger_dsn, source)
        listed = re.search(r"public, new ones only if they are, too: (.*)", str(refused.value))
        assert listed is not None
        served.write(f"{TABLES}  public.floors: {listed[1]}\n")
        assert served.standing()[1] is True
        with pytest.raises(errors.UndefinedColumn):
            served.value("SELECT remark FROM floors")
        named = listed[1].replace("number: {}", "number: {}, remark: {}")
        served.write(f"{TABLES}  public.floors: {named}\n")
        assert served.value("SELECT count(remark) FROM floors") == 0
        served.write(f"{TABLES}  public.floors: public\n")
        assert served.standing()[1] is True, "it has been named"
        refuse_new_columns(
            load_policy(served.file, served.watch.environment), lease.ledger_dsn, source
        )


@pytest.mark.long
def test_a_column_that_is_made_anew_is_one_that_came_later(served: Served, pair: Servers) -> None:
    """Its name was shown, its contents were not. The line that the message tells is taken."""
    lease, database = served.database.lease, served.database
    source = Source(lease.source, NAME, ())
    made = (
        "CREATE TABLE public.levels (number int PRIMARY KEY, remark text, area int);"
        "INSERT INTO public.levels VALUES (1, 'low', 5)"
    )
    with _added(served, pair, "TABLE public.levels", made) as owner:
        served.write(f"{TABLES}  public.levels: public\n")
        assert served.value("SELECT remark FROM levels") == "low"
        for change in (
            "ALTER TABLE public.levels DROP area, ADD area int",
            "ALTER TABLE public.levels DROP remark; ALTER TABLE public.levels ADD remark text;"
            " UPDATE public.levels SET remark = 'p1@x.org'",
        ):
            owner.execute(change.encode())
            owner.execute(f"GRANT SELECT ON public.levels TO {READER}".encode())
            database.look_for_changes()
            served.look()
            assert served.standing()[1] is False
            database.refresh()
            assert served.value("SELECT remark FROM levels") == "low"
        checked = load_policy(served.file, served.watch.environment)
        with pytest.raises(CliError, match=r"dropped and added again.*: area, remark") as told:
            refuse_new_columns(checked, lease.ledger_dsn, source)
        listed = re.search(r"public, new ones only if they are, too: (.*)", str(told.value))
        assert listed is not None and "remark" not in listed[1]
        served.write(f"{TABLES}  public.levels: {listed[1]}\n")
        assert served.standing()[1] is True
        with pytest.raises(errors.UndefinedColumn):
            served.value("SELECT remark FROM levels")
        named = "{unit: public, columns: {number: {}, remark: {}, area: {}}}"
        served.write(f"{TABLES}  public.levels: {named}\n")
        assert served.value("SELECT remark FROM levels") == "p1@x.org"
        served.write(f"{TABLES}  public.levels: public\n")
        assert served.standing()[1] is True, "it has been named"


@pytest.mark.long
@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["stays", "seen_stays"])
def test_a_column_of_a_unit_that_is_made_anew_closes_its_table(
    served: Served, pair: Servers, name: str
) -> None:
    """Also a view that is created again over it. Then its owner says that it names the same people."""
    lease, database = served.database.lease, served.database
    source = Source(lease.source, NAME, ())
    view = (
        "CREATE VIEW public.seen_stays AS SELECT patient, cost FROM public.stays;"
        f"GRANT SELECT ON public.stays, public.seen_stays TO {READER};"
    )
    count = f"SELECT count(*) FROM {name}"
    made = (
        "CREATE TABLE public.stays (id int PRIMARY KEY, cost int, patient int);"
        "INSERT INTO public.stays SELECT i, 10, i % 500 FROM generate_series(1, 2000) i;"
    )
    with _added(served, pair, "TABLE public.stays", made + view) as owner:
        served.write(
            f"{TABLES}  public.{name}: {{unit: {{patient: patient}}, max_rows_per_unit: 4}}\n"
        )
        assert served.value(count) is not None
        owner.execute(
            (
                "ALTER TABLE public.stays DROP patient CASCADE;"
                "ALTER TABLE public.stays ADD patient int;"
                "UPDATE public.stays SET patient = id;" + view
            ).encode()
        )
        with capture_logs() as logged:
            for _ in range(2):
                database.look_for_changes()
                served.look()
                with pytest.raises(psycopg.Error, match="not what the policy was checked"):
                    served.value(count)
        assert "policy_taken" not in [one["event"] for one in logged]
        assert served.standing()[1] is False
        assert served.value("SELECT count(*) FROM visits") is not None, "no other is closed"
        checked = load_policy(served.file, served.watch.environment)
        with pytest.raises(CliError, match=r"dropped and added again.*: public\.stays\.patient"):
            refuse_new_columns(checked, lease.ledger_dsn, source)
        with psycopg.connect(lease.ledger_dsn) as ledger:
            UNIT_COLUMNS.forget_numbers(ledger, lease.source)
        refuse_new_columns(checked, lease.ledger_dsn, source)
        database.look_for_changes()
        served.look()
        assert served.standing()[1] is True
        assert served.value(count) is not None


@pytest.mark.long
def test_a_table_that_is_created_again_is_told_and_goes_on(served: Served, pair: Servers) -> None:
    """A restore or a load that replaces the table locks nobody out. Later columns of it count again."""
    made = (
        "CREATE TABLE public.storeys (number int PRIMARY KEY{});"
        f"GRANT SELECT ON public.storeys TO {READER}"
    )
    with _added(served, pair, "TABLE public.storeys", made.format(", remark text")) as owner:
        served.write(f"{TABLES}  public.storeys: public\n")
        # In a dump a dropped column leaves no number behind.
        owner.execute("DROP TABLE public.storeys")
        owner.execute(made.format(", gap int, remark text").encode())
        owner.execute("ALTER TABLE public.storeys DROP gap")
        with capture_logs() as logged:
            for _ in range(2):
                served.database.look_for_changes()
                served.look()
        assert served.standing()[1] is True
        (told,) = [one for one in logged if one["event"] == "public_tables_created_again"]
        assert told["tables"] == ["public.storeys"]
        owner.execute("ALTER TABLE public.storeys DROP remark")
        owner.execute("ALTER TABLE public.storeys ADD remark text")
        served.database.look_for_changes()
        served.look()
        assert served.standing()[1] is False


def test_the_log_says_the_same_once_within_a_few_seconds(served: Served) -> None:
    """The watch finds a bad file, and somebody asks for a reload at once."""
    served.file.write_text("nothing")
    served.watch.look(100.0)
    with capture_logs() as logged:
        served.watch.look(101.0)
        served.watch.look(101.2, at_once=True)
    assert [one["event"] for one in logged] == ["policy_not_taken"]
    with capture_logs() as logged:
        served.watch.look(120.0, at_once=True)
        served.file.write_text("nothing else")
        served.watch.look(120.1, at_once=True)
    assert [one["event"] for one in logged] == ["policy_not_taken"] * 2


def test_another_database_or_source_takes_a_start(served: Served) -> None:
    before = served.database.policy
    with capture_logs() as logged:
        served.write(**{f"database: {NAME}": "database: other"})
        served.write(**{"source: ${DSN}": "source: ${DSN} application_name=x"})
    assert served.database.policy is before
    reasons = [one["reason"] for one in logged if one["event"] == "policy_not_taken"]
    assert len(reasons) == 2 and all("a new start" in reason for reason in reasons)


@pytest.mark.long
def test_limits_change_with_the_policy(served: Served) -> None:
    served.value(_SUM)
    served.write(**{"default: {epsilon: 100000,": "default: {epsilon: 1.5,"})
    with served.connect() as connection, pytest.raises(errors.ConfigurationLimitExceeded):
        connection.execute(_SUM)
    served.write(**{"default: {epsilon: 100000,": "default: {epsilon: 3,"})
    served.value(_SUM)
    assert len(served.receipts()) == 2


@pytest.mark.long
def test_limits_of_tables_and_rho_change_with_the_policy(served: Served) -> None:
    served.value(_SUM)  # what was drawn before counts for a table that gets a limit
    head = policy_head(NAME, "best", _MOST)
    budgets = "budgets: {"
    assert head.count(budgets) == 1
    limit = f"{budgets}tables: {{public.visits: {{epsilon: 0.5, delta: 0}}}}, "
    served.put(head.replace(budgets, limit) + TABLES)
    assert served.standing() == (hashlib.sha256(served.file.read_bytes()).hexdigest(), True)
    with pytest.raises(psycopg.Error, match=r"public\.visits"):
        served.value(_SUM)
    served.put(f"accounting: zcdp\n{head}{TABLES}")
    assert served.standing() == (hashlib.sha256(served.file.read_bytes()).hexdigest(), True)
    served.value(_SUM)
    with psycopg.connect(served.database.lease.ledger_dsn) as ledger:
        rho = ledger.execute(
            "SELECT rho IS NOT NULL FROM ledger.allowance WHERE source = %s AND kind = 'total'",
            (served.database.lease.source,),
        ).fetchone()
    assert rho == (True,)
    assert len(served.receipts()) == 2


@pytest.mark.long
def test_statements_are_kept_from_the_policy_on_that_says_so(served: Served) -> None:
    served.value(_SUM)
    served.write(f"statements: encrypted\n{TABLES}")
    assert served.standing() == (hashlib.sha256(served.file.read_bytes()).hexdigest(), True)
    served.value(_SUM)
    with served.connect() as connection:
        kept = connection.execute("SELECT text FROM dp.history ORDER BY at").fetchall()
    assert kept == [(None,), (_SUM,)]


@pytest.mark.long
def test_shared_limits_wait_for_all_who_serve(served: Served) -> None:
    """One process alone changes no limits; the last that is given the new ones does."""
    lease, before = served.database.lease, served.database.policy
    other = BudgetLease(lease.ledger_dsn, lease.source, before)
    try:
        served.write(**{"default: {epsilon: 100000,": "default: {epsilon: 7,"})
        assert served.database.policy is before
        new = read_policy(served.file.read_text(), "", {"DSN": before.source})
        other.change(new)
        served.look()
        assert served.database.policy.digest == new.digest
        with pytest.raises(BudgetsAwaited):
            other.change(before)
        other.change(new)  # which takes the vote back
        served.write()  # the other one is not given it
        assert served.database.policy.digest == new.digest
        with pytest.raises(SourceError):
            BudgetLease(lease.ledger_dsn, lease.source, before)
    finally:
        other.close()
    served.look()  # the other one has ended
    assert served.database.policy.digest == before.digest


@pytest.mark.long
def test_a_statement_that_has_begun_ends_as_it_was_planned(served: Served) -> None:
    engine, before = served.database.engine, served.database.policy.digest
    question = asked(served.database, _SUM)
    served.write(**{"epsilon: 1,": "epsilon: 0.5,"})
    served.proxy.do(run_by(engine, question, (), {}, served.proxy.analyst))
    assert served.receipts() == [(before, 1.0, 0.0)]


def test_what_fails_half_way_changes_nothing(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = served.database.policy, served.database.catalog, served.database.engine
    adopt = served.database.shadow.adopt

    def failing(policy: Any, catalog: Any, old: Any, take: Any, rows: Any) -> None:
        def take_and_fail(*given: object) -> None:
            take(*given)
            raise ShadowError("the disk is full")

        adopt(policy, catalog, old, take_and_fail, rows)

    monkeypatch.setattr(served.database.shadow, "adopt", failing, raising=False)
    served.write(f"tables:\n{DOCTORS}", **{"default: {epsilon: 100000,": "default: {epsilon: 0.1,"})
    assert (served.database.policy, served.database.catalog, served.database.engine) == before
    served.value(_SUM)
    assert served.standing() == (before[0].digest, False)


@pytest.mark.long
def test_an_open_transaction_keeps_its_tables(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it ends; what changes no table does not wait for it."""
    monkeypatch.setattr(shadow_database, "_LOCK_TIMEOUT", "100ms")
    before = served.database.policy.digest
    with served.connect() as connection, connection.transaction():
        connection.execute("SELECT * FROM wards")
        connection.execute(_SUM)
        served.write(f"tables:\n{VISITS}{DOCTORS}")
        assert served.database.policy.digest == before
        connection.execute(_SUM)
        served.write(**{"bounds: [0, 100]": "bounds: [0, 50]"})
        between = served.database.policy.digest
        assert between != before
        connection.execute(_SUM)
    served.write(f"tables:\n{VISITS}{DOCTORS}")
    assert served.database.policy.digest not in (before, between)
    assert served.value("SELECT count(*) FROM doctors") is not None


@pytest.mark.long
def test_pauses_between_attempts_grow(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a change waits for a lock, statements of others wait behind it."""
    monkeypatch.setattr(shadow_database, "_LOCK_TIMEOUT", "20ms")
    attempts: list[float] = []
    adopt = Shadow.adopt

    def noted(self: Shadow, *given: Any) -> None:
        attempts.append(served.clock)
        adopt(self, *given)

    monkeypatch.setattr(Shadow, "adopt", noted)
    with served.connect() as connection, connection.transaction():
        connection.execute("SELECT * FROM wards")
        served.write(f"tables:\n{VISITS}{DOCTORS}")
        begun = served.clock
        for _ in range(20):
            served.clock += 0.5
            served.watch.look(served.clock)
            if len(attempts) >= 3:
                assert served.watch.logins.is_held, (
                    "who is ended for it is not back before it is taken"
                )
        # The third one insists; its pauses are short, since nobody comes in meanwhile.
        assert [one - begun for one in attempts] == [0, 1, *range(3, 11)]
    served.look()
    assert len(attempts) == 11 and served.standing()[1] is True
    assert not served.watch.logins.is_held


@pytest.mark.long
def test_logins_are_not_held_for_ever(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nothing ends keeps nobody out for ever; it begins anew later."""
    monkeypatch.setattr(shadow_database, "_LOCK_TIMEOUT", "20ms")
    monkeypatch.setattr(reloading, "INSISTING_SECONDS", 3.0)
    held: list[float] = []
    with served.connect() as connection, connection.transaction():
        connection.execute("SELECT * FROM wards")
        served.write(f"tables:\n{VISITS}{DOCTORS}")
        begun = served.clock
        for _ in range(38):
            served.clock += 1.0
            served.watch.look(served.clock)
            if served.watch.logins.is_held:
                held.append(served.clock - begun)
        assert held == [*range(3, 6), *range(36, 39)]
        served.file.write_text("tables: wrong")
        served.watch.look(served.clock, at_once=True)
        assert not served.watch.logins.is_held, "a file that is wrong waits for nobody"
    served.write(f"tables:\n{VISITS}{DOCTORS}")
    assert served.standing()[1] is True


def test_a_changed_catalogue_is_taken_up(served: Served, pair: Servers) -> None:
    with psycopg.connect(pair.protected.dsn(NAME), autocommit=True) as owner:
        owner.execute("ALTER TABLE public.visits ALTER COLUMN cost TYPE bigint")
        served.database.look_for_changes()
        with served.connect() as connection, pytest.raises(errors.SystemError):
            connection.execute(_SUM)
        served.look()
        assert abs(float(str(served.value(_SUM))) - 20_000) < 9_000
        owner.execute("ALTER TABLE public.visits RENAME COLUMN ward TO place")
        with capture_logs() as logged:
            for _ in range(3):
                served.database.look_for_changes()
                served.look()
        told = [one for one in logged if one["event"] == "policy_not_taken"]
        assert len(told) == 1 and "no column 'ward'" in told[0]["problems"][0]
        assert served.standing()[1] is False
        owner.execute("ALTER TABLE public.visits RENAME COLUMN place TO ward")
        served.database.look_for_changes()
        served.look()
        assert served.standing()[1] is True
        served.value(_SUM)


@pytest.mark.long
def test_a_table_that_appears_later_is_taken_up(served: Served, pair: Servers) -> None:
    """By the next look at the catalogue, of which there is one each minute."""
    served.write(TABLES + DOCTORS.replace("doctors", "nurses"))
    assert "nurses" in served.watch.refusal and served.standing()[1] is False
    with psycopg.connect(pair.protected.dsn(NAME), autocommit=True) as owner:
        owner.execute("CREATE TABLE public.nurses (id int PRIMARY KEY, age int)")
        owner.execute("INSERT INTO public.nurses SELECT i, 40 FROM generate_series(1, 300) i")
        owner.execute(f"GRANT SELECT ON public.nurses TO {READER}".encode())
        served.database.look_for_changes()
        served.look()
        assert abs(float(str(served.value("SELECT count(*) FROM nurses"))) - 300) < 100
        owner.execute("DROP TABLE public.nurses")


_BY_WARD = """\
publish:
  - {name: by_ward, sql: "SELECT name, count(*) AS visits FROM public.visits v JOIN public.wards w
      ON w.name = v.ward GROUP BY name", every: 24h, epsilon: 1}
"""
_REFERRING = TABLES.replace(
    "ward: {values: [north, south]}", "ward: {references: public.wards.name}"
)


def _beside_the_loop(act: Callable[[], None]) -> None:
    """As `serve` looks: in a thread of a pool."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(act).result()


def _is_publishing(served: Served) -> bool:
    return served.database.publishing is not None


@pytest.mark.long
def test_what_is_published_changes_while_serving(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    _beside_the_loop(lambda: served.write(_REFERRING + _BY_WARD))
    assert served.standing() == (hashlib.sha256(served.file.read_bytes()).hexdigest(), True)
    assert _is_publishing(served)
    taken = served.database.policy
    wrong = _BY_WARD.replace("count(*)", "counted(*)")
    limits: list[Policy] = []
    with capture_logs() as logged, monkeypatch.context() as patch:
        patch.setattr(BudgetLease, "change", lambda _, policy: limits.append(policy))
        _beside_the_loop(lambda: served.write(_REFERRING + wrong))
    assert served.database.policy is taken
    assert limits == [taken], "limits are never those of a policy that is refused"
    assert served.standing() == (taken.digest, False)
    (told,) = [one for one in logged if one["event"] == "policy_not_taken"]
    assert told["reason"] == "1 error in the file"
    assert "cannot be published" in told["problems"][0] and "counted" not in str(logged)
    for old, new, reason in (
        ("count(*)", "count(statez)", 'there is no column "statez" in the policy of this table'),
        ("GROUP BY", "WHERE ward = 'statez' GROUP BY", "dpproxy policy check says why"),
    ):
        unknown = _BY_WARD.replace("count(*)", "count(statez)").replace(old, new)
        with capture_logs() as logged:
            _beside_the_loop(partial(served.write, _REFERRING + unknown))
        (told,) = [one for one in logged if one["event"] == "policy_not_taken"]
        assert told["problems"][0].endswith(f"it cannot be published: {reason}")
    _beside_the_loop(served.write)
    assert served.standing()[1] is True and not _is_publishing(served)


@pytest.mark.long
def test_a_policy_that_cannot_be_looked_at_says_so(served: Served, pair: Servers) -> None:
    """It is tried again, and taken when it can be."""
    before = served.database.policy.digest
    with psycopg.connect(pair.protected.dsn(NAME), autocommit=True) as owner:
        owner.execute(f"ALTER ROLE {READER} NOLOGIN".encode())
        with capture_logs() as logged:
            served.write(_REFERRING + _BY_WARD)
        owner.execute(f"ALTER ROLE {READER} LOGIN".encode())
    (told,) = [one for one in logged if one["event"] == "policy_not_taken"]
    assert "cannot be reached" in told["reason"] and served.watch.refusal == told["reason"]
    assert served.standing() == (before, False)
    served.look()
    assert served.standing() == (hashlib.sha256(served.file.read_bytes()).hexdigest(), True)


@pytest.mark.long
def test_a_look_that_fails_says_so_everywhere(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = served.database.policy.digest
    policy = CheckedPolicy(served.database.policy, served.database.catalog, file=str(served.file))
    reloads = PolicyReloads([served.database], [policy], served.watch.environment)

    def reload() -> Mapping[str, Any]:
        (found,) = asyncio.run(reloads.reload())["policies"]
        return dict(found)

    assert reload() == {"database": NAME, "digest": before, "not_taken": None}
    readiness = [reloads.are_taken]
    text = served.file.read_text()
    for of, broken, what in (
        (reloading, "load_policy", "looked at"),
        (Database, "_adopt", "put in force"),
        (Database, "look_for_changes", "looked at"),
    ):
        with monkeypatch.context() as patch, capture_logs() as logged:
            patch.setattr(Database, "look_for_changes", _nothing)
            patch.setattr(of, broken, _fails)
            served.file.write_text(f"{text}# {broken}\n{_BY_WARD}".replace(TABLES, _REFERRING))
            told = reload()
        # The catalogue is looked at last, under the policy that was just taken.
        is_taken = broken == "look_for_changes"
        now = hashlib.sha256(served.file.read_bytes()).hexdigest() if is_taken else before
        assert told["digest"] == now
        assert told["not_taken"] == f"it could not be {what} (ZeroDivisionError: other)", broken
        readiness.append(reloads.are_taken)
        assert served.standing() == (now, False)
        (line,) = [one for one in logged if one["event"] == "policy_not_taken"]
        assert line["reason"] == told["not_taken"] and "Meyer" not in str(logged)
    after = reload()
    assert after["not_taken"] is None and after["digest"] != before
    assert [*readiness, reloads.are_taken] == [True, False, False, False, True]
    assert served.standing() == (after["digest"], True)


def _nothing(*_: object) -> None:
    """Finds no change."""


def _fails(*_: object) -> NoReturn:
    raise ZeroDivisionError("a row of Meyer's")


@pytest.mark.long
def test_each_charge_is_of_the_policy_that_it_names(served: Served) -> None:
    """Questions without a pause while policies change: one spends delta, the other does not."""
    stop, failed = threading.Event(), []

    def ask() -> None:
        try:
            with served.connect() as connection:
                while not stop.is_set():
                    with contextlib.suppress(errors.FeatureNotSupported):
                        connection.execute("SELECT count(*) FROM visits", prepare=True)
        except Exception as error:
            failed.append(error)

    asking = [threading.Thread(target=ask) for _ in range(3)]
    for thread in asking:
        thread.start()
    delta: dict[str, bool] = {served.database.policy.digest: False}
    for number in range(8):
        gaussian = number % 2 == 0
        noise = {"mechanism: best": "mechanism: best, noise: gaussian"} if gaussian else {}
        served.write(f"{TABLES}{DOCTORS if number % 4 > 1 else ''}# {number}\n", **noise)
        delta[served.database.policy.digest] = gaussian
    stop.set()
    for thread in asking:
        thread.join(60)
    assert failed == []
    receipts = served.receipts()
    assert len(delta) == 9 and len({digest for digest, *_ in receipts}) >= 4
    assert all((spent > 0) is delta[digest] for digest, _, spent in receipts)


_PUBLISHED = """\
publish:
  - {name: costs, sql: "SELECT ward, sum(cost) AS cost FROM visits GROUP BY ward", every: 24h, epsilon: 2}
"""


@pytest.mark.long
def test_published_tables_come_and_go_with_the_policy(served: Served) -> None:
    served.write(f"{_PUBLISHED}{TABLES}")
    publishing = served.database.publishing
    assert publishing is not None
    served.proxy.do(publishing.release_due())
    served.proxy.do(publishing.show())
    with served.connect() as connection:
        before = connection.execute("SELECT * FROM published.costs ORDER BY ward").fetchall()
        assert [row[0] for row in before] == ["north", "south"]
        in_force = served.database.policy.digest
        served.write(f"{_PUBLISHED.replace('sum(cost)', 'sum(price)')}{TABLES}")
        assert served.database.policy.digest == in_force, "what cannot be released is not taken"
        assert served.watch.refusal.startswith("1 error in the file: 7:24: it cannot be")
        more = DOCTORS + _PUBLISHED.replace("every: 24h", "every: 12h")
        served.write(f"tables:\n{VISITS}  public.wards: public\n{more}")
        assert served.database.publishing is not publishing
        found = connection.execute("SELECT * FROM published.costs ORDER BY ward").fetchall()
        assert found == before, "shown on, though the schema was made anew"
        served.write()
        with pytest.raises(errors.UndefinedTable):
            connection.execute("SELECT * FROM published.costs")
        served.proxy.do(publishing.show())  # of the policy before: it has begun
        with pytest.raises(errors.UndefinedTable):
            connection.execute("SELECT * FROM published.costs")
    assert served.database.publishing is None
    assert served.database.shadow.verify() == ()


_COSTS = "SELECT ward, sum(cost) AS cost FROM visits GROUP BY ward ORDER BY ward"


@pytest.mark.long
def test_what_is_published_answers_on_where_it_is_the_same(served: Served) -> None:
    """Also between a change and the next look at what is published, which is up to a second later."""
    published = f"{_PUBLISHED}{TABLES}"
    served.write(published)
    publishing = _publishing_of(served)
    served.proxy.do(publishing.release_due())
    served.proxy.do(publishing.show())
    with served.connect() as connection:
        connection.execute("SET dp.epsilon = 2")

        def is_charged() -> bool:
            before = len(served.receipts())
            rows = connection.execute(_COSTS).fetchall()
            assert (rows == released) is (len(served.receipts()) == before)
            return rows != released

        released = connection.execute(
            "SELECT ward, cost FROM published.costs ORDER BY 1"
        ).fetchall()
        assert not is_charged()
        larger = {"max_rows_per_unit: 4": "max_rows_per_unit: 4\n    min_units_per_group: 3"}
        for tables, changed, is_free in (
            (f"{published}{DOCTORS}", {}, True),  # the shadow is made anew
            (published, {"bounds: [0, 100]": "bounds: [0, 50]"}, False),
            (published, {"max_epsilon: 2": "max_epsilon: 3"}, True),
            (published, larger, False),
        ):
            served.write(tables, **changed)
            assert is_charged() is not is_free, changed


def _publishing_of(served: Served) -> Publishing:
    publishing = served.database.publishing
    assert publishing is not None
    return publishing


def _errors_of(client: RawClient, sent: bytes) -> list[str]:
    client.send(sent, f.query(b""))
    heard = [*client.until(b"I"), *client.until_ready()]
    reports = [dict(f.decode_report(payload)) for tag, payload in heard if tag == b"E"]
    return [report[b"C"].decode() for report in reports]


@pytest.mark.every(12)
@pytest.mark.parametrize("changed", CHANGED_POLICIES)
def test_what_is_held_is_answered_under_the_new_policy_or_refused(
    served: Served, changed: str
) -> None:
    """Whichever way it is held: at the new policy's price, or free of charge and never as a fault."""
    tables, replaced, refused = CHANGED_POLICIES[changed]
    with contextlib.ExitStack() as open_ones:
        held = {}
        for name, form in HELD_FORMS.items():
            client = open_ones.enter_context(RawClient(served.proxy.dsn(NAME)))
            before, after = form(JOINED)
            assert _errors_of(client, f.query(b"SET dp.epsilon = 2") + before) == []
            held[name] = client, after
        served.write(tables, **replaced)
        for name, (client, after) in held.items():
            charged = len(served.receipts())
            found = _errors_of(client, after)
            receipts = served.receipts()[charged:]
            if refused:
                assert len(found) == 1 and found[0] in refused, (name, found)
                assert receipts == [], name
            else:
                assert found == [], name
                assert [one[:2] for one in receipts] == [(served.database.policy.digest, 2.0)]


_IN_WARDS = "SELECT count(*) FROM visits WHERE ward IN (SELECT name FROM wards WHERE name > 'a')"
_OF_WARDS = "SELECT w.name, count(*) FROM visits v JOIN wards w ON w.name = v.ward GROUP BY 1"


@pytest.mark.long
def test_rows_of_a_public_table_concern_what_reads_it_alone(served: Served, pair: Servers) -> None:
    """They are copied each hour. What is kept or published of other tables answers on."""
    served.write(with_chosen_slots(f"reuse: 24h\n{_PUBLISHED}{TABLES}"))
    publishing = _publishing_of(served)
    served.proxy.do(publishing.release_due())
    served.proxy.do(publishing.show())
    with (
        served.connect() as connection,
        psycopg.connect(pair.protected.dsn(NAME), autocommit=True) as owner,
    ):

        def charged() -> list[int]:
            found = []
            for question in ("SELECT count(*) FROM visits", _COSTS, _IN_WARDS, _OF_WARDS):
                before = len(served.receipts())
                connection.execute(question.encode())
                found.append(len(served.receipts()) - before)
            return found

        assert charged() == [1, 0, 1, 1]
        assert charged() == [0, 0, 0, 0]
        owner.execute("INSERT INTO public.wards VALUES ('west')")
        try:
            served.database.refresh()
            assert charged() == [0, 0, 1, 1]
            served.proxy.do(publishing.show())
            assert charged() == [0, 0, 0, 0]
        finally:
            owner.execute("DELETE FROM public.wards WHERE name = 'west'")
            served.database.refresh()


class _Gate:
    """Where the first statement that comes stops until it may go on."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    async def stop(self) -> None:
        if not self.reached.is_set():
            self.reached.set()
            await asyncio.to_thread(self.opened.wait, 120)


_Stop = Callable[[Served], contextlib.AbstractContextManager[Callable[[], int]]]


def _stopped(kind: type, method: str, *, is_after: bool = False) -> _Stop:
    """Stop before a coroutine, or after it. Gives how many statements have come there."""

    @contextlib.contextmanager
    def held(_: Served) -> Iterator[Callable[[], int]]:
        gate, original = _Gate(), getattr(kind, method)

        async def run(*given: Any, **more: Any) -> Any:
            if not is_after:
                await gate.stop()
            found = await original(*given, **more)
            if is_after:
                await gate.stop()
            return found

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kind, method, run)
            try:
                yield lambda: int(gate.reached.is_set())
            finally:
                gate.opened.set()

    return held


def _locked(table: str, dsn_of: Callable[[Served], str]) -> _Stop:
    """Stop where a server waits for the lock of a table. Gives how many wait: the reload can be one of them."""

    @contextlib.contextmanager
    def held(served: Served) -> Iterator[Callable[[], int]]:
        served.proxy.when_settled(served.proxy.analyst)
        dsn = dsn_of(served)
        with psycopg.connect(dsn) as holder, psycopg.connect(dsn, autocommit=True) as looking:
            holder.execute(f"LOCK TABLE {table}".encode())
            yield lambda: _waiting(looking)

    return held


def _waiting(looking: psycopg.Connection) -> int:
    row = looking.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND wait_event_type = 'Lock'"
    ).fetchone()
    assert row is not None
    return int(row[0])


_STOPS = {
    "read": _stopped(Engine, "run"),
    "planned": _stopped(ChargedQueries, "run"),
    "charged": _locked(
        "ledger.receipt IN EXCLUSIVE MODE", lambda served: served.database.lease.ledger_dsn
    ),
    "waiting": _locked("public.visits", lambda served: served.proxy.servers.protected.dsn(NAME)),
    "drawn": _stopped(DatabaseSession, "run", is_after=True),
    "answered": _stopped(ChargedQueries, "run", is_after=True),
}

_GAUSSIAN = {"mechanism: best": "mechanism: best, noise: gaussian"}
# The policies that come while a statement is stopped.
_RELOADS: dict[str, tuple[str, Mapping[str, str]]] = {
    "narrower": (TABLES, {"bounds: [0, 100]": "bounds: [0, 5]", **_GAUSSIAN}),
    "reused": (f"reuse: 24h\n{TABLES}", {"bounds: [0, 100]": "bounds: [0, 5]", **_GAUSSIAN}),
    "no table": (f"tables:\n{DOCTORS}  public.wards: public\n", _GAUSSIAN),
    "less epsilon": (TABLES, {"max_epsilon: 2": "max_epsilon: 1", **_GAUSSIAN}),
    "no budget": (TABLES, {"default: {epsilon: 100000,": "default: {epsilon: 1,", **_GAUSSIAN}),
}


def _has_other_policy(served: Served, digest: str) -> bool:
    served.look()
    return served.database.policy.digest != digest


@pytest.mark.every(34)
@pytest.mark.parametrize("stop", _STOPS)
@pytest.mark.parametrize("name", _RELOADS)
def test_a_policy_that_comes_in_the_middle_of_a_statement(
    served: Served, name: str, stop: str
) -> None:
    """It is taken, or it waits. What has begun is answered and charged under the one that it began with, or
    refused. Once the new one is taken, statements that begin are under it."""
    tables, replaced = _RELOADS[name]
    question = f"SELECT sum(cost) FROM visits WHERE cost > -{1 + [*_STOPS].index(stop)}"
    if "reuse" in tables:
        tables = with_chosen_slots(tables)
        served.write(tables)
    before = served.database.policy.digest

    def ask(connection: psycopg.Connection) -> str | None:
        """Under which policy it is answered: by its receipt, its price and its bounds. None: it is refused."""
        charged = len(served.receipts())
        try:
            row = connection.execute(question.encode()).fetchone()
        except psycopg.Error as error:
            assert error.sqlstate in ("42P01", "22023", "53400"), error
            row = None
        receipts = served.receipts()[charged:]
        if row is None:
            assert receipts == []
            return None
        ((digest, epsilon, delta),) = receipts
        assert (epsilon, delta > 0) == (2, digest != before)
        expected = 20_000 if digest == before else 10_000
        assert abs(float(row[0]) - expected) < 4_000, (row, receipts)
        return digest

    with (
        served.connect() as connection,
        served.connect() as other,
        ThreadPoolExecutor(2) as pool,
    ):
        for one in (connection, other):
            one.execute("SET dp.epsilon = 2")
        with _STOPS[stop](served) as stopped:
            asked = pool.submit(ask, connection)
            until(lambda: stopped() == 1)
            changed = pool.submit(served.write, tables, **replaced)
            until(lambda: changed.done() or stopped() == 2)
            is_taken = served.database.policy.digest != before
        first = asked.result(60)
        changed.result(60)
        assert first == before or (first is None and name == "no budget" and is_taken)
        until(lambda: _has_other_policy(served, before))
        for one in (connection, other):
            is_answered = name in ("narrower", "reused")
            assert ask(one) == (served.database.policy.digest if is_answered else None)
            assert is_answered or ask(other) is None
            if name == "reused":
                break  # the answer is kept
