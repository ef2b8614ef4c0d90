"""A limit on everything that a client can make large. Units last in the names."""

STATEMENT_BYTES = 16 * 1024  # of a statement that may touch protected data (design/SQL.md 3)
STATEMENT_TOKENS = 4_000
NESTING_DEPTH = 32
NOT_CHAIN = 16
SQUARE_BRACKETS = 32  # 400 chained subscripts take the parser seconds (design/SQL.md 1, 25)
EXPRESSION_DEPTH = 100  # every later pass is recursive
PARAMETERS = 65_535  # of one statement, as the protocol counts them
REPEATED_NODES = 64  # of an operand that stands twice in the typed form: BETWEEN, CASE x WHEN
COLUMNS_PER_RESULT = 1_664  # PostgreSQL's own limit, MaxTupleAttributeNumber
RELEASES_PER_STATEMENT = 64
GROUPS_PER_STATEMENT = 10_000
JOINED_ROWS_PER_UNIT = 10_000  # that a join of several rows of a unit with several others may form
PUBLIC_LIST_ELEMENTS = 50_000  # of all lists of public tables (IN (SELECT ...)) of a statement
PUBLIC_LIST_BYTES = 1024 * 1024  # of their texts
POLICY_BYTES = 1024 * 1024
IDENTIFIER_BYTES = 63  # NAMEDATALEN - 1
