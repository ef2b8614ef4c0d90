"""What a client holds of a statement while the policy changes, and how it ends: a table of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from proxy.pgwire import frames as f

NAME = "reloaded"
SCRIPT = """\
CREATE TABLE public.visits (id int PRIMARY KEY, patient int NOT NULL, cost int NOT NULL, ward text NOT NULL);
CREATE TABLE public.beds (number int, patient int);
CREATE TABLE public.wards (name text PRIMARY KEY);
CREATE TABLE public.doctors (id int PRIMARY KEY, age int);
INSERT INTO public.wards VALUES ('north'), ('south');
INSERT INTO public.visits SELECT i, i % 500, 10, CASE WHEN i % 2 = 0 THEN 'north' ELSE 'south' END
    FROM generate_series(1, 2000) i;
INSERT INTO public.doctors SELECT i, 40 FROM generate_series(1, 300) i;
"""
VISITS = """\
  public.visits:
    unit: {patient: patient}
    max_rows_per_unit: 4
    columns: {cost: {bounds: [0, 100]}, ward: {values: [north, south]}}
"""
TABLES = f"tables:\n{VISITS}  public.wards: public\n"
DOCTORS = "  public.doctors: {unit: row, columns: {age: {bounds: [0, 120]}}}\n"


def _as_copy(question: str) -> str:
    return f"COPY ({question}) TO STDOUT"


# What a client has sent before a change, and what it sends after it.
HELD_FORMS: dict[str, Callable[[str], tuple[bytes, bytes]]] = {
    "parse": lambda question: (_parsed(question), _run_of("held")),
    "execute": lambda question: (_parsed(question), f.query(b"EXECUTE held")),
    "prepare": lambda question: (_of_text("PREPARE held AS", question), f.query(b"EXECUTE held")),
    "prepare-bind": lambda question: (_of_text("PREPARE held AS", question), _run_of("held")),
    "parse-of-execute": lambda question: (
        _parsed(question) + f.parse(b"run", b"EXECUTE held", ()) + f.SYNC,
        _run_of("run"),
    ),
    "copy": lambda question: (_parsed(_as_copy(question)), _run_of("held")),
    "into": lambda question: (_parsed(f"CREATE TEMP TABLE made AS {question}"), _run_of("held")),
    "cursor": lambda question: (
        _parsed(f"DECLARE held CURSOR WITH HOLD FOR {question}"),
        _run_of("held"),
    ),
    "other-path": lambda question: (
        _parsed(question),
        f.query(b"SET search_path = pg_catalog, public") + _run_of("held"),
    ),
}
JOINED = "SELECT w.name, sum(cost) FROM visits v JOIN wards w ON w.name = v.ward GROUP BY 1"
_GONE, _REFUSED = ("0A000", "42P01", "42501", "42703"), ("0A000",)
# The policy then, and how the statement ends: none, or a refusal by one of these.
CHANGED_POLICIES: dict[str, tuple[str, Mapping[str, str], tuple[str, ...]]] = {
    "narrower": (TABLES, {"bounds: [0, 100]": "bounds: [0, 5]"}, ()),
    "fewer-rows": (TABLES, {"max_rows_per_unit: 4": "max_rows_per_unit: 1"}, ()),
    "larger-groups": (
        TABLES,
        {"max_rows_per_unit: 4": "max_rows_per_unit: 4\n    min_units_per_group: 3"},
        (),
    ),
    "less-epsilon": (TABLES, {"max_epsilon: 2": "max_epsilon: 1.5"}, ("22023",)),
    "another-mechanism": (TABLES, {"mechanism: best": "mechanism: smooth_median"}, ()),
    "another-unit": (
        TABLES.replace("unit: {patient: patient}", "unit: row").replace(
            "    max_rows_per_unit: 4\n", ""
        ),
        {},
        (),
    ),
    "no-key": (TABLES.replace(", ward: {values: [north, south]}", ""), {}, _GONE),
    "protected-list": (
        TABLES.replace("wards: public", "wards: {unit: row, columns: {name: {}}}"),
        {},
        _REFUSED,
    ),
    "no-list": (TABLES.replace("  public.wards: public\n", ""), {}, _GONE),
    "no-table": (f"tables:\n{DOCTORS}  public.wards: public\n", {}, _GONE),
}


def _parsed(text: str) -> bytes:
    return f.parse(b"held", text.encode(), ()) + f.SYNC


def _of_text(before: str, question: str) -> bytes:
    return f.query(f"{before} {question}".encode())


def _run_of(name: str) -> bytes:
    return f.bind(b"", name.encode(), ()) + f.describe_portal(b"") + f.execute(b"") + f.SYNC
