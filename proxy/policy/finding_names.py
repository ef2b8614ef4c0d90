"""Everything that a policy, or the database that it is about, can be found to have wrong: one list of names.

A name is stable: policies accept findings by it.
"""

from __future__ import annotations

from enum import Enum


class Severity(Enum):
    SEVERE = "severe"  # people's data can get out, or answers mean something else: `serve` refuses
    WARNING = "warning"
    NOTE = "note"


class FindingName(Enum):
    """severity; what it means, in one sentence."""

    PUBLIC_LISTS_PEOPLE = (
        Severity.SEVERE,
        "An identifier, or the reference that leads to it, refers to a public table: that table lists people.",
    )
    PUBLIC_REFERS_TO_PEOPLE = (
        Severity.SEVERE,
        "A public table refers to a protected table, or to a table about its people: each row belongs to a "
        "person.",
    )
    PUBLIC_HOLDS_IDENTIFIER = (
        Severity.SEVERE,
        "A public table has a column with the name and the type of an identifier: its rows are most likely "
        "people's, though no foreign key says so.",
    )
    PUBLIC_LOOKS_LIKE_PEOPLE = (
        Severity.SEVERE,
        "A public table looks as if it were about people: by its name, by a column such as email or birth "
        "date, or by a column or key that refers to people.",
    )
    PUBLIC_MAY_LIST_PEOPLE = (
        Severity.SEVERE,
        "The key of a public table fits, by its name or the table's, a unit column without a foreign key: the "
        "table may list the people.",
    )
    PUBLIC_SHOWS_PEOPLE = (
        Severity.SEVERE,
        "A public view, parent or foreign table shows rows of a protected table, or of one about people.",
    )
    PROTECTED_ROWS_ARE_PUBLIC = (
        Severity.SEVERE,
        "A partition or child of a protected table, or what a protected view shows, is public: the same rows "
        "stand there unprotected.",
    )
    PROTECTED_IN_TWO_WAYS = (
        Severity.SEVERE,
        "The same rows are in two protected tables with different units: only the weaker protection holds.",
    )
    ROW_UNIT_REFERS_TO_PEOPLE = (
        Severity.SEVERE,
        "The unit is the row, but the table refers to people, of whom each can have many rows.",
    )
    OLD_POSTGRESQL = (
        Severity.SEVERE,
        "The shadow's PostgreSQL has published holes: an analyst can run code as its operating-system user.",
    )
    OLD_POSTGRESQL_IN_THE_OPEN = (
        Severity.SEVERE,
        "The shadow's PostgreSQL has published holes, and nothing separates it from ledger and passwords.",
    )
    TRUSTED_SOCKET_IN_THE_OPEN = (
        Severity.SEVERE,
        "A server of the protected data or of the ledger lets dpproxy's system user in without a password over "
        "a Unix socket, and nothing keeps code in the shadow from that socket.",
    )
    ROW_UNIT_NAMES_PEOPLE = (
        Severity.SEVERE,
        "The unit is the row, and a column is called as an identifier of people is: a person can have "
        "many rows.",
    )
    UNIT_LEADS_ELSEWHERE = (
        Severity.SEVERE,
        "The unit column tells something else apart than the people of the identifier, by its foreign key or "
        "its name.",
    )
    VALUES_NAME_PEOPLE = (
        Severity.SEVERE,
        "The public keys of a column are names, addresses, numbers or free texts of people: all are published.",
    )
    STATEMENT_DELTA_PUBLISHES = (
        Severity.SEVERE,
        "The delta of a statement is above 1/1000: one of 1,000 people may be published by each statement.",
    )
    TOTAL_IS_LARGE = (
        Severity.SEVERE,
        "The epsilon of the total is above 50: nothing is promised to anybody against all answers together.",
    )
    VALUES_NOT_IN_ENUMERATION = (
        Severity.SEVERE,
        "The public keys of a column have labels that its enumeration does not have.",
    )
    VALUES_AGAINST_CHECK = (
        Severity.SEVERE,
        "The public keys of a column have values that a CHECK constraint of the table forbids.",
    )
    PUBLIC_IS_LARGE = (
        Severity.SEVERE,
        "A public table has more than 2,000,000 rows or 1 GiB: it is copied at each start and every hour.",
    )
    ROLE_ATTRIBUTE = (
        Severity.SEVERE,
        "The role of `source` has an attribute that allows more than reading.",
    )
    ROLE_MEMBERSHIP = (
        Severity.SEVERE,
        "The role of `source` is a member of a role that allows more than reading.",
    )
    ROLE_OWNS = (
        Severity.SEVERE,
        "The role of `source`, or a role that it is a member of, owns tables or views.",
    )
    ROLE_MAY_WRITE = (
        Severity.SEVERE,
        "The role of `source`, or a role that it is a member of, may write to tables or sequences.",
    )
    ROLE_MAY_CREATE = (
        Severity.SEVERE,
        "The role of `source`, or a role that it is a member of, may create objects in a schema or database.",
    )
    ROLE_LOADS_CODE = (
        Severity.SEVERE,
        "A setting of the role or database loads foreign code, or another role, into each session.",
    )
    LOGS_PARAMETERS = (
        Severity.SEVERE,
        "The server logs statements with their parameters: the constants that analysts compare people's values "
        "with, and the seeds of partitions.",
    )
    LOGS_PLANS = (
        Severity.SEVERE,
        "The server logs plans or trees of the proxy's statements: exact numbers of rows, and constants.",
    )
    TEMP_FILES_UNLIMITED = (
        Severity.SEVERE,
        "temp_file_limit is -1: a query can fill the disk of the protected server, and whether it does "
        "can depend on one person.",
    )
    TEMP_FILES_TOO_SMALL = (
        Severity.SEVERE,
        "temp_file_limit is below what the rows of one person can take in an allowed query, so whether it is "
        "reached can reveal something about that person.",
    )
    SETTING_CHANGES_MEANING = (
        Severity.SEVERE,
        "A setting makes comparisons differ from what is planned.",
    )
    ENCODING_NOT_UTF8 = (
        Severity.SEVERE,
        "A text that cannot be converted makes a statement fail, which reveals something about a row.",
    )
    UNIT_COLLATION = (
        Severity.SEVERE,
        "The unit column has a nondeterministic collation: one unit could be counted as several.",
    )
    OLD_POSTGRESQL_OF_THE_WHEEL = (
        Severity.WARNING,
        "The embedded PostgreSQL of the shadow has published holes: only walls keep an analyst's code from "
        "ledger and passwords. Use that of the distribution (`--pg-bin`).",
    )
    TRUSTED_SOCKET = (
        Severity.WARNING,
        "A server of the protected data or of the ledger lets dpproxy's system user in without a password over "
        "a Unix socket: only walls keep code in the shadow out.",
    )
    REFERENCE_LEADS_ELSEWHERE = (
        Severity.WARNING,
        "`references` of a column names another table than the column's foreign key leads to.",
    )
    SAME_PEOPLE_TWO_NAMES = (
        Severity.WARNING,
        "Two identifiers of the policy refer to the same people: they are protected as if they were different "
        "people.",
    )
    UNIT_LEAVES_OUT_PEOPLE = (
        Severity.WARNING,
        "A row refers to more people than its unit, of one kind or of another: they are not protected there.",
    )
    UNIT_MAY_LEAD_ELSEWHERE = (
        Severity.WARNING,
        "The identifier is a person, and the unit column is called as a place, a kind or an amount: many "
        "people can share one, and one can have several.",
    )
    ROW_UNIT_MAY_REFER_TO_PEOPLE = (
        Severity.WARNING,
        "The unit is a row, or nobody known, and rows may refer to people: by a foreign key to a table that "
        "is no lookup, or by a list or document in a column. A person can have many rows.",
    )
    PUBLIC_MAY_NAME_PEOPLE = (
        Severity.WARNING,
        "A public table may be about people: it has addresses, words for people, documents, many rows, or a "
        "key of the type of a unit column.",
    )
    PUBLIC_IS_NOT_NEEDED = (
        Severity.WARNING,
        "No foreign key or `references` of a protected table leads to a public table, and it is no plain "
        "lookup: say why it is public.",
    )
    PUBLIC_CALLS_FUNCTION = (
        Severity.WARNING,
        "A public view calls a function of your own: what the function reads is in no catalogue.",
    )
    PUBLIC_IS_FOREIGN = (
        Severity.WARNING,
        "A public table stands on another server: whether it is about people cannot be looked at here.",
    )
    IDENTIFYING_COLUMN = (
        Severity.WARNING,
        "A column that most likely names people is listed: analysts can ask about one of them by name.",
    )
    VALUES_MAY_NAME_PEOPLE = (
        Severity.WARNING,
        "The public keys of a column may be people's: dates, names, numbers of records, or very many; or the "
        "column is called as people are.",
    )
    VALUES_LEAVE_OUT_LABELS = (
        Severity.WARNING,
        "`values` leaves out labels of the enumeration, or values that a CHECK allows: their rows are in no "
        "group.",
    )
    STATEMENT_EPSILON_LARGE = (
        Severity.WARNING,
        "The epsilon of a statement is above 4: one answer can change the odds about a person by more than 54.",
    )
    STATEMENT_DELTA_LARGE = (
        Severity.WARNING,
        "The delta of a statement is above 1e-5: it belongs far below 1 / number of people.",
    )
    TOTAL_EPSILON_LARGE = (
        Severity.WARNING,
        "The epsilon of the total is above 20: all answers together may say nearly everything about a person.",
    )
    TOTAL_DELTA_LARGE = (
        Severity.WARNING,
        "The delta of a budget for good is above 1e-4: it belongs below 1 / number of people.",
    )
    DELTA_AGAINST_UNITS = (
        Severity.WARNING,
        "A delta is not below a tenth of 1 / `units_about`: it may give away some of the people.",
    )
    UNIT_HAS_BLOCKS = (
        Severity.WARNING,
        "The unit is a person in one block of time: whoever is in several loses as much in each of them.",
    )
    BUDGET_ABOVE_TOTAL = (
        Severity.WARNING,
        "A budget is above the total: it has no effect, or the total is a slip.",
    )
    BUDGET_BELOW_STATEMENT = (
        Severity.WARNING,
        "A budget is below what one statement spends: each is refused.",
    )
    PUBLISHING_ENDS_TOTAL = (
        Severity.SEVERE,
        "What `publish` releases uses up the total within a day: `every` or `epsilon` is most likely a slip.",
    )
    PUBLISHING_USES_TOTAL = (
        Severity.WARNING,
        "What `publish` releases uses up the total within 30 days.",
    )
    BOUNDS_AGAINST_CHECK = (
        Severity.WARNING,
        "The bounds of a column hold none of what a CHECK allows, less than half of a short scale, or are more "
        "than twice as wide.",
    )
    ACCEPTED_WHEREVER = (
        Severity.WARNING,
        "The policy accepts a severe finding about public tables without saying of which: the next one passes "
        "unseen.",
    )
    ROW_SECURITY_HIDES = (
        Severity.WARNING,
        "Row security hides rows from the proxy: answers cover the remaining rows only.",
    )
    VIEW_MAY_RAISE = (
        Severity.WARNING,
        "A protected table is a view: if one of its expressions fails on a row, every query that scans the row "
        "fails.",
    )
    COLLATION_OF_KEYS = (
        Severity.WARNING,
        "A column has a nondeterministic collation: equal keys can print differently.",
    )
    UNREADABLE = (
        Severity.WARNING,
        "The role of `source` cannot read what the policy names.",
    )
    POLICY_DOES_NOT_FIT = (
        Severity.SEVERE,
        "The policy does not fit the database as the role sees it, or something that it publishes cannot be "
        "released: `serve` does not start.",
    )
    NO_INDEX_ON_UNIT = (
        Severity.WARNING,
        "No index begins with the privacy unit: work per unit sorts or hashes the whole table.",
    )
    NOT_VACUUMED = (
        Severity.WARNING,
        "A table is not vacuumed enough: queries of it are slower than they could be.",
    )
    SLOW_PARTITIONS = (
        Severity.WARNING,
        "A table has neither primary key nor row addresses: AVG, MIN and MAX are slower than they could be.",
    )
    UNIQUE_UNIT_MAY_BE_NULL = (
        Severity.WARNING,
        "The unit column is unique but may be NULL: only NOT NULL proves that a unit is one row.",
    )
    COPY_IS_NOT_AS_PRINTED = (
        Severity.WARNING,
        "The view of a prepared copy is not what `dpproxy prepare` prints, so people may not be kept apart:"
        " the copy is not used unless you accept that.",
    )
    COPY_IS_NOT_USED = (
        Severity.WARNING,
        "A prepared copy is not there, or the database does not keep to its bound on rows of a unit.",
    )
    DISTRIBUTION = (
        Severity.WARNING,
        "Citus does not keep the rows of a unit on one node, or a public table on every node.",
    )
    ACCEPTED_WITHOUT_EFFECT = (
        Severity.WARNING,
        "The policy accepts a finding that was not found: remove the line.",
    )
    NO_SUCH_ANALYST = (
        Severity.WARNING,
        "`budgets.analysts` has a name of no analyst: nobody has that budget.",
    )
    NO_SUCH_GROUP = (
        Severity.WARNING,
        "`budgets.groups` has a group without a member: that budget limits nobody.",
    )
    UNIT_MAY_BE_NULL = (
        Severity.NOTE,
        "The unit column may be NULL: rows without a unit are left out of every answer.",
    )
    UNIT_IS_ONE_ROW = (
        Severity.NOTE,
        "The unit column is unique: a unit is one row, so the policy needs no bound on rows.",
    )
    UNIT_THROUGH_REFERENCE = (
        Severity.NOTE,
        "The unit is found through another table: every query joins it.",
    )
    INDEX_DOES_NOT_COVER = (
        Severity.NOTE,
        "No index on the unit has all columns: some queries are slower than they could be.",
    )
    COPY_WOULD_PAY = (
        Severity.NOTE,
        "A large table has many rows of each unit: a prepared copy makes its answers several times faster.",
    )
    ROLE_IS_A_MEMBER = (
        Severity.NOTE,
        "The role of `source` is a member of another role, and has its rights.",
    )
    ROLE_SETTING = (
        Severity.NOTE,
        "A setting of the role or database is part of every session of the proxy.",
    )
    KEEPS_STATISTICS = (
        Severity.NOTE,
        "pg_stat_statements keeps numbers of rows and blocks of the proxy's statements, without parameters.",
    )
    VALUES_LEAVE_OUT_NULL = (
        Severity.NOTE,
        "`values` leaves out null, which the column may hold: those rows are in no group.",
    )
    NOT_IN_THE_POLICY = (
        Severity.NOTE,
        "The role can read a table or columns that the policy does not name: analysts cannot see them.",
    )
    TOTAL_RENEWS = (
        Severity.NOTE,
        "Budgets renew or statements are published: what they come to in a year. The total bounds all years.",
    )
    TOTAL_COULD_LAST_LONGER = (
        Severity.NOTE,
        "Another accounting or noise would allow more answers, as exact as now, within the same total.",
    )

    @property
    def severity(self) -> Severity:
        return self.value[0]

    @property
    def meaning(self) -> str:
        return self.value[1]

    @property
    def to_do(self) -> str:
        """What to do about a finding that comes without a fix of its own."""
        return _TO_DO.get(self.name, "Nothing.")


_TO_DO = {
    "POLICY_DOES_NOT_FIT": "Mend the policy: `dpproxy policy check FILE` says where.",
    "VIEW_MAY_RAISE": "Use no expression in the view that can fail, or name its table in the policy instead.",
    "SLOW_PARTITIONS": "Nothing if answers are fast enough. A primary key makes them faster.",
    "UNIT_MAY_BE_NULL": "Nothing if rows without a unit may be left out. Else fill in the column.",
    "UNIT_THROUGH_REFERENCE": "Nothing if answers are fast enough. A unit column in the table helps.",
    "NOT_IN_THE_POLICY": "Nothing if analysts do not need it. Else add it under `tables`.",
    "TOTAL_RENEWS": "Nothing if you meant this. Else write smaller budgets, or publish less often.",
    "TOTAL_COULD_LAST_LONGER": "Nothing, or make this change and read what `dpproxy policy check FILE` says.",
}
