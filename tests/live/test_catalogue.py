"""What tools read in the catalogue is what the source has: enumerations, checks, defaults, views."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from proxy.cli.assembly import Database
from tests.live.catalogue_statements import DESCRIBED, ENUMERATIONS, SCRIPT, TABLES
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers.http.both_listeners import open_http
from tests.servers_fixture import servers
from tests.unjudged_rows import unjudged


@pytest.fixture(scope="module")
def catalogue() -> Iterator[LiveProxy]:
    database = served_database(servers(), "cat", SCRIPT, TABLES, "auto", most="100")
    proxy = start_proxy(servers(), [database])
    yield proxy
    proxy.stop()


@pytest.fixture
def asked(catalogue: LiveProxy) -> Iterator[psycopg.Connection]:
    with catalogue.connect("cat", analyst=catalogue.servers.new_analyst()) as connection:
        connection.execute("SET dp.epsilon = 100")
        yield connection


@pytest.fixture
def direct(catalogue: LiveProxy) -> Iterator[psycopg.Connection]:
    with psycopg.connect(catalogue.servers.protected.dsn("cat"), autocommit=True) as connection:
        connection.execute("SET search_path = cat")
        yield connection


def _alike(through: list[tuple[object, ...]], past: list[tuple[object, ...]]) -> bool:
    """Groups in their order, and numbers but for the noise of epsilon 100."""
    return len(through) == len(past) and all(
        a == b or (isinstance(a, int) and isinstance(b, int) and abs(a - b) < 10)
        for row, other in zip(through, past, strict=True)
        for a, b in zip(row, other, strict=True)
    )


@pytest.mark.every(4)
@pytest.mark.parametrize("text", ENUMERATIONS)
def test_enumerations_as_in_postgresql(
    text: str, asked: psycopg.Connection, direct: psycopg.Connection
) -> None:
    through, past = asked.execute(text.encode()), direct.execute(text.encode())
    assert [c.name for c in through.description or ()] == [c.name for c in past.description or ()]
    types = "SELECT format_type(%s::oid, NULL)"
    for here, there in zip(through.description or (), past.description or (), strict=True):
        wanted = direct.execute(types, (there.type_code,)).fetchone()
        assert asked.execute(types, (here.type_code,)).fetchone() == wanted
    rows, wanted_rows = through.fetchall(), past.fetchall()
    assert _alike(rows, wanted_rows), (rows, wanted_rows)


def test_labels_as_parameters(asked: psycopg.Connection, direct: psycopg.Connection) -> None:
    for text, given in (
        ("SELECT count(*) FROM cat.boxes WHERE size = %s", "medium"),
        ("SELECT count(*) FROM cat.boxes WHERE size = ANY(%s)", ["medium", "large"]),
        ('SELECT count(*) FROM cat.boxes WHERE size = CAST(%s AS "Odd types"."Größe")', "large"),
    ):
        for binary in (False, True):
            past = direct.execute(text, (given,), prepare=True, binary=binary).fetchall()
            assert _alike(
                asked.execute(text, (given,), prepare=True, binary=binary).fetchall(), past
            )
    for connection in (asked, direct):
        connection.execute("PREPARE q AS SELECT count(*) FROM cat.boxes WHERE size = $1")
    past = direct.execute("EXECUTE q('medium')").fetchall()
    assert _alike(asked.execute("EXECUTE q('medium')").fetchall(), past)
    assert past[0][0] == 800


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT count(*) FROM cat.boxes WHERE size = 'huge'", "invalid input value for enum"),
        ("SELECT count(*) FROM cat.boxes WHERE size LIKE 'm%'", "operator does not exist"),
        ("SELECT count(*) FROM cat.boxes WHERE size < other", "with constants only"),
        ("SELECT coalesce(size, 'small'), count(*) FROM cat.boxes GROUP BY 1", "several labels"),
        ("SELECT greatest(size, other), count(*) FROM cat.boxes GROUP BY 1", "several labels"),
        ("SELECT min(size) FROM cat.boxes", "min"),
    ],
)
def test_refused(text: str, reason: str, asked: psycopg.Connection) -> None:
    with pytest.raises(psycopg.Error, match=reason):
        asked.execute(text.encode())


def test_labels_are_listed_where_they_are_public(catalogue: LiveProxy) -> None:
    found = catalogue.psql(r'\dT+ "Odd types".*', database="cat")
    assert found.index("small") < found.index("medium") < found.index("large")
    assert 'size|"Odd types"."Größe"|' in catalogue.psql(r"\d cat.boxes", database="cat")


def test_labels_that_are_not_public_are_nowhere(asked: psycopg.Connection) -> None:
    assert asked.execute("SELECT count(*) FROM pg_enum WHERE enumlabel ~ 'SECRET'").fetchone() == (
        0,
    )
    assert asked.execute("SELECT to_regtype('cat.hidden')").fetchone() == (None,)
    ((kind,),) = asked.execute("SELECT data_type FROM dp.columns WHERE column_name = 'secret'")
    assert kind == "text"


def test_public_tables_as_in_postgresql(
    asked: psycopg.Connection, direct: psycopg.Connection
) -> None:
    for text in DESCRIBED:
        wanted = direct.execute(text.encode()).fetchall()
        wanted = [row if row[0] != "spied" else (*row[:3], None, *row[4:]) for row in wanted]
        assert asked.execute(text.encode()).fetchall() == wanted


def test_checks_are_those_that_run_no_code(
    asked: psycopg.Connection, direct: psycopg.Connection
) -> None:
    text = (
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE conrelid = 'cat.parts'::regclass AND contype = 'c'"
    )
    through, past = (
        dict[str, str](connection.execute(text.encode()).fetchall())
        for connection in (asked, direct)
    )
    left_out = [name for name in past if name not in through]
    assert sorted(left_out) == ["parts_code_check1", "parts_kind_check1", "pattern"]
    assert through["Not free"] == past["Not free"]
    assert through["parts_made_check"] == past["parts_made_check"]
    assert "'a'::text, 'b''c'::text" in through["parts_kind_check"]
    assert asked.execute("SELECT to_regproc('cat.spy')").fetchone() == (None,)


def test_protected_tables_keep_references_alone(asked: psycopg.Connection) -> None:
    found = asked.execute(
        "SELECT contype, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE conrelid = 'cat.boxes'::regclass AND contype <> 'n' ORDER BY 1, 2"
    ).fetchall()
    assert found == [("f", "FOREIGN KEY (part) REFERENCES parts(id)")]
    text = "SELECT count(*) FROM pg_attrdef WHERE adrelid = 'cat.boxes'::regclass"
    assert asked.execute(text).fetchone() == (0,)


def _refresh(catalogue: LiveProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the verdict: this policy is odd on purpose."""
    with monkeypatch.context() as patch:
        patch.setattr(Database, "_judged", lambda self: unjudged(self.policy))
        catalogue.assembly.databases["cat"].refresh()


def test_a_check_that_the_source_drops(
    catalogue: LiveProxy,
    asked: psycopg.Connection,
    direct: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows that it forbade come all the same."""
    text = "SELECT count(*) FROM cat.parts"
    direct.execute('ALTER TABLE cat.parts DROP CONSTRAINT "Not free"')
    direct.execute("INSERT INTO cat.parts (code, price) VALUES ('four', -1)")
    _refresh(catalogue, monkeypatch)
    assert asked.execute(text).fetchone() == (4,)


def test_relations_of_dp_and_their_functions_say_what_they_are(
    asked: psycopg.Connection,
) -> None:
    """As `\\d+` and tools read them: each that an analyst may use has a comment."""
    rows = asked.execute(
        "SELECT c.relname, obj_description(c.oid, 'pg_class') FROM pg_class c"
        " WHERE c.relnamespace = 'dp'::regnamespace AND has_table_privilege(c.oid, 'SELECT')"
        " UNION ALL SELECT p.proname, obj_description(p.oid, 'pg_proc') FROM pg_proc p"
        " WHERE p.pronamespace = 'dp'::regnamespace AND p.proname IN ('error', 'low', 'high', 'clipped')"
    ).fetchall()
    described: dict[str, str | None] = dict(rows)
    assert {"columns", "budget", "history", "status", "policy", "error"} <= set(described)
    assert all(described.values()), described
    ((about,),) = asked.execute(
        "SELECT col_description('dp.columns'::regclass, ordinal_position::int) FROM information_schema.columns"
        " WHERE table_schema = 'dp' AND table_name = 'columns' AND column_name = 'usable_for'"
    )
    assert about == "Clauses and aggregates that the column is allowed in."


VIEW = 'cat."cheap Parts"'


def test_views_are_views(asked: psycopg.Connection, direct: psycopg.Connection) -> None:
    for text in (
        "SELECT table_name FROM information_schema.views WHERE table_schema = 'cat'",
        "SELECT table_type FROM information_schema.tables WHERE table_name = 'cheap Parts'",
        "SELECT column_name, data_type, is_nullable FROM information_schema.columns"
        " WHERE table_name = 'cheap Parts' ORDER BY ordinal_position",
        f"SELECT relkind, obj_description(oid) FROM pg_class WHERE oid = '{VIEW}'::regclass",
        f"SELECT col_description('{VIEW}'::regclass, 3)",
        f'SELECT "Code", size FROM {VIEW} WHERE id = 1',
        f"SELECT count(*) FROM cat.boxes WHERE part IN (SELECT id FROM {VIEW})",
        f"SELECT count(*) FROM cat.boxes WHERE part = (SELECT id FROM {VIEW} WHERE \"Code\" = 'one')",
    ):
        rows, wanted = (
            asked.execute(text.encode()).fetchall(),
            direct.execute(text.encode()).fetchall(),
        )
        assert _alike(rows, wanted) and wanted, (text, rows)


def test_nothing_of_what_defines_a_view(asked: psycopg.Connection) -> None:
    text = f"SELECT pg_get_viewdef('{VIEW}'::regclass)"
    ((definition,),) = asked.execute(text.encode())
    assert "SECRET" not in str(definition) and "price" not in str(definition)
    for refused in (
        'SELECT * FROM pg_dp_rows."cat.cheap Parts"',
        f"INSERT INTO {VIEW} (id) VALUES (9)",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            asked.execute(refused.encode())


def test_views_are_copied_again(
    catalogue: LiveProxy,
    asked: psycopg.Connection,
    direct: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = f"SELECT count(*) FROM {VIEW}"
    before = asked.execute(text.encode()).fetchone()
    direct.execute("UPDATE cat.parts SET price = 1 WHERE code = 'three'")
    _refresh(catalogue, monkeypatch)
    assert before is not None
    assert asked.execute(text.encode()).fetchone() == (before[0] + 1,)


@pytest.mark.every(5)
@pytest.mark.parametrize(
    "text",
    [r"\l", r"\l+", r"\du", r"\dn", r"\dt+ cat.*", r"\d cat.parts", r"\d+ cat.boxes", r"\df", r"\df dp.*",
     r"\dv cat.*", r"\dT", r"\dT+ cat.*", r"\dO", r"\dO+ pg_catalog.*", r"\di+ cat.*", r"\ds cat.*",
     r"\dp cat.*"],
)  # fmt: skip
def test_psql_of_any_age(text: str, catalogue: LiveProxy) -> None:
    said = catalogue.psql(text, database="cat")
    assert said and "ERROR" not in said, said


# Of PostgreSQL 15 and 16; 17 has renamed the columns.
_OLD_COLUMNS = (
    "SELECT d.daticulocale FROM pg_catalog.pg_database d WHERE d.datname = 'cat'",
    "SELECT count(c.colliculocale) > 0, count(*) FILTER (WHERE c.colliculocale IS NULL) > 0"
    " FROM pg_catalog.pg_collation c",
)


@pytest.mark.parametrize("text", _OLD_COLUMNS)
def test_columns_that_older_tools_name(text: str, asked: psycopg.Connection) -> None:
    if asked.info.server_version < 150_000:
        pytest.skip("PostgreSQL 14 has no such columns")
    assert asked.execute(text.encode()).fetchone() in ((None,), (True, True))
    with pytest.raises(psycopg.errors.UndefinedColumn):
        asked.execute("SELECT nosuch FROM pg_catalog.pg_database")


def test_comments_say_how_a_table_is_protected(catalogue: LiveProxy) -> None:
    assert "For WHERE, GROUP BY, COUNT" in catalogue.psql(r"\d+ cat.boxes", database="cat")
    assert "hides all rows of any one owner" in catalogue.psql(r"\dt+ cat.boxes", database="cat")


def test_what_columns_are_usable_for(asked: psycopg.Connection) -> None:
    rows = asked.execute(
        "SELECT column_name, data_type, usable_for FROM dp.columns WHERE table_name = 'cat.boxes'"
    )
    found = {name: (kind, uses) for name, kind, uses in rows}
    uses = "WHERE, GROUP BY, COUNT, COUNT(DISTINCT)"
    assert found["size"] == found["other"] == ('"Odd types"."Größe"', uses)
    assert found["secret"] == ("text", uses.replace("GROUP BY", "GROUP BY (values that many have)"))


def test_over_http(catalogue: LiveProxy) -> None:
    listeners = open_http(catalogue)
    try:
        text = "SELECT size, count(*) FROM cat.boxes WHERE size = $1 GROUP BY 1"
        answer = listeners.query(text, "medium", database="cat", epsilon=100)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert body["columns"][0] == {"name": "size", "type": '"Odd types"."Größe"'}
        assert body["rows"][0][0] == "medium" and abs(int(body["rows"][0][1]) - 800) < 10
    finally:
        listeners.close()


def test_keys_are_the_labels_that_the_policy_lists(asked: psycopg.Connection) -> None:
    """What is no label, though the policy lists it, is no group: the shadow's type could not hold it."""
    rows = asked.execute("SELECT other, count(*) FROM cat.boxes GROUP BY 1 ORDER BY 1").fetchall()
    assert [key for key, _ in rows] == ["small", "large", 'it\'s "odd"']


def test_labels_that_become_others(
    catalogue: LiveProxy, asked: psycopg.Connection, direct: psycopg.Connection
) -> None:
    database = catalogue.assembly.databases["cat"]
    text = "SELECT count(*) FROM cat.boxes WHERE size = 'large'"
    renamed = 'ALTER TYPE "Odd types"."Größe" RENAME VALUE %s TO %s'
    database.look_for_changes()
    assert asked.execute(text).fetchone() is not None
    for was, becomes in (("large", "huge"), ("huge", "large")):
        direct.execute(renamed % (f"'{was}'", f"'{becomes}'"))
        database.look_for_changes()
        if becomes == "large":
            assert asked.execute(text).fetchone() is not None
            continue
        with pytest.raises(psycopg.Error, match=r"cat\.boxes"):
            asked.execute(text)
