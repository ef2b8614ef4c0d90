"""Policies with one slip each, and what has to be found of it: what an owner in a hurry writes.

Each case has a database of its own kind: a clinic with foreign keys, the same without any, one in another
language. `severe` is of slips that publish people or protect something else than people.
"""

from __future__ import annotations

from dataclasses import dataclass

from proxy.policy.finding_names import FindingName

F = FindingName

KEYED = """
CREATE SCHEMA c;
CREATE TYPE c.state AS ENUM ('booked', 'attended', 'missed');
CREATE DOMAIN c.checked_state AS c.state;
CREATE TABLE c.sites (code text PRIMARY KEY, name text NOT NULL);
CREATE TABLE c.patients (id integer PRIMARY KEY, name text, email text, born date, sex text CHECK (sex IN
    ('f', 'm', 'x')), insurer text, joined date NOT NULL);
CREATE TABLE c.visits (id integer PRIMARY KEY, patient_id integer NOT NULL REFERENCES c.patients,
    site text NOT NULL REFERENCES c.sites, state c.state NOT NULL, checked c.checked_state NOT NULL,
    cost integer NOT NULL, comment text, doctor_id integer, stars integer CHECK (stars BETWEEN 1 AND 5));
CREATE TABLE c.results (id integer PRIMARY KEY, visit_id integer NOT NULL REFERENCES c.visits,
    value integer NOT NULL);
CREATE TABLE c.feedback (visit_id integer PRIMARY KEY REFERENCES c.visits, stars integer);
CREATE TABLE c.staff (id integer PRIMARY KEY, site text, hired date);
CREATE TABLE c.claims (site text, number integer, patient_id integer NOT NULL REFERENCES c.patients,
    sum integer, PRIMARY KEY (site, number));
"""
# The same, as most databases are: without a foreign key, and partly in German.
BARE = """
CREATE SCHEMA c;
CREATE TABLE c.kunden (kundennr integer PRIMARY KEY, vorname text, geburtsdatum date, plz text);
CREATE TABLE c.people (id integer PRIMARY KEY, name text, "E-Mail" text, password text);
CREATE TABLE c.register (id integer PRIMARY KEY, points integer);
CREATE TABLE c.orders (id integer PRIMARY KEY, user_id integer NOT NULL, order_no integer, total integer,
    bemerkung text);
CREATE TABLE c.lines (id integer PRIMARY KEY, order_id integer NOT NULL, price integer);
CREATE TABLE c.shops (id text PRIMARY KEY, address text, phone_count integer);
CREATE TABLE c.goods (ean text PRIMARY KEY, title text);
INSERT INTO c.goods SELECT i::text, 'x' FROM generate_series(1, 2500) i;
ANALYZE c.goods;
"""
CARDS = """
CREATE TABLE c.trips (id integer PRIMARY KEY, card integer NOT NULL, price integer);
CREATE TABLE c.cards (id integer PRIMARY KEY, points integer);
"""
TRIPS = "c.trips: {unit: {card: card}, max_rows_per_unit: 9}"
_IMPORTED = """
CREATE TABLE c.imported (a text, b date);
INSERT INTO c.imported SELECT 'x', '2020-01-01' FROM generate_series(1, 900);
ANALYZE c.imported;
"""
_PARTED = """
CREATE TABLE c.parted (a integer, b text) PARTITION BY RANGE (a);
CREATE TABLE c.parted1 PARTITION OF c.parted FOR VALUES FROM (0) TO (300);
CREATE TABLE c.parted2 PARTITION OF c.parted DEFAULT;
INSERT INTO c.parted SELECT i, 'x' FROM generate_series(1, 600) i;
ANALYZE c.parted1, c.parted2;
"""
# Tables of people in which no word says so. They are left out of the policy, or their owner says why not.
UNNAMED = (
    ("headcount", "hc_id integer PRIMARY KEY, nm text, mgr text"),
    ("witnesses", "id integer PRIMARY KEY, statement text"),
    ("顧客", '"氏名" text, "生年月日" date'),
    ("сотрудники", 'id integer PRIMARY KEY, "фамилия" text'),
    ("soldiers", "id integer PRIMARY KEY, rank text"),
    ("followers1", "id integer PRIMARY KEY, nick text"),
    ("rooms", "id integer PRIMARY KEY, occupant text"),
    ("gps", "ts timestamptz, device_id text, lat float, lon float"),
    ("kisiler", "tckimlik text PRIMARY KEY, ad text"),
    ("loyalty_cards", "card_no bigint PRIMARY KEY, points integer"),
    ("pasien", "nik text PRIMARY KEY, nama text"),
    ("log1", "ts timestamptz, msg text"),
)
# An office has a telephone, and a chart of accounts is of no people.
ORGANISATIONS = (
    ("insurers", "code text PRIMARY KEY, name text, phone text, email text"),
    ("offices", "code text PRIMARY KEY, city text, phone_number text"),
    ("standards", "code text PRIMARY KEY, passport text"),
    ("cell_lines", "code text PRIMARY KEY, cell text"),
)
THINGS = (
    ("accounts", "no integer PRIMARY KEY, title text, debit boolean"),
    ("subjects", "code text PRIMARY KEY, title text"),
    ("agents", "code text PRIMARY KEY, formula text"),
    ("contacts", "code text PRIMARY KEY, gauge integer"),
    ("conductors", "code text PRIMARY KEY, ohm numeric"),
)
_PATIENTS = (
    "c.patients: {unit: {patient: id}, max_rows_per_unit: 1,"
    " columns: {born: {bounds: [1900-01-01, 2030-01-01]}}}"
)
_VISITS = (
    "c.visits: {unit: {patient: patient_id}, max_rows_per_unit: 9, columns: {id: {}, cost: {}}}"
)
_ORDERS = "c.orders: {unit: {user: user_id}, max_rows_per_unit: 9, columns: {total: {}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slip:
    """tables: of the policy; head: what stands instead of the usual privacy and budgets."""

    called: str
    script: str
    tables: tuple[str, ...]
    name: FindingName
    where: str
    privacy: str = "{epsilon: 1, delta: 1e-8}"
    budgets: str = "{total: {epsilon: 20, delta: 1e-5}, default: {epsilon: 4, delta: 1e-6}}"
    rest: str = ""


def _visits(columns: str) -> tuple[str, ...]:
    unit = "unit: {patient: patient_id}, max_rows_per_unit: 9"
    return (_PATIENTS, f"c.visits: {{{unit}, columns: {{{columns}}}}}")


def _patients(columns: str) -> tuple[str, ...]:
    return (f"c.patients: {{unit: {{patient: id}}, columns: {{{columns}}}}}",)


_PUBLIC = F.PUBLIC_LOOKS_LIKE_PEOPLE
_TABLES = [
    ("people alone", KEYED, ("c.staff: {unit: row}", "c.patients: public"), _PUBLIC, "c.patients"),
    ("people without keys", BARE, (_ORDERS, "c.people: public"), _PUBLIC, "c.people"),
    ("people in German", BARE, (_ORDERS, "c.kunden: public"), _PUBLIC, "c.kunden"),
    (
        "a column that names people",
        KEYED + 'CREATE TABLE c.parties (no integer PRIMARY KEY, "customerEmail" text);',
        (_VISITS, "c.parties: public"),
        _PUBLIC,
        "c.parties",
    ),
    (
        "the harmless columns of people",
        BARE,
        (_ORDERS, "c.kunden: {unit: public, columns: {plz: {}}}"),
        _PUBLIC,
        "c.kunden",
    ),
    ("staff", KEYED, (_VISITS, "c.staff: public"), _PUBLIC, "c.staff"),
    (
        "a view of people",
        KEYED + "CREATE VIEW c.shown AS SELECT site AS a, hired AS b FROM c.staff;",
        (_PATIENTS, "c.shown: public"),
        _PUBLIC,
        "c.shown",
    ),
    (
        "orders of people who are nowhere",
        BARE,
        ("c.shops: {unit: {person: id}}", "c.orders: public"),
        _PUBLIC,
        "c.orders",
    ),
    (
        "a key that fits",
        BARE + CARDS,
        (TRIPS, "c.cards: public"),
        F.PUBLIC_MAY_LIST_PEOPLE,
        "c.cards",
    ),
    (
        "a key of the same type",
        BARE,
        (_ORDERS, "c.register: public"),
        F.PUBLIC_MAY_NAME_PEOPLE,
        "c.register",
    ),
    (
        "many rows without a key",
        BARE + _IMPORTED,
        (_ORDERS, "c.imported: public"),
        F.PUBLIC_MAY_NAME_PEOPLE,
        "c.imported",
    ),
    (
        "many rows of partitions",
        BARE + _PARTED,
        (_ORDERS, "c.parted: public"),
        F.PUBLIC_MAY_NAME_PEOPLE,
        "c.parted",
    ),
    (
        "traits of people",
        BARE
        + "CREATE TABLE c.listed (no integer PRIMARY KEY, age integer, sex text, outcome text);",
        (_ORDERS, "c.listed: public"),
        F.PUBLIC_MAY_NAME_PEOPLE,
        "c.listed",
    ),
    *(
        (
            f"no word for people, {number}",
            KEYED + f'CREATE TABLE c."{table}" ({columns});',
            (_PATIENTS, f'"c.{table}": public'),
            F.PUBLIC_IS_NOT_NEEDED,
            f"c.{table}",
        )
        for number, (table, columns) in enumerate(UNNAMED)
    ),
    *(
        (
            f"an abbreviation, {column}",
            BARE + f"CREATE TABLE c.facts ({column} integer, amount integer);",
            (_ORDERS, "c.facts: public"),
            _PUBLIC,
            "c.facts",
        )
        for column in ("cust_id", "cust_sk", "pat_no", "emp_id", "usr_id", "pers_nr", "kd_nr")
    ),
    *(
        (
            f"the abbreviation {table}",
            BARE + f"CREATE TABLE c.{table} (nr integer PRIMARY KEY, seit date);",
            ("c.shops: {unit: row}", f"c.{table}: public"),
            _PUBLIC,
            f"c.{table}",
        )
        for table in ("cust", "emps", "usr", "pers", "stud", "dim_cust")
    ),
    *(
        (
            f"perhaps {table}",
            KEYED + f"CREATE TABLE c.{table} ({columns});",
            (_PATIENTS, f"c.{table}: public"),
            F.PUBLIC_MAY_NAME_PEOPLE,
            f"c.{table}",
        )
        for table, columns in (*ORGANISATIONS, *THINGS)
    ),
    *(
        (
            f"people in {table}",
            KEYED + f"CREATE TABLE c.{table} ({columns});",
            (_PATIENTS, f"c.{table}: public"),
            _PUBLIC,
            f"c.{table}",
        )
        for table, columns in (
            ("offices", "code text PRIMARY KEY, manager_email text"),
            ("sites2", "code text PRIMARY KEY, phone text, born date"),
            ("accounts", "id integer PRIMARY KEY, email text"),
            ("crew", "id integer PRIMARY KEY, phone text"),
        )
    ),
    ("addresses", BARE, (_ORDERS, "c.shops: public"), F.PUBLIC_MAY_NAME_PEOPLE, "c.shops"),
    *(
        (
            f"a lookup with {kind}",
            KEYED + f"CREATE TABLE c.extras (code text PRIMARY KEY, title text, more {kind});"
            "ALTER TABLE c.visits ADD extra text REFERENCES c.extras;",
            (_PATIENTS, _VISITS, "c.extras: public"),
            F.PUBLIC_MAY_NAME_PEOPLE,
            "c.extras",
        )
        for kind in ("jsonb", "json", "xml")
    ),
    *(
        (
            f"a view that takes {number} out of documents",
            KEYED + "CREATE TABLE c.raw (id integer PRIMARY KEY, doc jsonb);"
            f"CREATE VIEW c.shown AS SELECT {taken} AS c1 FROM c.raw;",
            (_PATIENTS, "c.shown: public"),
            _PUBLIC,
            "c.shown",
        )
        for number, taken in (
            ("one", "doc ->> 'email'"),
            ("a deep one", "doc #>> '{owner,phone}'"),
            ("two", "doc -> 'owner' ->> 'last_name'"),
        )
    ),
    (
        "many rows with a key",
        BARE,
        (_ORDERS, "c.goods: public"),
        F.PUBLIC_MAY_NAME_PEOPLE,
        "c.goods",
    ),
]
VIEWS = """
CREATE VIEW c.shown AS SELECT id, cost, patient_id AS p FROM c.visits;
CREATE VIEW c.outer AS SELECT p AS q, id AS n FROM c.shown;
"""
DOCTORS = "ALTER TABLE c.visits ADD FOREIGN KEY (doctor_id) REFERENCES c.staff;"
_UNITS = [
    (
        "the doctor",
        KEYED + DOCTORS,
        (_PATIENTS, "c.visits: {unit: {staff: doctor_id}}"),
        "c.visits",
    ),
    ("the doctor alone", KEYED + DOCTORS, ("c.visits: {unit: {doctor: doctor_id}}",), "c.visits"),
    (
        "the doctor of a visit",
        KEYED + "ALTER TABLE c.results ADD staff integer REFERENCES c.staff;",
        (_PATIENTS, _VISITS, "c.results: {unit: {staff: staff}}"),
        "c.results",
    ),
    (
        "the visit by its name",
        KEYED,
        (_PATIENTS, "c.results: {unit: {visit: visit_id}}"),
        "c.results",
    ),
    (
        "a visit as a view shows it",
        KEYED + VIEWS,
        (_PATIENTS, "c.shown: {unit: {patient: id}}"),
        "c.shown",
    ),
    (
        "a view of a view",
        KEYED + VIEWS,
        ("c.outer: {unit: {patient: n}}",),
        "c.outer",
    ),
    ("the visit alone", KEYED, ("c.results: {unit: {visit: visit_id}}",), "c.results"),
    (
        "people by their household",
        KEYED + "ALTER TABLE c.patients ADD household_id integer NOT NULL DEFAULT 1;",
        ("c.patients: {unit: {patient: household_id}}", _VISITS),
        "c.patients",
    ),
    (
        "people by their doctor",
        KEYED + "ALTER TABLE c.patients ADD gp_id integer NOT NULL DEFAULT 1;",
        ("c.patients: {unit: {patient: gp_id}}",),
        "c.patients",
    ),
    (
        "the unit of another table",
        KEYED,
        (_PATIENTS, "c.feedback: {unit: {patient: visit_id}}"),
        "c.feedback",
    ),
    ("the same alone", KEYED, ("c.feedback: {unit: {patient: visit_id}}",), "c.feedback"),
    ("the row's own key", KEYED, (_PATIENTS, "c.visits: {unit: {patient: id}}"), "c.visits"),
    ("the own key alone", KEYED, ("c.visits: {unit: {patient: id}}",), "c.visits"),
    ("half a key", KEYED, (_PATIENTS, "c.claims: {unit: {patient: number}}"), "c.claims"),
    (
        "a wrong reference",
        KEYED + "ALTER TABLE c.results ADD other integer REFERENCES c.staff;",
        (_PATIENTS, _VISITS, "c.results: {unit: {patient: other -> c.visits.patient_id}}"),
        "c.results",
    ),
    ("without keys", BARE, (_ORDERS, "c.lines: {unit: {user: order_id}}"), "c.lines"),
    ("the stars of a visit", KEYED, ("c.visits: {unit: {patient: stars}}",), "c.visits"),
    ("people by their sex", KEYED, ("c.patients: {unit: {patient: sex}}",), "c.patients"),
    (
        "people by a kind",
        BARE + "CREATE TABLE c.gaeste (nr integer, art text CHECK (art IN ('a', 'b')));",
        ("c.gaeste: {unit: {gast: art}}",),
        "c.gaeste",
    ),
    ("own key without keys", BARE, ("c.orders: {unit: {user: id}}",), "c.orders"),
    (
        "a reference without keys",
        BARE,
        (
            "c.orders: {unit: {user: user_id}, columns: {id: {}}}",
            "c.lines: {unit: {user: id -> c.orders.user_id}}",
        ),
        "c.lines",
    ),
]
_CLERKS = (
    KEYED
    + "ALTER TABLE c.visits ADD clerk text, ADD approved_by text, ADD seen text, ADD city text;"
)
_CALLS = (
    BARE + "CREATE TABLE c.cdr (a_number bigint, secs integer, cell text, plz text, device text);"
)
_ROWS = [
    *(
        (
            f"calls by {column}",
            _CALLS,
            (f"c.cdr: {{unit: {{{who}: {column}}}}}",),
            F.UNIT_MAY_LEAD_ELSEWHERE,
            "c.cdr",
        )
        for column, who in (("cell", "subscriber"), ("plz", "kunde"), ("secs", "customer"))
    ),
    (
        "rows with a document",
        BARE + "CREATE TABLE c.log3 (id integer PRIMARY KEY, payload jsonb);",
        ("c.log3: {unit: row}",),
        F.ROW_UNIT_MAY_REFER_TO_PEOPLE,
        "c.log3",
    ),
    *(
        (
            f"the names {listed} of {column}",
            _CLERKS,
            _visits(f"{column}: {{values: [{listed}]}}"),
            F.VALUES_MAY_NAME_PEOPLE,
            "c.visits",
        )
        for column, listed in (
            ("clerk", "Ahonen, Nowicka"),
            ("clerk", "ahonen, nowicka"),
            ("approved_by", "aho, now"),
            ("seen", "Ahonen, Nowicka"),
            ("seen", "王小明, 李雷"),
            ("seen", "김철수, 이영희"),
            ("seen", "Иванов, Петрова"),
            ("city", "Schmidt, Meier"),
        )
    ),
    (
        "one row of each visit",
        KEYED,
        (_PATIENTS, _VISITS, "c.feedback: {unit: row}"),
        F.ROW_UNIT_REFERS_TO_PEOPLE,
        "c.feedback",
    ),
    (
        "one row of each visit alone",
        KEYED,
        ("c.feedback: {unit: row}",),
        F.ROW_UNIT_REFERS_TO_PEOPLE,
        "c.feedback",
    ),
    (
        "one row of each order without keys",
        BARE + "CREATE TABLE c.ratings (order_id integer PRIMARY KEY, stars integer);",
        ("c.ratings: {unit: row}",),
        F.ROW_UNIT_NAMES_PEOPLE,
        "c.ratings",
    ),
    (
        "a reference elsewhere",
        KEYED + "CREATE TABLE c.towns (code text PRIMARY KEY);",
        (*_visits("site: {references: c.towns.code}"), "c.towns: public"),
        F.REFERENCE_LEADS_ELSEWHERE,
        "c.visits",
    ),
    *(
        (
            f"rows with {columns}",
            BARE + f"CREATE TABLE c.log2 ({columns}, x integer);",
            ("c.log2: {unit: row}",),
            F.ROW_UNIT_NAMES_PEOPLE,
            "c.log2",
        )
        for columns in (
            "email text",
            "plate text",
            "id integer PRIMARY KEY, e_mail text",
            "mrn text",
            "iban text",
        )
    ),
    (
        "a number and an e-mail",
        KEYED
        + "ALTER TABLE c.patients ADD UNIQUE (email); CREATE TABLE c.mailed (id integer PRIMARY KEY,"
        " patient_email text NOT NULL REFERENCES c.patients (email));",
        (
            _PATIENTS,
            "c.mailed: {unit: {patient_email: patient_email}, max_rows_per_unit: 9}",
        ),
        F.SAME_PEOPLE_TWO_NAMES,
        "c.mailed",
    ),
    (
        "a number and an e-mail of people who are nowhere",
        KEYED
        + "ALTER TABLE c.patients ADD UNIQUE (email); CREATE TABLE c.mailed (id integer PRIMARY KEY,"
        " patient_email text NOT NULL REFERENCES c.patients (email));",
        (
            _VISITS,
            "c.mailed: {unit: {mailbox: patient_email}, max_rows_per_unit: 9}",
        ),
        F.SAME_PEOPLE_TWO_NAMES,
        "c.mailed",
    ),
    *(
        (
            f"listed {column}",
            KEYED + f"ALTER TABLE c.patients ADD {column};",
            _patients(f"{column.split()[0]}: {{}}"),
            F.IDENTIFYING_COLUMN,
            "c.patients",
        )
        for column in (
            *("birth_date date", "dob date", "geburtsdatum date", "handle text", "mrn text"),
            *("plate text", "nm text", "date_of_birth timestamptz"),
        )
    ),
    ("listed born", KEYED, _patients("born: {}"), F.IDENTIFYING_COLUMN, "c.patients"),
    (
        "rows with a name",
        KEYED + "CREATE TABLE c.named (id integer PRIMARY KEY, patient_name text, cost integer);",
        (_PATIENTS, "c.named: {unit: row}"),
        F.ROW_UNIT_NAMES_PEOPLE,
        "c.named",
    ),
    (
        "two patients in a row",
        KEYED
        + "CREATE TABLE c.couples (a integer NOT NULL REFERENCES c.patients, b integer NOT NULL"
        " REFERENCES c.patients);",
        (_PATIENTS, "c.couples: {unit: {patient: a}}"),
        F.UNIT_LEAVES_OUT_PEOPLE,
        "c.couples",
    ),
    (
        "rows of people who are nowhere",
        KEYED,
        ("c.visits: {unit: row}",),
        F.ROW_UNIT_REFERS_TO_PEOPLE,
        "c.visits",
    ),
    (
        "rows through visits",
        KEYED,
        ("c.results: {unit: row}",),
        F.ROW_UNIT_REFERS_TO_PEOPLE,
        "c.results",
    ),
    ("rows by name", BARE, ("c.orders: {unit: row}",), F.ROW_UNIT_NAMES_PEOPLE, "c.orders"),
    (
        "rows of a composite key",
        BARE + "CREATE TABLE c.days (day date, customer integer, PRIMARY KEY (customer, day));",
        ("c.days: {unit: row}",),
        F.ROW_UNIT_NAMES_PEOPLE,
        "c.days",
    ),
]
_COLUMNS = [
    (
        "e-mails as values",
        _patients("email: {values: [a@b.de, null]}"),
        F.VALUES_NAME_PEOPLE,
        "c.patients",
    ),
    (
        "names as values",
        _patients("name: {values: [Ann, Bob]}"),
        F.VALUES_NAME_PEOPLE,
        "c.patients",
    ),
    (
        "e-mails elsewhere",
        _patients("insurer: {values: [Alba, ann@alba.de]}"),
        F.VALUES_NAME_PEOPLE,
        "c.patients",
    ),
    (
        "free text as values",
        _visits("comment: {values: [thanks, Mrs Miller was late]}"),
        F.VALUES_NAME_PEOPLE,
        "c.visits",
    ),
    (
        "numbers of people",
        _visits("doctor_id: {values: [1, 2]}"),
        F.VALUES_NAME_PEOPLE,
        "c.visits",
    ),
    *(
        (
            f"{what} as values",
            _patients(f"insurer: {{values: [{listed}]}}"),
            F.VALUES_NAME_PEOPLE,
            "c.patients",
        )
        for what, listed in (
            ("a number from abroad", '"+49 30 1234567"'),
            ("a number", "030/1234567"),
            ("a number of a mobile", '"0170 123 45 67"'),
            ("an account", "DE89370400440532013000"),
        )
    ),
    *(
        (
            f"perhaps {what}",
            _patients(f"insurer: {{values: [{listed}]}}"),
            F.VALUES_MAY_NAME_PEOPLE,
            "c.patients",
        )
        for what, listed in (
            ("names", "Anna Schmidt, Bob Miller"),
            ("surnames", "Schmidt, Meier"),
            ("an initial", '"A. Schmidt", "B. Ahonen"'),
            ("an initial behind", '"Ahonen, A."'),
            ("a title", '"Dr. Ahonen"'),
            ("logins", "aschmidt, bmeier"),
            ("logins with a dot", "aino.ahonen, ola.nowicka"),
            ("small names", '"anna schmidt"'),
            ("long names", '"Anna-Lena Schmidt-Meier", "Jean Paul Sartre"'),
            ("names with a mark", '"O\'Brien, Pat", "O\'Neil, Sue"'),
            ("names the other way round", '"Schmidt, Anna", "Miller, Bob"'),
            ("UUIDs", "123e4567-e89b-12d3-a456-426614174000"),
            ("numbers of records", "A123456"),
            ("handles", '"@anna"'),
            ("very many", ", ".join(f"x{number}" for number in range(501))),
        )
    ),
    (
        "dates of people",
        _patients("joined: {values: [1961-03-04]}"),
        F.VALUES_MAY_NAME_PEOPLE,
        "c.patients",
    ),
    ("a key's values", _visits("id: {values: [1, 2]}"), F.VALUES_NAME_PEOPLE, "c.visits"),
    ("a listed e-mail", _patients("email: {}"), F.IDENTIFYING_COLUMN, "c.patients"),
    ("a listed name", _patients("name: {}"), F.IDENTIFYING_COLUMN, "c.patients"),
    (
        "a label left out",
        _visits("state: {values: [booked, attended]}"),
        F.VALUES_LEAVE_OUT_LABELS,
        "c.visits",
    ),
    (
        "of a domain",
        _visits("checked: {values: [booked, attended]}"),
        F.VALUES_LEAVE_OUT_LABELS,
        "c.visits",
    ),
    (
        "of a CHECK",
        _patients("sex: {values: [f, m, null]}"),
        F.VALUES_LEAVE_OUT_LABELS,
        "c.patients",
    ),
    *(
        (
            f"bounds {bounds} of 1 to 5",
            _visits(f"stars: {{bounds: {bounds}}}"),
            F.BOUNDS_AGAINST_CHECK,
            "c.visits",
        )
        for bounds in ("[2, 3]", "[6, 9]", "[0, 100]")
    ),
    ("null left out", _patients("sex: {values: [f, m, x]}"), F.VALUES_LEAVE_OUT_NULL, "c.patients"),
]
_HALF = "{total: {epsilon: 20, delta: 0.5}, default: {epsilon: 4, delta: 1e-6}}"
_ABOVE = "{total: {epsilon: 20, delta: 1e-5}, default: {epsilon: 50, delta: 1e-6, per: month}}"
_ABOVE_DELTA = "{total: {epsilon: 20, delta: 1e-5}, default: {epsilon: 5, delta: 1e-4, per: month}}"
_NAMED = (
    "{total: {epsilon: 20, delta: 1e-5}, default: {epsilon: 4, delta: 1e-6},"
    " analysts: {ann: {epsilon: 30, delta: 1e-6}}, tables: {c.visits: {epsilon: 20, delta: 1e-5}}}"
)
_PUBLISHED = """
publish:
  - {name: costs, sql: "SELECT count(*) AS n FROM c.visits", every: 1d, epsilon: 9}
"""
_LARGE = "{total: {epsilon: 50, delta: 1e-5}, default: {epsilon: 40, delta: 1e-6}}"
_TOO_LARGE = "{total: {epsilon: 51, delta: 1e-5}, default: {epsilon: 40, delta: 1e-6}}"
_TWENTY = "{total: {epsilon: 20, delta: 1e-5}, default: {epsilon: 4, delta: 1e-6}}"
_BELOW = (
    (
        "budgets.default",
        "{epsilon: 1, delta: 1e-8}",
        "{total: {epsilon: 20, delta: 1e-5}, default: {epsilon: 0.5, delta: 1e-6, per: day}}",
    ),
    ("budgets.total", "{epsilon: 30, delta: 1e-8}", _TWENTY),
    ("budgets.default", "{epsilon: 1, delta: 2e-6}", _TWENTY),
)
_OFTEN = """
publish:
  - {name: costs, sql: "SELECT count(*) AS n FROM c.visits", every: 24h, epsilon: 1}
"""
_AT_ONCE = _OFTEN.replace("24h, epsilon: 1", "5min, epsilon: 10")
_OF_A_TABLE = (
    "{total: {epsilon: 20, delta: 1e-5}, default: {epsilon: 4, delta: 1e-6},"
    " tables: {c.visits: {epsilon: 0.1, delta: 1e-6}}}"
)
_AMOUNTS = [
    (
        "a table below a statement",
        F.BUDGET_BELOW_STATEMENT,
        "budgets.tables.c.visits",
        "{epsilon: 1, delta: 1e-8}",
        _OF_A_TABLE,
        "",
    ),
    (
        "epsilon 50",
        F.STATEMENT_EPSILON_LARGE,
        "privacy.epsilon",
        "{epsilon: 50, delta: 1e-8}",
        _LARGE,
        "",
    ),
    (
        "a session's epsilon",
        F.STATEMENT_EPSILON_LARGE,
        "privacy.max_epsilon",
        "{epsilon: 1, delta: 1e-8, max_epsilon: 5}",
        _LARGE,
        "",
    ),
    (
        "published",
        F.STATEMENT_EPSILON_LARGE,
        "publish.0.epsilon",
        "{epsilon: 1, delta: 1e-8}",
        _LARGE,
        _PUBLISHED,
    ),
    ("delta", F.STATEMENT_DELTA_LARGE, "privacy.delta", "{epsilon: 1, delta: 1e-4}", _HALF, ""),
    (
        "delta 0.1",
        F.STATEMENT_DELTA_PUBLISHES,
        "privacy.delta",
        "{epsilon: 1, delta: 0.1}",
        _HALF,
        "",
    ),
    ("total delta", F.TOTAL_DELTA_LARGE, "budgets.total", "{epsilon: 1, delta: 1e-8}", _HALF, ""),
    (
        "total epsilon",
        F.TOTAL_EPSILON_LARGE,
        "budgets.total",
        "{epsilon: 1, delta: 1e-8}",
        _LARGE,
        "",
    ),
    (
        "total epsilon of no promise",
        F.TOTAL_IS_LARGE,
        "budgets.total",
        "{epsilon: 1, delta: 1e-8}",
        _TOO_LARGE,
        "",
    ),
    *(
        (
            f"delta against units {number}",
            F.DELTA_AGAINST_UNITS,
            where,
            privacy,
            _TWENTY,
            f"units_about: {units}\n",
        )
        for number, (where, privacy, units) in enumerate(
            (
                ("budgets.total", "{epsilon: 1, delta: 1e-8}", 10_000),
                ("privacy.delta", "{epsilon: 1, delta: 1e-6}", 100_000),
            )
        )
    ),
    *(
        (f"below a statement {number}", F.BUDGET_BELOW_STATEMENT, where, privacy, budgets, "")
        for number, (where, privacy, budgets) in enumerate(_BELOW)
    ),
    (
        "published up",
        F.PUBLISHING_USES_TOTAL,
        "publish",
        "{epsilon: 1, delta: 1e-8}",
        _TWENTY,
        _OFTEN,
    ),
    (
        "published up in a day",
        F.PUBLISHING_ENDS_TOTAL,
        "publish",
        "{epsilon: 1, delta: 1e-8}",
        _TWENTY,
        _AT_ONCE,
    ),
    ("above", F.BUDGET_ABOVE_TOTAL, "budgets.default", "{epsilon: 1, delta: 1e-8}", _ABOVE, ""),
    (
        "delta above",
        F.BUDGET_ABOVE_TOTAL,
        "budgets.default",
        "{epsilon: 1, delta: 1e-8}",
        _ABOVE_DELTA,
        "",
    ),
    (
        "a line above",
        F.BUDGET_ABOVE_TOTAL,
        "budgets.analysts.ann",
        "{epsilon: 1, delta: 1e-8}",
        _NAMED,
        "",
    ),
]

SLIPS = (
    *(Slip(called=a, script=b, tables=c, name=d, where=e) for a, b, c, d, e in _TABLES + _ROWS),
    *(
        Slip(called=a, script=b, tables=c, name=F.UNIT_LEADS_ELSEWHERE, where=d)
        for a, b, c, d in _UNITS
    ),
    *(Slip(called=a, script=KEYED, tables=b, name=c, where=d) for a, b, c, d in _COLUMNS),
    *(
        Slip(
            called=a,
            script=KEYED,
            tables=(_PATIENTS, _VISITS),
            name=b,
            where=c,
            privacy=d,
            budgets=e,
            rest=f,
        )
        for a, b, c, d, e, f in _AMOUNTS
    ),
)
