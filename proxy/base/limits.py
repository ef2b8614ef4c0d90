r"""A limit on everything that a client can make large. Units last in the names.

| what | limit | why it has to be one |
|---|---|---|
| a statement on protected tables | STATEMENT_BYTES, _TOKENS, NESTING_DEPTH ... | time and stack of each pass |
| a text constant, however it came | CONSTANT_BYTES | functions of text allocate a multiple of it |
| all constants of a statement together | CONSTANTS_BYTES | the statement that is sent to the database |
| % and _ in a LIKE pattern | PATTERN_WILDCARDS | each % is one more level of PostgreSQL's stack |
| bytes that LIKE, strpos, starts_with look for | SEARCHED_BYTES | time: text times pattern |
| bytes that replace() puts in | REPLACEMENT_BYTES | a text of TEXT_CHARACTERS grows so many times |
| characters of lpad() and rpad() | PADDED_CHARACTERS | bytes of a row that is sorted |
| characters that a trim takes away | TRIM_CHARACTERS | 12 bytes are allocated for each |
| characters of a text by which rows are grouped | KEY_CHARACTERS | bytes of a row that is sorted |
| digits of a private key, before and after the point | KEY_DIGITS | bytes of a row that is sorted |
| keys of a GROUP BY | GROUP_KEYS | bytes of a row that is sorted |
| levels of GROUPING SETS, ROLLUP and CUBE, written out | GROUPING_SETS | each is a query of its own |
| nodes, with subqueries put in | EXPANDED_NODES | time of planning, here and in PostgreSQL |
| digits of a number, before and after the point | NUMBER_DIGITS | numeric has 131,072 and 16,383 |
| values of public keys, of all queries together | KEY_VALUES_TOGETHER | time of planning |
| digits of the fraction of a percentile | FRACTION_DIGITS | time of a draw, which data sets off |
| digits of a bound of computed values | BOUND_DIGITS | time of planning; Python prints 4,300 |
| tables and subqueries, with CTEs put in | RELATIONS | time of reading and planning |
| elements of an IN list | LIST_ELEMENTS | expressions of one statement |
| time that the rows of one unit take | UNIT_NANOSECONDS | a client's time limit would tell of it |
| bytes of temporary files of one unit | UNIT_CARRIED_BYTES | temp_file_limit would tell of it |
| the same of a row of which a unit has as many as it stores | ROW_NANOSECONDS, ROW_CARRIED_BYTES | the same |
| time that the rows of public tables take | UNIT_NANOSECONDS | one person decides whether they are read |
| rows that joins form of one unit | JOINED_ROWS_PER_UNIT | accuracy: noise grows with it |
| rows between one and that of its lag() or lead() | WINDOW_OFFSET | rows kept in memory |
| characters of a stored text, where a function needs a multiple | TEXT_CHARACTERS | MaxAllocSize, 1 GB - 1 |
| characters of a stored text beside \|\| | CONCATENATED_CHARACTERS | memory: it copies what is before it |
| bytes that are stored of a jsonb or an array | INSIDE_STORED_BYTES | memory: each look unpacks it |
| elements of an array that is looked into | INSIDE_ELEMENTS | time: each look goes through them |
| bytes of an object in a jsonb that is printed | INSIDE_PRINTED_BYTES | MaxAllocSize: 1e131071 |
| what the arguments of a run are in JSON | ARGUMENTS_JSON_BYTES | memory of this process |

What a row may cost has one price, of all that it computes and carries: kernel/work_prices.py and
kernel/work.py. The limits on single constants that stay here guard other things: memory of one call, stack,
the statement's size.

Constants are measured after binding and before the charge (planner/text_lengths.py): an error that
only large arguments cause, and only on some row, tells whether the row is there. Why nothing raises within
these limits: proxy/mechanisms/TOTALITY.md.
"""

STATEMENT_BYTES = 16 * 1024  # of a statement that may touch protected data (docs/design/sql.md 3.1)
# The same with its parameters and their types: of LIST_ELEMENTS drivers write `$1234::INTEGER, ` each.
STATEMENT_TEXT_BYTES = 48 * 1024
STATEMENT_TOKENS = (
    4_200  # a parameter, with its type, counts as one; LIST_ELEMENTS and the commas between
)
NESTING_DEPTH = 32
NOT_CHAIN = 16
SQUARE_BRACKETS = 32  # 400 chained subscripts take the parser seconds (docs/design/sql.md 3.1)
EXPRESSION_DEPTH = 100  # every later pass is recursive
PARAMETERS = 65_535  # of one statement, as the protocol counts them
REPEATED_NODES = 128  # of an operand that occurs twice in the typed form: BETWEEN, CASE x WHEN
COLUMNS_PER_RESULT = 1_664  # PostgreSQL's own limit, MaxTupleAttributeNumber
RELEASES_PER_STATEMENT = 64
NOISY_EXPRESSION_PARTS = 200  # of arithmetic over aggregates, of which an interval is asked
NOISY_PARTS_PER_BLOCK = (
    1_000_000  # of all such intervals, group by group: some seconds of a processor
)
GROUPS_PER_STATEMENT = 10_000
KEY_VALUES_TOGETHER = 50_000  # of the keys of all queries of a statement: a second of planning
TIMES_FORMATTED = 20_000  # by to_char(), to find what its texts are: some tenths of a second
JOINED_ROWS_PER_UNIT = 10_000  # that a join of several rows of a unit with several others may form
PUBLIC_LIST_ELEMENTS = 50_000  # of all lists of public tables (IN (SELECT ...)) of a statement
PUBLIC_LIST_BYTES = 1024 * 1024  # of their texts
POLICY_BYTES = 1024 * 1024
IDENTIFIER_BYTES = 63  # NAMEDATALEN - 1

UNIT_NANOSECONDS = (
    250_000_000  # of the database's processor, for all rows of one unit in a statement
)
UNIT_CARRIED_BYTES = 64 * 1024 * 1024  # of temporary files, for all rows of one unit in a statement
ROW_NANOSECONDS = 25_000  # where a unit has as many rows as it stores: 0.25 s for 10,000 of them
ROW_CARRIED_BYTES = 32 * 1024
NUMBER_AFTER_POINT = 40  # digits of a number without a scale, where it enters arithmetic
# Characters of a stored text that are looked at, where a join repeats its row: the most that the price allows.
TEXT_BEGINNINGS = (1024 * 1024, 64 * 1024, 8 * 1024, 1024, 256)
SHORT_TEXT_CHARACTERS = 64  # whose beginning costs less than to look how long it is
JOINED_TEXT_OCTETS = 4 * 1024  # a longer text equals no other one in a join, and names no unit
STORED_TEXT_OCTETS = 1024  # a longer stored text counts as so many more rows
LONGEST_TEXT_OCTETS = 2**30  # that PostgreSQL stores, in memory
LONGEST_NUMBER_NANOSECONDS = 12_000  # to unpack a numeric of 147,455 digits

CONSTANT_BYTES = 8 * 1024
CONSTANTS_BYTES = 64 * 1024
PATTERN_WILDCARDS = 100
SEARCHED_BYTES = 256
TRIM_CHARACTERS = 100
REPLACEMENT_BYTES = 16
PADDED_CHARACTERS = 1024
GROUP_KEYS = 16
GROUPING_SETS = 64
KEY_CHARACTERS = 1024  # of a stored text as a key, and where distinct texts are counted
KEY_DIGITS = 500  # of a number as a private key, before and after the point: with both KEY_CHARACTERS at most
EXPANDED_NODES = (
    20_000  # of a statement's expressions, with subqueries put in: PostgreSQL plans so many
)
NUMBER_DIGITS = 400
FRACTION_DIGITS = 15
BOUND_DIGITS = (
    1_000  # of a public bound that arithmetic on such numbers leads to: Python's own time
)
RELATIONS = 1_000  # two thirds of a millisecond each
LIST_ELEMENTS = 2_000
WINDOW_OFFSET = 1_000
TEXT_CHARACTERS = 1024 * 1024
CONCATENATED_CHARACTERS = 16 * 1024  # of each operand of ||, whose results are copied once for each
CONCATENATED_TOGETHER = 32  # operands of one ||: 35 MiB of copies at the worst
INSIDE_STORED_BYTES = (
    16 * 1024
)  # of which lz4 makes 4 MiB in memory at most; a longer value counts as NULL
INSIDE_ELEMENTS = 64 * 1024  # of an array of NULLs 32 million are stored in 16 KiB
INSIDE_PRINTED_BYTES = 1024  # 64 numbers of 131,072 digits
PROTECTED_SECONDS = 120  # of one query on the protected server: what ends it after the charge
ARGUMENTS_BYTES = 256 * 1024  # of one Bind, as the client sends them
# Six bytes of JSON for one of text at the worst (\u0001), and room for numbers and times.
ARGUMENTS_JSON_BYTES = 6 * CONSTANTS_BYTES + ARGUMENTS_BYTES
OPERATOR_CHARACTERS = 256  # side by side; an operator of PostgreSQL has 63 at most
LOOKED_AT_BYTES = (
    256 * 1024
)  # of a statement; a longer one is relayed unread, to a shadow without rows
