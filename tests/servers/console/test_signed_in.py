"""Sessions of the console: when they begin, and all ways in which they end."""

from __future__ import annotations

import pytest

from proxy.servers.console.signed_in import Identity, SignedIn, SignedInAnalysts


class World:
    """A clock, and the ledger's people."""

    def __init__(self) -> None:
        self.now = 0.0
        self.people: dict[str, Identity | None] = {"ann": (1, b"first"), "bob": (2, b"other")}
        self.signed_in = SignedInAnalysts(self.people.get, lambda: self.now)

    def begin(self, analyst: str) -> tuple[str, SignedIn]:
        begun = self.signed_in.begin(analyst)
        assert begun is not None
        return begun


def test_a_cookie_is_of_one_session() -> None:
    world = World()
    cookie, session = world.begin("ann")
    assert world.signed_in.of(cookie) is session and session.analyst == "ann"
    assert world.signed_in.of("") is None and world.signed_in.of(cookie[:-1]) is None
    other, _ = world.begin("ann")
    assert other != cookie
    world.signed_in.end(cookie)
    assert world.signed_in.of(cookie) is None and world.signed_in.of(other) is not None
    assert cookie not in repr(session) and session.token not in repr(session)


@pytest.mark.parametrize(
    "identity",
    [None, (3, b"first"), (1, b"second")],
    ids=["removed", "added again", "new password"],
)
def test_it_ends_with_its_person_and_password(identity: Identity | None) -> None:
    world = World()
    cookie, _ = world.begin("ann")
    kept, _ = world.begin("bob")
    world.people["ann"] = identity
    assert world.signed_in.of(cookie) is None
    world.people["ann"] = (1, b"first")
    assert world.signed_in.of(cookie) is None, "it does not come back"
    assert world.signed_in.of(kept) is not None


def test_it_ends_after_half_an_hour_without_use_and_after_ten_hours() -> None:
    world = World()
    cookie, _ = world.begin("ann")
    for _ in range(20):
        world.now += 29 * 60
        assert world.signed_in.of(cookie) is not None
    world.now += 31 * 60
    assert world.signed_in.of(cookie) is None
    cookie, _ = world.begin("ann")
    while world.now < 100 * 3600 and world.signed_in.of(cookie) is not None:
        world.now += 25 * 60
    assert 10 * 3600 < world.now - (20 * 29 + 31) * 60 < 10.5 * 3600


def test_an_analyst_has_ten_and_the_oldest_end() -> None:
    world = World()
    of_bob, _ = world.begin("bob")
    cookies = [world.begin("ann")[0] for _ in range(13)]
    alive = [world.signed_in.of(cookie) is not None for cookie in cookies]
    assert alive == [False] * 3 + [True] * 10
    assert world.signed_in.of(of_bob) is not None


def test_a_form_is_sent_once() -> None:
    _, session = World().begin("ann")
    assert [session.is_sent_again(form) for form in ("a", "b", "a")] == [False, False, True]
    assert (
        session.has_token(session.token)
        and not session.has_token("")
        and not session.has_token("é")
    )


def test_nobody_begins_whom_the_ledger_does_not_have() -> None:
    """As in the second after they were removed, while the shadow still knows their password."""
    world = World()
    world.people["ann"] = None
    assert world.signed_in.begin("ann") is None and world.signed_in.begin("carl") is None
