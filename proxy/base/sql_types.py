"""The SQL types that dpproxy reads; everything else is OTHER and cannot be used in a question."""

from __future__ import annotations

from enum import Enum


class SqlType(Enum):
    """Name as `format_type` prints it without modifier -> OID (PostgreSQL's pg_type.dat, stable)."""

    BOOL = ("boolean", 16)
    INT2 = ("smallint", 21)
    INT4 = ("integer", 23)
    INT8 = ("bigint", 20)
    NUMERIC = ("numeric", 1700)
    FLOAT4 = ("real", 700)
    FLOAT8 = ("double precision", 701)
    TEXT = ("text", 25)
    VARCHAR = ("character varying", 1043)
    BPCHAR = ("bpchar", 1042)  # "character" would be character(1)
    DATE = ("date", 1082)
    TIMESTAMP = ("timestamp without time zone", 1114)
    TIMESTAMPTZ = ("timestamp with time zone", 1184)
    UUID = ("uuid", 2950)
    TID = ("tid", -2)  # of ctid, the place of a row; a column of this type is OTHER
    ENUM = ("text", -1)  # any enumeration, read as the text of its label, as the shadow shows it
    COLLATED = ("text", -3)  # texts of several collations, all read in the database's own
    INTERVAL = ("interval", -4)  # constants and differences of times
    # What is in such a column can be asked about, not the value as a whole.
    JSONB = ("jsonb", -5)
    TEXT_ARRAY = ("text[]", -6)  # and those of character varying
    INT2_ARRAY = ("smallint[]", -7)
    INT4_ARRAY = ("integer[]", -8)
    INT8_ARRAY = ("bigint[]", -9)
    DURATION = ("interval", -10)  # a column of type interval
    TIME_OF_DAY = ("time without time zone", 1083)  # compared and taken apart only
    CLOCK_TIME = ("time without time zone", -11)  # what a clock shows at a timestamp, in seconds
    OTHER = ("", 0)

    @property
    def sql(self) -> str:
        return self.value[0]

    @property
    def oid(self) -> int:
        return self.value[1]

    @property
    def is_integer(self) -> bool:
        return self in (SqlType.INT2, SqlType.INT4, SqlType.INT8)

    @property
    def is_float(self) -> bool:
        return self in (SqlType.FLOAT4, SqlType.FLOAT8)

    @property
    def is_number(self) -> bool:
        return self.is_integer or self.is_float or self is SqlType.NUMERIC

    @property
    def is_text(self) -> bool:
        texts = (SqlType.TEXT, SqlType.VARCHAR, SqlType.BPCHAR, SqlType.ENUM, SqlType.COLLATED)
        return self in texts

    @property
    def is_time(self) -> bool:
        """Date or timestamp: ordered, bounded, MIN and MAX apply."""
        return self in (SqlType.DATE, SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ)

    @property
    def element(self) -> SqlType | None:
        """Of an array, the type of what is in it."""
        return _HELD.get(self)

    @property
    def is_compound(self) -> bool:
        """Neither grouped by nor bounded as a whole: also intervals that are stored, of which equal ones can
        have different parts, and times of day, which are numbers of seconds instead."""
        return self.is_container or self is SqlType.DURATION or self.is_time_of_day

    @property
    def is_time_of_day(self) -> bool:
        return self in (SqlType.TIME_OF_DAY, SqlType.CLOCK_TIME)

    @property
    def is_container(self) -> bool:
        """jsonb, an array: what is in it can be looked for."""
        return self is SqlType.JSONB or self in _HELD

    def meets_blank_padded(self, other: SqlType) -> bool:
        """Whether values are compared without their trailing blanks though they have them on one side: a
        character(n) that meets character varying is compared as character(n), so that 'a' and 'a ' equal one
        value (PostgreSQL 17 documentation, section 8.3). One that meets text becomes text, and different
        values stay different.

        >>> SqlType.BPCHAR.meets_blank_padded(SqlType.VARCHAR)
        True
        >>> SqlType.BPCHAR.meets_blank_padded(SqlType.TEXT)
        False
        """
        return {self, other} == {SqlType.BPCHAR, SqlType.VARCHAR}


_HELD = {
    SqlType.TEXT_ARRAY: SqlType.TEXT,
    SqlType.INT2_ARRAY: SqlType.INT2,
    SqlType.INT4_ARRAY: SqlType.INT4,
    SqlType.INT8_ARRAY: SqlType.INT8,
}
# Of columns -> what is no type of a constant.
_OF_COLUMNS = {
    3802: SqlType.JSONB,
    1009: SqlType.TEXT_ARRAY,
    1015: SqlType.TEXT_ARRAY,
    1005: SqlType.INT2_ARRAY,
    1007: SqlType.INT4_ARRAY,
    1016: SqlType.INT8_ARRAY,
    1186: SqlType.DURATION,
}
_BY_OID = {member.oid: member for member in SqlType}
# Of arrays -> the type of an element (pg_type.dat, stable).
_ELEMENTS = {
    1000: SqlType.BOOL,
    1005: SqlType.INT2,
    1007: SqlType.INT4,
    1016: SqlType.INT8,
    1231: SqlType.NUMERIC,
    1021: SqlType.FLOAT4,
    1022: SqlType.FLOAT8,
    1009: SqlType.TEXT,
    1014: SqlType.BPCHAR,
    1015: SqlType.VARCHAR,
    1182: SqlType.DATE,
    1115: SqlType.TIMESTAMP,
    1185: SqlType.TIMESTAMPTZ,
    1183: SqlType.TIME_OF_DAY,
    1187: SqlType.INTERVAL,
    2951: SqlType.UUID,
}


def by_oid(oid: int) -> SqlType:
    """
    >>> by_oid(23)
    <SqlType.INT4: ('integer', 23)>
    """
    return _BY_OID.get(oid, SqlType.OTHER)


def of_column(oid: int) -> SqlType:
    """The type of a column, which may be one that no constant has.

    >>> of_column(3802), by_oid(3802)
    (<SqlType.JSONB: ('jsonb', -5)>, <SqlType.OTHER: ('', 0)>)
    """
    return _OF_COLUMNS.get(oid) or by_oid(oid)


def element_of(oid: int) -> SqlType:
    """The type of an array's elements; OTHER where it is no array, or one of a type that is not read.

    >>> element_of(1007), element_of(23)
    (<SqlType.INT4: ('integer', 23)>, <SqlType.OTHER: ('', 0)>)
    """
    return _ELEMENTS.get(oid, SqlType.OTHER)
