"""Groups, who may query what, tokens and the log of administrators, in the ledger."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.conninfo import make_conninfo

from proxy.base.errors import Code, Refusal
from proxy.base.role_names import inner_role, stand_in
from proxy.ledger.admin_log import admin_events, at_the_command_line
from proxy.ledger.bearer_tokens import (
    PresentedTokens,
    TokenGrant,
    create_token,
    list_tokens,
    revoke_token,
)
from proxy.ledger.bounds_account import POLICY_BOUNDS
from proxy.ledger.engine_ledger import EngineLedger
from proxy.ledger.ledger_backup import backup, restore
from proxy.ledger.ledger_reports import ledger_problems
from proxy.ledger.ledger_tables import LedgerTables, Receipt
from proxy.ledger.users import (
    DataAccess,
    UserError,
    add_analyst,
    add_to_group,
    allow,
    check_members,
    data_access,
    groups,
    open_to_all,
    remove_analyst,
    remove_from_group,
    restrict,
    set_password,
    who_may,
    withdraw,
)
from tests.asked_by import run_of
from tests.databases.ledger_database import SOURCE, loss, rows, set_limits, with_ledger
from tests.ledger_of_before import create_expired_token
from tests.unchecked_blocks import charge_of
from tests.waiting import until

_NUMBERS = itertools.count()


@pytest.fixture
def people(ledger_dsn: str) -> str:
    """ann and bob, who may spend 10 each."""
    set_limits(ledger_dsn, own="10", total="20")
    for name in ("ann", "bob"):
        add_analyst(ledger_dsn, name, None)
    return ledger_dsn


def charge(dsn: str, name: str, epsilon: str = "1", token: int | None = None) -> Receipt:
    async def use(ledger: LedgerTables) -> Receipt:
        return await ledger.reserve(name, loss(epsilon), "f", "p", (), token=token)

    return with_ledger(dsn, use)


def may_charge(dsn: str, name: str) -> bool:
    try:
        charge(dsn, name, "0.001")
    except Refusal as refused:
        assert refused.code is Code.PROTECTED
        return False
    return True


def find(dsn: str, text: str) -> TokenGrant | None:
    async def use() -> TokenGrant | None:
        tokens = PresentedTokens(dsn)
        await tokens.open()
        try:
            return await tokens.find(text)
        finally:
            await tokens.close()

    return asyncio.run(use())


def spent(dsn: str) -> list[tuple[Decimal, int]]:
    return rows(
        dsn,
        "SELECT t.spent, (SELECT count(*) FROM ledger.token_charge c WHERE c.token = t.id)"
        " FROM ledger.token t ORDER BY t.id",
    )


def test_groups(people: str) -> None:
    add_to_group(people, "research", "ann")
    add_to_group(people, "research", "bob")
    add_to_group(people, "täglich", "bob")
    assert groups(people) == {"research": ("ann", "bob"), "täglich": ("bob",)}
    remove_from_group(people, "täglich", "bob")
    remove_analyst(people, "ann")
    assert groups(people) == {"research": ("bob",)}
    add_analyst(people, "ann", None)
    assert groups(people) == {"research": ("bob",)}, "another one with the same name"
    refused: list[tuple[Callable[[], None], str]] = [
        (lambda: add_to_group(people, "research", "bob"), "already"),
        (lambda: add_to_group(people, "research", "eve"), 'no analyst "eve"'),
        (lambda: add_to_group(people, "", "bob"), "1 to 63 bytes"),
        (lambda: add_to_group(people, "a\nb", "bob"), "printable text"),
        (lambda: add_to_group(people, '"', "bob"), "leave them out"),
        (lambda: add_to_group(people, "a,", "bob"), "leave them out"),
        (lambda: add_to_group(people, "PUBLIC", "bob"), "reserved: take another"),
        (lambda: add_to_group(people, "dp_analyst", "bob"), "reserved: take another"),
        (lambda: add_to_group(people, "pg_monitor", "bob"), "reserved: take another"),
        (lambda: allow(people, "data", group="a,"), "leave them out"),
        (lambda: remove_from_group(people, "research", "ann"), "not in the group"),
    ]
    for act, why in refused:
        with pytest.raises(UserError, match=why):
            act()


def test_everybody_may_query_until_somebody_is_allowed_to(people: str) -> None:
    assert may_charge(people, "ann") and may_charge(people, "bob")
    allow(people, "data", analyst="ann")
    assert may_charge(people, "ann") and not may_charge(people, "bob")
    assert not may_charge(people, "nobody known")
    add_to_group(people, "research", "bob")
    allow(people, "data", group="research")
    assert may_charge(people, "bob")
    assert data_access(people) == (
        DataAccess(source="data", is_restricted=True, analysts=("ann",), groups=("research",)),
    )
    remove_from_group(people, "research", "bob")
    assert not may_charge(people, "bob")
    withdraw(people, "data", analyst="ann")
    withdraw(people, "data", group="research")
    assert not may_charge(people, "ann"), "nobody is left: it does not become everybody's"
    with psycopg.connect(people) as connection:
        assert who_may(connection, [SOURCE]) == {SOURCE: frozenset()}
    assert charge(people, POLICY_BOUNDS, "0.1").id, "an account of the operator's commands"
    open_to_all(people, "data")
    assert may_charge(people, "bob")
    restrict(people, "data")
    assert not may_charge(people, "bob")


def test_a_name_that_is_given_again_has_no_access(people: str) -> None:
    allow(people, "data", analyst="ann")
    remove_analyst(people, "ann")
    add_analyst(people, "ann", None)
    assert not may_charge(people, "ann")


def test_access_refused(people: str) -> None:
    add_to_group(people, "interns", "bob")
    refused: list[tuple[Callable[[], None], str]] = [
        (lambda: allow(people, "shop", analyst="ann"), 'no database "shop": it knows data'),
        (lambda: allow(people, "data", analyst="eve"), "no analyst"),
        (lambda: check_members(people, "interms"), 'no group "interms": there is interns'),
        (lambda: allow(people, "data"), "either a user or a group"),
        (lambda: allow(people, "data", analyst="ann", group="g"), "either a user or a group"),
        (lambda: withdraw(people, "data", analyst="ann"), "was not allowed"),
        (lambda: open_to_all(people, "data"), "everybody may"),
    ]
    for act, why in refused:
        with pytest.raises(UserError, match=why):
            act()
    assert may_charge(people, "ann"), "what was refused restricts nothing"


def test_a_token_is_found_by_its_text_alone(people: str) -> None:
    made = create_token(people, "ann", days=1, source="data", epsilon=Decimal("1.5"))
    assert made.text not in repr(made)
    found = find(people, made.text)
    assert found == TokenGrant(
        number=made.number, analyst="ann", source=SOURCE, epsilon="1.5", spent="0",
        expires_at=made.expires_at,
    )  # fmt: skip
    dump = rows(
        people,
        "SELECT t::text FROM ledger.token t UNION ALL SELECT e::text FROM ledger.admin_event e",
    )
    assert made.text not in str(dump) and made.text[4:] not in str(dump)
    for wrong in (
        "",
        made.text[:-1],
        made.text + "x",
        "dpp_" + "A" * 43,
        "x" * 100_000,
        "dpp_é" + "A" * 42,
    ):
        assert find(people, wrong) is None
    revoke_token(people, made.number)
    assert find(people, made.text) is None
    with pytest.raises(UserError, match="no token"):
        revoke_token(people, made.number)
    assert [one.state for one in list_tokens(people)] == ["revoked"]


def test_an_expired_token_and_one_of_who_was_removed_are_none(people: str) -> None:
    expired = create_expired_token(people, "ann")
    removed = create_token(people, "bob", days=1)
    assert find(people, expired.text) is None
    assert find(people, removed.text) is not None
    remove_analyst(people, "bob")
    assert find(people, removed.text) is None
    add_analyst(people, "bob", None)
    assert find(people, removed.text) is None, "another person"
    for number in (expired.number, removed.number):
        with pytest.raises(Refusal, match="not valid any more"):
            charge(people, "ann" if number == expired.number else "bob", token=number)
    assert [one.state for one in list_tokens(people)] == ["expired", "user removed"]


def test_what_is_spent_through_a_token_is_bounded_in_the_same_charge(people: str) -> None:
    made = create_token(people, "ann", days=1, epsilon=Decimal("2.5"))
    charge(people, "ann", token=made.number)
    charge(people, "ann", "2")  # with a password: not the token's
    charge(people, "ann", token=made.number)
    assert spent(people) == [(Decimal(2), 2)]
    before = rows(people, "SELECT count(*), sum(epsilon) FROM ledger.receipt")
    with pytest.raises(Refusal, match=r"only epsilon 0\.5 of it remains") as raised:
        charge(people, "ann", "0.6", made.number)
    assert raised.value.code is Code.OVER_BUDGET
    assert rows(people, "SELECT count(*), sum(epsilon) FROM ledger.receipt") == before
    assert rows(people, "SELECT epsilon FROM ledger.balance WHERE analyst = 'ann'") == [
        (Decimal(4),)
    ]
    charge(people, "ann", "0.5", made.number)
    assert spent(people) == [(Decimal("2.5"), 3)]
    assert ledger_problems(people) == ()
    with psycopg.connect(people) as connection:
        connection.execute("UPDATE ledger.token SET spent = 0")
    assert "token 1" in ledger_problems(people)[0]


@pytest.mark.every(2)
@pytest.mark.parametrize("per", ["hour", "day"])
def test_a_tokens_epsilon_renews_with_its_window(per: str, people: str) -> None:
    made = create_token(people, "ann", days=9, epsilon=Decimal(2), per=per)
    length = timedelta(**{f"{per}s": 1})
    charge(people, "ann", "2", made.number)
    with pytest.raises(Refusal, match="only epsilon 0 of it remains") as raised:
        charge(people, "ann", token=made.number)
    assert "The token's epsilon renews at" in (raised.value.hint or "")
    assert raised.value.retry_after is not None
    assert 0 < raised.value.retry_after <= length.total_seconds()
    with pytest.raises(Refusal) as raised:
        charge(people, "ann", "2.1", made.number)
    assert raised.value.retry_after is None, "waiting does not help"
    (listed,) = list_tokens(people)
    assert listed.spent == 2 and listed.per == per and listed.renews_at is not None
    with psycopg.connect(people) as connection:  # as if the window were the one before
        connection.execute("UPDATE ledger.token SET window_start = window_start - %s", (length,))
        connection.execute("ALTER TABLE ledger.token_charge DISABLE TRIGGER append_only")
        connection.execute("UPDATE ledger.token_charge SET at = at - %s", (length,))
        connection.execute("ALTER TABLE ledger.token_charge ENABLE TRIGGER append_only")
    assert list_tokens(people)[0].spent == 0
    charge(people, "ann", "1.5", made.number)
    assert list_tokens(people)[0].spent == Decimal("1.5")
    with pytest.raises(Refusal, match=r"only epsilon 0\.5 of it remains"):
        charge(people, "ann", token=made.number)
    assert spent(people) == [(Decimal("3.5"), 2)] and ledger_problems(people) == ()
    with psycopg.connect(people) as connection:
        connection.execute("UPDATE ledger.token SET spent_before = spent")
    assert "token 1" in ledger_problems(people)[0]


def test_the_charge_of_who_has_left_is_the_tokens_all_the_same(people: str) -> None:
    """It is carried to its end in a task of its own."""
    made = create_token(people, "ann", days=1, epsilon=Decimal(5))

    async def use(tables: LedgerTables) -> None:
        ledger = EngineLedger(tables)

        async def ask() -> None:
            run = run_of("ann", made.number)
            await ledger.reserve(run, charge_of(loss("1")), "f", "p")

        asked = asyncio.create_task(ask())
        await asyncio.sleep(0)  # it has begun
        await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await ledger.reserve(run_of("ann"), charge_of(loss("1")), "f", "p")  # of nobody's token
        while len(rows(people, "SELECT FROM ledger.receipt")) < 2:
            await asyncio.sleep(0.01)

    with_ledger(people, use)
    assert spent(people) == [(Decimal(1), 1)]


def test_what_the_analyst_cannot_pay_is_not_spent_through_a_token(people: str) -> None:
    made = create_token(people, "ann", days=1, epsilon=Decimal(100))
    with pytest.raises(Refusal, match='privacy budget of "ann"'):
        charge(people, "ann", "11", made.number)
    assert spent(people) == [(Decimal(0), 0)]


def test_charges_of_two_databases_wait_for_each_other_at_their_token(people: str) -> None:
    """They lock no balance together."""
    made = create_token(people, "ann", days=1, epsilon=Decimal(1))
    reserve = "SELECT ledger.reserve_one(%s, 'ann', %s, 0.75, 0, '[]', 'f', 'p', '{}', NULL::bytea)"
    with psycopg.connect(people) as connection:
        connection.execute("INSERT INTO ledger.source (name, is_bound) VALUES ('other', true)")
        connection.execute(
            "INSERT INTO ledger.allowance SELECT 2, kind, analyst, epsilon, delta, period"
            " FROM ledger.allowance WHERE source = 1"
        )
    with (
        psycopg.connect(people) as first,
        psycopg.connect(people) as second,
        ThreadPoolExecutor(1) as pool,
    ):
        first.execute(reserve, (1, made.number))
        waiting = pool.submit(second.execute, reserve, (2, made.number))
        until(lambda: rows(people, "SELECT FROM pg_locks WHERE NOT granted") != [])
        first.commit()
        with pytest.raises(psycopg.Error, match="the token's epsilon is spent"):
            waiting.result(60)
    assert spent(people) == [(Decimal("0.75"), 1)]


def test_a_token_charges_its_own_analyst_and_source(people: str) -> None:
    made = create_token(people, "ann", days=1)
    with pytest.raises(Refusal, match="not valid any more"):
        charge(people, "bob", token=made.number)
    with pytest.raises(Refusal, match="not valid any more"):
        charge(people, "ann", token=made.number + 1)
    with psycopg.connect(people) as connection:
        connection.execute("INSERT INTO ledger.source (name, is_bound) VALUES ('other', true)")
    scoped = create_token(people, "ann", days=1, source="other")
    with pytest.raises(Refusal, match="not valid any more"):
        charge(people, "ann", token=scoped.number)
    assert rows(people, "SELECT count(*) FROM ledger.receipt") == [(0,)]


@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    limits=st.lists(st.sampled_from(["0.3", "0.5", "2"]), min_size=1, max_size=3),
    asked=st.lists(
        st.tuples(st.sampled_from([None, 0, 1, 2]), st.sampled_from(["0.1", "0.25", "3"])),
        min_size=4,
        max_size=16,
    ),
    per=st.sampled_from([None, "day"]),
)
def test_no_order_of_concurrent_charges_passes_a_token_or_its_analyst(
    people: str, limits: list[str], asked: list[tuple[int | None, str]], per: str | None
) -> None:
    """Each is charged to both or to neither."""
    set_limits(people, own="2", total="99")
    name = f"ann {next(_NUMBERS)}"
    add_analyst(people, name, None)
    tokens = [
        create_token(people, name, days=9, epsilon=Decimal(one), per=per).number for one in limits
    ]

    async def use(ledger: LedgerTables) -> list[bool]:
        async def one(place: int | None, cost: str) -> bool:
            token = None if place is None else tokens[place % len(tokens)]
            try:
                await ledger.reserve(name, loss(cost), "f", "p", (), token=token)
            except Refusal as refused:
                assert refused.code is Code.OVER_BUDGET
                return False
            return True

        return await asyncio.gather(*(one(*each) for each in asked))

    left: dict[int | None, Decimal] = {None: Decimal(2)}  # of the analyst, and of each token
    left |= {place: Decimal(most) for place, most in enumerate(limits)}
    each = [(None if at is None else at % len(tokens), Decimal(cost)) for at, cost in asked]
    granted = with_ledger(people, use)
    for (place, cost), is_charged in zip(each, granted, strict=True):
        for line in {None, place} if is_charged else ():
            left[line] -= cost
    assert min(left.values()) >= 0
    for (place, cost), is_charged in zip(each, granted, strict=True):
        assert is_charged or cost > min(left[None], left[place]), "nothing is refused that fits"
    told = {one.number: one.spent for one in list_tokens(people)}
    assert [told[one] for one in tokens] == [
        Decimal(most) - left[place] for place, most in enumerate(limits)
    ]
    own = rows(
        people, f"SELECT coalesce(sum(epsilon), 0) FROM ledger.receipt WHERE analyst = '{name}'"
    )
    assert own == [(2 - left[None],)] and ledger_problems(people) == ()


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("days", "epsilon", "note", "why"),
    [
        (0, None, "", "expires after a minute"),
        (1e-9, None, "", "expires after a minute"),
        (59 / 86400, None, "", "expires after a minute"),
        (367, None, "", "expires after"),
        (float("nan"), None, "", "expires after"),
        (1, Decimal("0"), "", "a number from"),
        (1, Decimal("NaN"), "", "a number from"),
        (1, Decimal("1e400"), "", "a number from"),
        (1, None, "a\nb", "one line"),
    ],
)
def test_tokens_refused(
    people: str, days: float, epsilon: Decimal | None, note: str, why: str
) -> None:
    with pytest.raises(UserError, match=why):
        create_token(people, "ann", days=days, epsilon=epsilon, note=note)


def test_the_log_has_who_did_what_and_nothing_changes_it(people: str) -> None:
    set_password(people, "ann", "a new password", by="admin: the console")
    made = create_token(people, "ann", days=1, by="admin: the console")
    events = list(admin_events(people))
    # Adopting the data stood in another log before there was this one.
    assert [one.what for one in events if one.who == "(command line)"] == ["adopt new"]
    noted = [(one.who, one.what) for one in events if one.who != "(command line)"]
    assert noted == [
        (at_the_command_line(), "user add"),
        (at_the_command_line(), "user add"),
        ("admin: the console", "user password"),
        ("admin: the console", "token create"),
    ]
    assert "a new password" not in str(events) and made.text not in str(events)
    for statement in (
        "UPDATE ledger.admin_event SET who = 'x'",
        "DELETE FROM ledger.admin_event",
        "TRUNCATE ledger.admin_event",
        "DELETE FROM ledger.token_charge",
        "UPDATE ledger.admin_event SET who = 'x' WHERE false",
    ):
        with (
            psycopg.connect(people) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"),
        ):
            connection.execute(statement.encode())
    with psycopg.connect(people, autocommit=True) as connection:
        connection.execute("ALTER TABLE ledger.admin_event DISABLE TRIGGER append_only")
    assert "admin_event is not append-only" in ledger_problems(people)[0]


def test_what_is_not_done_is_not_noted(people: str) -> None:
    before = len(list(admin_events(people)))
    refused: list[Callable[[], None]] = [
        lambda: remove_analyst(people, "eve"),
        lambda: add_analyst(people, "ann", "x"),
        lambda: revoke_token(people, 7),
    ]
    for act in refused:
        with pytest.raises(UserError):
            act()
    assert len(list(admin_events(people))) == before


def test_a_restored_ledger_has_people_and_log_and_no_valid_token(
    people: str, tmp_path: Path
) -> None:
    add_to_group(people, "research", "ann")
    allow(people, "data", group="research")
    made = create_token(people, "ann", days=1, epsilon=Decimal(1))
    charge(people, "ann", token=made.number)
    backup(people, tmp_path / "copy")
    with psycopg.connect(people, autocommit=True) as connection:
        connection.execute("CREATE DATABASE again")
    again = make_conninfo(people, dbname="again")
    try:
        restore(again, tmp_path / "copy")
        assert groups(again) == groups(people)
        assert data_access(again) == data_access(people)
        assert spent(again) == spent(people)
        assert ledger_problems(again) == ()
        assert [one.what for one in admin_events(again)][:5] == [
            one.what for one in admin_events(people)
        ][:5]
        assert find(again, made.text) is None, "it may have been revoked since"
        assert may_charge(again, "ann") and not may_charge(again, "bob")
        assert create_token(again, "ann", days=1).number == made.number + 1
    finally:
        with psycopg.connect(people, autocommit=True) as connection:
            connection.execute("DROP DATABASE again WITH (FORCE)")


def test_names_of_inner_roles_are_nobodys(people: str) -> None:
    name = inner_role("ann")
    assert stand_in(name) not in (None, name)
    with pytest.raises(UserError, match="reserved"):
        add_analyst(people, name, "x")


@pytest.mark.parametrize("is_known", [True, False])
def test_whoever_presents_tokens_waits_for_two_questions(people: str, is_known: bool) -> None:
    """Issue 26, F3: they were one queue, which ended in "the ledger is not available" for everybody."""
    often = create_token(people, "ann", days=1).text
    once = create_token(people, "bob", days=1).text

    async def check() -> int:
        tokens = PresentedTokens(people)
        await tokens.open()
        asked = 0
        rows_of = tokens._rows

        async def counted(statement: str, parameter: object) -> list[dict[str, Any]]:
            nonlocal asked
            asked += 1
            return await rows_of(statement, parameter)

        tokens._rows = counted  # type: ignore[method-assign]
        try:
            others = [often] * 200 if is_known else [f"dpp_{number:043}" for number in range(200)]
            checked = [asyncio.ensure_future(tokens.find(one)) for one in others]
            await asyncio.sleep(0)
            found = await tokens.find(once)
            assert found is not None and found.analyst == "bob"
            assert all((one is not None) == is_known for one in await asyncio.gather(*checked))
            return asked
        finally:
            await tokens.close()

    assert asyncio.run(check()) <= 2
