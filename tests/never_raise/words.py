"""What random expressions are made of: columns of tests.pipeline_world, and constants that are hard to get
right."""

from __future__ import annotations

NUMBERS = ("i2", "i4", "i8", "n2", "n", "f4", "f8")
WHOLE = ("i2", "i4", "i8")
NUMBER_CONSTANTS = (
    *("0", "1", "-1", "2.5", "-0.001", "100", "32767", "-32768", "2147483647", "-2147483648"),
    *("9223372036854775807", "3000000000", "1e15", "-1e-15", "1e300", "1e-310", "NULL", "'7'"),
    *(
        "$1",
        "$2",
        "1::smallint",
        "2.5::float8",
        "3::real",
        "4::numeric",
        "1e-310::real",
        "99999::smallint",
    ),
    *("$8", "$9"),  # the largest and the smallest number that is taken
)
DIVISORS = ("2", "-3", "7", "0.5", "1000", "1e-9", "3::bigint")
TEXTS = ("t", "c", "s", "e")
TEXT_CONSTANTS = (
    "''",
    "'x'",
    "'SECRET'",
    "'a%'",
    r"'\'",
    "'😀'",
    "NULL",
    "$3",
    "'a'::text",
    "'low'",
    "$$x$$",
    "$5",  # as long as a constant may be
    "$7",  # as many characters as a trim may take away
)
PATTERNS = (
    *(
        "'%'",
        "''",
        "'a%'",
        "'%b_'",
        r"'%\_'",
        r"'\%%'",
        r"'a\\'",
        "'_'",
        "'SEC%ET'",
        "'ß%'",
        "NULL",
    ),
    *(r"'SECRET\'", r"'ab\'", r"'%\'"),
    *("$5", "$6"),  # the latter with as many wildcards as are taken
)
PARTS = ("'-'", "''", "'a'", "'SECRET'", "'😀'", "$6")
PLACES = ("1", "-1", "0", "3", "2147483647")
SHORT_TEXTS = ("''", "'x'", "'😀😀😀😀'", "'0123456789abcdef'")
PADDED = ("0", "3", "-1, 'x'", "1024, '😀'", "5, ''", "20, 'SECRET'")
EXPRESSIONS = (
    *(
        "'^S'",
        "'(a|e)?$'",
        "'^(x|é|%)?.*e$'",
        "'[a-z]{2,5}'",
        "'[^x]*x'",
        r"'\d+\.\s'",
        "'(.?){30}e{30}'",
        "'%|'",
        "NULL",
    ),
    *(
        "'(.*e){8}'",
        "'[^\U0001f600]'",
        "'(e|ee|eee)*ab'",
        r"'(a)\1'",
        "'*a'",
        "'a{1001}'",
        "$5",
        "$3",
    ),
)
SIMILAR = ("'%(e|x)%'", "'_{2,4}'", r"'\%%'", "'[a-c]+'", "'(a'", "'%.*'")
DAYS = ("d",)
INSTANTS = ("ts", "tz")
TIME_CONSTANTS = (
    *(
        "date '2010-07-08'",
        "date '0001-01-01'",
        "date '9999-12-31'",
        "timestamp '2000-01-01 12:30:00'",
    ),
    *(
        "timestamptz '2019-12-31 23:59:59+00'",
        "timestamp '9999-12-31 23:59:59.999999'",
        "'2010-07-08'",
        "$4",
    ),
)
FIELDS = (
    *("year", "month", "day", "quarter", "dow", "doy", "isodow", "week", "isoyear", "epoch"),
    *("hour", "minute", "second"),
)
UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
INTERVALS = (
    *(
        "interval '1000 years'",
        "interval '1 day'",
        "interval '-13 months'",
        "interval '90 minutes'",
    ),
    *("'999 years'::interval", "interval '365000 days'", "interval '7' day"),
)
CLOCK_TIMES = ("'24:00'", "'00:00:00.000001'", "'23:59:59.999999'::time", "NULL")
WIDTHS = ("'15 minutes'", "'31 days'", "interval '7 days'", "'1 microsecond'")
ZONES = ("Pacific/Kiritimati", "Etc/GMT+12", "America/New_York", "Asia/Kolkata", "UTC")
TEMPLATES = ("'YYYY-MM-DD HH24:MI:SS'", "'FMMonth Day'", "'IYYY-IW DDD'", "'HH12 AM'")
KEYS = ("'k'", "'n'", "'o'", "''", "'-1'", "0", "-1", "2147483647", "-2147483648", "$3", "$1")
JSONS = (
    *("""'{"k": "x"}'""", """'{"k": {"k": "x"}}'""", "'[1]'", "'[]'", "'{}'", "'\"x\"'", "'null'"),
    *(
        """'["x", [7], {"k": ["x"]}]'""",
        "'1e300'::jsonb",
        """'{"": {}}'""",
        f"'{'[' * 30}{']' * 30}'",
    ),
)
PATHS = ("'{k}'", "ARRAY['k', 'n']", "'{o,k}'")
ARRAYS = ("ARRAY[1, 7]", "'{}'", "'{2147483647}'", "ARRAY[NULL, 1]", "'{1,2}'::int[]")
COMPARATORS = ("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
