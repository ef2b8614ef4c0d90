"""What steps of a history are drawn from."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from fractions import Fraction

from hypothesis import strategies as st

from proxy.policy.policy_model import Period
from tests.ledger_machine.asked import (
    GROUPS,
    MILLIONTH,
    NAMES,
    TABLES,
    TOTAL,
    AskedCharge,
    AskedClaim,
    AskedPart,
    AskedRelease,
    Limit,
    Terms,
)

NOON = datetime(2026, 11, 25, 12, tzinfo=timezone.utc)  # a Wednesday
JUMPS = (
    *(timedelta(seconds=30), timedelta(seconds=61), timedelta(hours=1), timedelta(hours=13)),
    *(timedelta(days=1), timedelta(days=7), timedelta(days=31), timedelta(days=70)),
)
PERIODS = st.sampled_from(Period)
LIMITS = st.builds(
    Limit, epsilon=st.sampled_from([1, 2, 3, 4, 6, 10]), delta=st.integers(0, 9), period=PERIODS
)
WIDE = st.builds(
    Limit,
    epsilon=st.sampled_from([4, 10, 20]),
    delta=st.integers(4, 20),
    period=st.just(Period.NONE),
)
TERMS = st.builds(
    Terms,
    default=LIMITS,
    total=WIDE,
    analysts=st.dictionaries(st.just("b"), LIMITS),
    groups=st.dictionaries(st.sampled_from(GROUPS), LIMITS),
    tables=st.dictionaries(st.sampled_from(TABLES), WIDE),
    is_zcdp=st.booleans(),
    slot=st.sampled_from([(86_400, 0), (3600, 0), (86_400, 21_600)]),
)
READ = st.sampled_from([(), ("s.t",), ("s.t", "s.u")])
CACHED = st.builds(
    AskedPart,
    name=st.sampled_from([0, 0, 0, 1, 2]),
    price=st.sampled_from([0, 0, 1, 3, 4, 5, 6]),
    tables=READ,
)
POPULAR = AskedPart(name=0)
APART = st.builds(AskedPart, name=st.none(), price=st.integers(0, 6), tables=READ)
PARTS = st.lists(st.one_of(CACHED, CACHED, CACHED, APART), min_size=1, max_size=2).map(tuple)
WHO = st.sampled_from(NAMES)
OTHER = st.sampled_from([None, None, None, None, "a", "b"])
PROCESS = st.integers(0, 1)
OFTEN_NOT = st.sampled_from([False] * 7 + [True])
CLAIMS = st.lists(
    st.builds(
        AskedClaim,
        who=WHO,
        parts=PARTS,
        may_draw=st.sampled_from([True, True, True, False]),
        is_withdrawn=OFTEN_NOT,
    ),
    min_size=1,
    max_size=6,
)
CHARGES = st.lists(
    st.builds(AskedCharge, who=WHO, part=APART, is_withdrawn=OFTEN_NOT, is_unreadable=OFTEN_NOT),
    min_size=1,
    max_size=6,
)
STATEMENTS = (("x", "SELECT 1"), ("x", "SELECT 2"), ("y", "SELECT 1"))
SLOTS = ((86_400, 21_600), (3600, 600))
RELEASES = st.builds(
    lambda statement, **given: AskedRelease(name=statement[0], sql=statement[1], **given),
    statement=st.sampled_from([*STATEMENTS[:1] * 3, *STATEMENTS]),
    price=st.sampled_from([0, 0, 0, 1, 3, 4]),
    tables=st.sampled_from([(), ("s.t",), ("s.t",), ("s.t", "s.u")]),
    slot=st.sampled_from([SLOTS[0], SLOTS[0], SLOTS[1]]),
    is_now=st.sampled_from([False, False, False, True]),
)
PAUSES = (timedelta(seconds=30), timedelta(seconds=61), timedelta(hours=1), timedelta(days=1))
BY = st.tuples(
    st.sampled_from([Fraction(n, 2) for n in (-2, -1, 1, 2)]),
    st.sampled_from([-MILLIONTH, Fraction(0), Fraction(0), MILLIONTH]),
    st.sampled_from([None, None, Fraction(-1, 8), Fraction(1, 8)]),
)


ADJUSTED = (
    ("analyst", "a"),
    ("analyst", "b"),
    ("group", "g"),
    ("group", "h"),
    ("table", "s.t"),
    TOTAL,
)
