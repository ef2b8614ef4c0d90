"""Databases with people of more than one kind, or of a kind that no list of words knows; policies for them.

SEVERE and WARNED are slips: the table, and at least how loud `policy check` is. HONEST policies are right, and
nothing is found of them. QUIET are right as well, and cost at most a warning.
"""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """where: the table of the finding, without its schema."""

    called: str
    script: str
    tables: tuple[str, ...]
    where: str = ""


_SCHEMA = "CREATE SCHEMA c;"
SCHOOL = (
    _SCHEMA
    + """
CREATE TABLE c.students (id integer PRIMARY KEY, grade integer);
CREATE TABLE c.subjects (id integer PRIMARY KEY, title text);
CREATE TABLE c.exams (id integer PRIMARY KEY, student_id integer NOT NULL REFERENCES c.students,
    subject_id integer REFERENCES c.subjects, points integer);
"""
)
LEDGER = (
    _SCHEMA
    + """
CREATE TABLE c.accounts (id integer PRIMARY KEY, name text, kind text);
CREATE TABLE c.employees (id integer PRIMARY KEY, hired date);
CREATE TABLE c.expenses (id integer PRIMARY KEY, employee_id integer NOT NULL REFERENCES c.employees,
    account_id integer REFERENCES c.accounts, amount integer);
CREATE TABLE c.profiles (id integer PRIMARY KEY, title text);
CREATE TABLE c.shifts (id integer PRIMARY KEY, employee_id integer NOT NULL REFERENCES c.employees,
    profile_id integer REFERENCES c.profiles, hours integer);
CREATE TABLE c.customers (id integer PRIMARY KEY, company text, vat_no text);
CREATE TABLE c.timesheets (id integer PRIMARY KEY, employee_id integer NOT NULL REFERENCES c.employees,
    customer_id integer NOT NULL REFERENCES c.customers, hours integer);
"""
)
LOGINS = (
    _SCHEMA
    + """
CREATE TABLE c.clients (id integer PRIMARY KEY, app_name text);
CREATE TABLE c.users (id integer PRIMARY KEY, joined date);
CREATE TABLE c.sessions (id integer PRIMARY KEY, client_id integer NOT NULL REFERENCES c.clients,
    user_id integer NOT NULL REFERENCES c.users, secs integer);
CREATE TABLE c.candidates (id integer PRIMARY KEY, party text);
CREATE TABLE c.fans (id integer PRIMARY KEY, city text);
CREATE TABLE c.gifts (id integer PRIMARY KEY, fan_id integer NOT NULL REFERENCES c.fans,
    candidate_id integer NOT NULL REFERENCES c.candidates, amount integer);
"""
)
RIDES = (
    _SCHEMA
    + """
CREATE TABLE c.rider (id integer PRIMARY KEY, plz text);
CREATE TABLE c.driver (id integer PRIMARY KEY, plz text);
CREATE TABLE c.vehicle (plate text PRIMARY KEY, driver_id integer REFERENCES c.driver);
CREATE TABLE c.ride (id integer PRIMARY KEY, rider_id integer NOT NULL REFERENCES c.rider,
    plate text REFERENCES c.vehicle, price integer);
CREATE TABLE c.rating (ride_id integer PRIMARY KEY REFERENCES c.ride, stars integer);
"""
)
_GLADIATORS = (
    _SCHEMA
    + """
CREATE TABLE c.gladiators (id integer PRIMARY KEY, plz text);
CREATE TABLE c.stays (id integer PRIMARY KEY, gladiator_id integer NOT NULL REFERENCES c.gladiators,
    nights integer);
CREATE TABLE c.meals (id integer PRIMARY KEY, stay_id integer NOT NULL REFERENCES c.stays, price integer);
CREATE TABLE c.donations (id integer PRIMARY KEY, gladiator_id integer NOT NULL, amount integer);
CREATE TABLE c.hosts (id integer PRIMARY KEY, plz text);
CREATE TABLE c.beds (id integer PRIMARY KEY, gladiator_id integer REFERENCES c.gladiators,
    host_id integer REFERENCES c.hosts, nights integer);
CREATE TABLE c.walks (id integer PRIMARY KEY, gladiator_ids integer[], other_gladiators jsonb, km integer);
CREATE VIEW c.shown AS SELECT id AS n, nights AS v FROM c.stays;
CREATE VIEW c.flat AS SELECT gladiator_id AS k, nights AS v FROM c.stays;
"""
)
_LIBRARY = (
    _SCHEMA
    + """
CREATE TABLE c.lesende (ausweis integer PRIMARY KEY, plz text, seit date);
CREATE TABLE c.buecher (isbn text PRIMARY KEY, titel text);
CREATE TABLE c.ausleihen (id integer PRIMARY KEY, wer integer NOT NULL REFERENCES c.lesende,
    buch text REFERENCES c.buecher, gebuehr integer);
CREATE TABLE c.mahnungen (id integer PRIMARY KEY, ausleihe integer NOT NULL REFERENCES c.ausleihen,
    betrag integer);
CREATE TABLE c.vormerkungen (id integer PRIMARY KEY, ausweis integer, buch text);
CREATE TABLE c.cdr (a_number bigint, b_number bigint, secs integer, cell text);
CREATE TABLE c.mails (sender_id integer, recipient_id integer, size integer);
CREATE TABLE c.teams (id integer PRIMARY KEY, member_ids integer[], cost integer);
CREATE TABLE c.parties (id integer PRIMARY KEY, gaeste jsonb, cost integer);
CREATE TABLE c.fahrer (id integer PRIMARY KEY, seit date);
CREATE TABLE c.fahrgast (id integer PRIMARY KEY, seit date);
CREATE TABLE c.fahrten (id integer PRIMARY KEY, fahrer_id integer NOT NULL REFERENCES c.fahrer,
    fahrgast_id integer NOT NULL REFERENCES c.fahrgast, preis integer);
"""
)
_MEMBERS = (
    _SCHEMA
    + """
CREATE TABLE c.members (id integer PRIMARY KEY, joined date);
CREATE TABLE c.visits (id integer PRIMARY KEY, member_id integer NOT NULL REFERENCES c.members, coach text,
    badge text, ref text, mins integer);
CREATE TABLE c.badge (badge text PRIMARY KEY, nm text, pin integer);
CREATE TABLE c.refs (ref text PRIMARY KEY, txt text);
CREATE TABLE c.coach (kuerzel text PRIMARY KEY, gehalt integer);
CREATE TABLE c.gehalt (kuerzel text PRIMARY KEY, betrag numeric(9, 2));
CREATE TABLE c.schulden (wer text PRIMARY KEY, betrag integer);
CREATE TABLE c.scores (nick text PRIMARY KEY, points integer);
CREATE TABLE c.results (startnummer integer PRIMARY KEY, sekunden integer);
CREATE TABLE c.dna (sample text PRIMARY KEY, gene1 integer, gene2 integer);
CREATE TABLE c.rates (year integer PRIMARY KEY, births integer);
CREATE TABLE c.life (age integer, sex char(1), qx numeric(8, 6), PRIMARY KEY (age, sex));
CREATE TABLE c.weather (day date PRIMARY KEY, temp real);
CREATE TABLE c.money (code char(3) PRIMARY KEY, rate numeric(9, 4));
CREATE TABLE c.precincts (id integer PRIMARY KEY, name text, phone text);
CREATE TABLE c.parties (id integer PRIMARY KEY, name text, founded integer, email text);
CREATE TABLE c.authors (id integer PRIMARY KEY, name text, born integer);
CREATE TABLE c.vornamen (vorname text PRIMARY KEY, haeufigkeit integer);
CREATE TABLE c.login_methods (id integer PRIMARY KEY, login text);
CREATE TABLE c.product (id integer PRIMARY KEY, title text, mobile boolean, email_template text);
CREATE TABLE c.surnames_paid (surname text PRIMARY KEY, salary integer);
"""
)

_EVENTS = (
    _SCHEMA
    + """
CREATE TABLE c.events (id bigint, user_ref text NOT NULL, at date, PRIMARY KEY (id, at))
    PARTITION BY RANGE (at);
CREATE TABLE c.events_a PARTITION OF c.events DEFAULT;
"""
)
_STUDENTS = "c.students: {unit: {student: id}}"
_EMPLOYEES = "c.employees: {unit: {employee: id}}"
_USERS = "c.users: {unit: {user: id}}"
_FANS = "c.fans: {unit: {fan: id}}"
_RIDERS = "c.rider: {unit: {rider: id}}"
_OF_RIDER = "c.ride: {unit: {rider: rider_id}}"
_GLADIATOR = "c.gladiators: {unit: {gladiator: id}}"
_STAYS = "c.stays: {unit: {gladiator: gladiator_id}}"
_LESENDE = "c.lesende: {unit: {lesende: ausweis}}"
_MEMBER = "c.members: {unit: {member: id}}"

SEVERE = (
    Case(
        "a partition by its number",
        _EVENTS,
        ("c.events: {unit: {user: user_ref}}", "c.events_a: {unit: {user: id}}"),
        "events_a",
    ),
    Case("exams by subject", SCHOOL, ("c.exams: {unit: {subject: subject_id}}",), "exams"),
    Case(
        "exams by subject beside students",
        SCHOOL,
        (_STUDENTS, "c.exams: {unit: {subject: subject_id}}"),
        "exams",
    ),
    Case(
        "expenses by account beside employees",
        LEDGER,
        (_EMPLOYEES, "c.expenses: {unit: {account: account_id}}"),
        "expenses",
    ),
    Case(
        "timesheets by customer beside employees",
        LEDGER,
        (_EMPLOYEES, "c.timesheets: {unit: {customer: customer_id}}"),
        "timesheets",
    ),
    Case(
        "shifts by profile beside employees",
        LEDGER,
        (_EMPLOYEES, "c.shifts: {unit: {profile: profile_id}}"),
        "shifts",
    ),
    Case("sessions by client", LOGINS, ("c.sessions: {unit: {client: client_id}}",), "sessions"),
    Case(
        "sessions by client beside users",
        LOGINS,
        (_USERS, "c.sessions: {unit: {client: client_id}}"),
        "sessions",
    ),
    Case(
        "gifts by candidate beside fans",
        LOGINS,
        (_FANS, "c.gifts: {unit: {candidate: candidate_id}}"),
        "gifts",
    ),
    Case(
        "a rating by the ride beside rides",
        RIDES,
        (_OF_RIDER, "c.rating: {unit: {ride: ride_id}}"),
        "rating",
    ),
    *(
        Case(
            f"{table} {unit} beside gladiators",
            _GLADIATORS,
            (*more, f"c.{table}: {{unit: {unit}}}"),
            table,
        )
        for table, unit, more in (
            ("stays", "{stay: id}", (_GLADIATOR,)),
            ("stays", "row", (_GLADIATOR,)),
            ("beds", "{bed: id}", (_GLADIATOR,)),
            ("meals", "{meal: id}", (_GLADIATOR,)),
            ("meals", "{meal: id}", (_GLADIATOR, _STAYS)),
            ("meals", "{stay: stay_id}", (_GLADIATOR, _STAYS)),
            ("meals", "{stay: stay_id}", (_GLADIATOR,)),
            ("donations", "{donation: id}", (_GLADIATOR,)),
            ("donations", "{gladiator: id}", (_GLADIATOR,)),
            ("flat", "row", (_GLADIATOR,)),
            ("shown", "{stay: n}", (_GLADIATOR,)),
        )
    ),
    Case(
        "gladiators by their town",
        _GLADIATORS,
        ("c.gladiators: {unit: {gladiator: plz}}",),
        "gladiators",
    ),
    Case("who reads by their town", _LIBRARY, ("c.lesende: {unit: {lesende: plz}}",), "lesende"),
    Case(
        "a hold by its number beside who reads",
        _LIBRARY,
        (_LESENDE, "c.vormerkungen: {unit: {lesende: id}}"),
        "vormerkungen",
    ),
    Case(
        "the driver as the passenger",
        _LIBRARY,
        (
            "c.fahrgast: {unit: {fahrgast: id}}",
            "c.fahrten: {unit: {fahrgast: fahrer_id}}",
        ),
        "fahrten",
    ),
    Case(
        "customers with a name and a company",
        LEDGER + "ALTER TABLE c.customers ADD last_name text;",
        (_EMPLOYEES, "c.customers: public"),
        "customers",
    ),
    Case(
        "a list of surnames with pay",
        _MEMBERS,
        (_MEMBER, "c.surnames_paid: public"),
        "surnames_paid",
    ),
)

WARNED = (
    Case(
        "beds by host beside gladiators",
        _GLADIATORS,
        (_GLADIATOR, "c.beds: {unit: {host: host_id}}"),
        "beds",
    ),
    Case(
        "beds by host beside both",
        _GLADIATORS,
        (_GLADIATOR, "c.hosts: {unit: {host: id}}", "c.beds: {unit: {host: host_id}}"),
        "beds",
    ),
    Case(
        "timesheets by customer beside both",
        LEDGER,
        (
            _EMPLOYEES,
            "c.customers: {unit: {customer: id}}",
            "c.timesheets: {unit: {customer: customer_id}}",
        ),
        "timesheets",
    ),
    Case("expenses by account", LEDGER, ("c.expenses: {unit: {account: account_id}}",), "expenses"),
    Case(
        "rides by driver beside riders",
        RIDES,
        (
            _RIDERS,
            "c.vehicle: {unit: {driver: driver_id}}",
            "c.ride: {unit: {driver: plate -> c.vehicle.driver_id}}",
        ),
        "ride",
    ),
    Case(
        "rides by driver alone",
        RIDES,
        (
            "c.vehicle: {unit: {driver: driver_id}}",
            "c.ride: {unit: {driver: plate -> c.vehicle.driver_id}}",
        ),
        "ride",
    ),
    *(
        Case(f"{table} {unit} of nobody", _LIBRARY, (f"c.{table}: {{unit: {unit}}}",), table)
        for table, unit in (
            ("ausleihen", "row"),
            ("ausleihen", "{ausleihe: id}"),
            ("mahnungen", "row"),
            ("mahnungen", "{ausleihe: ausleihe}"),
            ("cdr", "{subscriber: a_number}"),
            ("cdr", "{subscriber: cell}"),
            ("mails", "{user: sender_id}"),
            ("teams", "row"),
            ("teams", "{team: id}"),
            ("parties", "row"),
            ("fahrten", "{fahrer: fahrer_id}"),
        )
    ),
    Case("walks of many", _GLADIATORS, (_GLADIATOR, "c.walks: {unit: row}"), "walks"),
    Case(
        "stays of public gladiators",
        _GLADIATORS,
        ("c.gladiators: public", "c.stays: {unit: row}"),
        "stays",
    ),
    Case(
        "stays by stay of public gladiators",
        _GLADIATORS,
        ("c.gladiators: public", "c.stays: {unit: {stay: id}}"),
        "stays",
    ),
    Case(
        "beds of public gladiators, perhaps of none",
        _GLADIATORS,
        ("c.gladiators: public", "c.beds: {unit: row}"),
        "beds",
    ),
    Case(
        "meals of public stays", _GLADIATORS, ("c.stays: public", "c.meals: {unit: row}"), "meals"
    ),
    Case("a view with other names", _GLADIATORS, ("c.flat: {unit: row}",), "flat"),
    *(
        Case(
            f"the public {table}",
            _MEMBERS,
            (_MEMBER, "c.visits: {unit: {member: member_id}}", f"c.{table}: public"),
            table,
        )
        for table in ("badge", "refs", "coach", "gehalt", "schulden", "scores", "results", "dna")
    ),
)

HONEST = (
    Case("exams by student", SCHOOL, (_STUDENTS, "c.exams: {unit: {student: student_id}}")),
    Case("exams by student alone", SCHOOL, ("c.exams: {unit: {student: student_id}}",)),
    Case(
        "exams by student, subjects public",
        SCHOOL,
        (
            _STUDENTS,
            "c.exams: {unit: {student: student_id}, columns: {subject_id: {references: c.subjects.id}}}",
        ),
    ),
    Case(
        "expenses by employee", LEDGER, (_EMPLOYEES, "c.expenses: {unit: {employee: employee_id}}")
    ),
    Case("shifts by employee", LEDGER, (_EMPLOYEES, "c.shifts: {unit: {employee: employee_id}}")),
    Case(
        "timesheets by employee",
        LEDGER,
        (_EMPLOYEES, "c.timesheets: {unit: {employee: employee_id}}"),
    ),
    Case("sessions by user", LOGINS, (_USERS, "c.sessions: {unit: {user: user_id}}")),
    Case("gifts by fan", LOGINS, (_FANS, "c.gifts: {unit: {fan: fan_id}}")),
    Case(
        "rides by rider",
        RIDES,
        (
            _RIDERS,
            "c.ride: {unit: {rider: rider_id}, columns: {id: {}}}",
            "c.rating: {unit: {rider: ride_id -> c.ride.rider_id}}",
        ),
    ),
    Case("gladiators and stays", _GLADIATORS, (_GLADIATOR, _STAYS)),
    Case("a view by the right column", _GLADIATORS, (_GLADIATOR, "c.flat: {unit: {gladiator: k}}")),
    Case(
        "events and a partition",
        _EVENTS,
        (
            "c.events: {unit: {user: user_ref}}",
            "c.events_a: {unit: {user: user_ref}}",
        ),
    ),
    Case(
        "a library",
        _LIBRARY,
        (
            _LESENDE,
            "c.ausleihen: {unit: {lesende: wer}, columns: {buch: {references: c.buecher.isbn}}}",
            "c.buecher: public",
        ),
    ),
    *(
        Case(f"the lookup {table}", _MEMBERS, (_MEMBER, f"c.{table}: public"))
        for table in ("rates", "life", "weather", "money")
    ),
)

QUIET = (
    *(
        Case(f"the public {table}", _MEMBERS, (_MEMBER, f"c.{table}: public"))
        for table in ("precincts", "parties", "authors", "vornamen", "login_methods", "product")
    ),
    Case(
        "gifts by both",
        LOGINS,
        (
            _FANS,
            "c.candidates: {unit: {candidate: id}}",
            "c.gifts: {unit: {candidate: candidate_id}}",
        ),
    ),
    Case(
        "timesheets by employee, customers public",
        LEDGER,
        (_EMPLOYEES, "c.timesheets: {unit: {employee: employee_id}}", "c.customers: public"),
    ),
    Case(
        "companies with a telephone, and what refers to them",
        LEDGER + "ALTER TABLE c.customers ADD phone text;"
        "CREATE VIEW c.shown AS SELECT company FROM c.customers;"
        "CREATE TABLE c.contracts (id integer PRIMARY KEY, customer_id integer REFERENCES c.customers);",
        (_EMPLOYEES, "c.customers: public", "c.shown: public", "c.contracts: public"),
    ),
    Case(
        "invoices of companies",
        LEDGER
        + "CREATE TABLE c.invoices (id integer PRIMARY KEY, customer_id integer NOT NULL REFERENCES"
        " c.customers, sum integer);",
        (_EMPLOYEES, "c.customers: public", "c.invoices: {unit: row}"),
    ),
    Case(
        "expenses by account",
        LEDGER,
        ("c.accounts: {unit: {account: id}}", "c.expenses: {unit: {account: account_id}}"),
    ),
)
