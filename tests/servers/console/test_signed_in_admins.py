"""Sessions of administrators: signed cookies that any process knows, and how they end by themselves."""

from __future__ import annotations

import pytest

from proxy.servers.console.admin_frame import (
    IDLE_SECONDS,
    MOST_SECONDS,
    SignedInAdmin,
    SignedInAdmins,
)


class World:
    """A clock, the keys of administrators, and two processes."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        self.keys: dict[str, bytes] = {"officer": b"o" * 32, "ops.1": b"p" * 32}
        self.one, self.other = (SignedInAdmins(self.keys.get, lambda: self.now) for _ in range(2))

    def begin(self, name: str = "officer") -> SignedInAdmin:
        begun = self.one.begin(name)
        assert begun is not None
        return begun


def test_each_process_knows_each_session() -> None:
    world = World()
    for name in world.keys:
        session = world.begin(name)
        found = world.other.of(session.cookie)
        assert found == session and found.name == name
        assert found.has_token(session.token) and not found.has_token(world.begin().token)
        assert repr(session.key) not in repr(session)
    assert world.one.begin("nobody") is None


def test_a_changed_cookie_is_of_no_session() -> None:
    world = World()
    cookie = world.begin().cookie
    name, began, used, number, signature = cookie.split(".")
    assert ".".join((name, began, used, number, signature)) == cookie
    for changed in (
        "",
        cookie[:-1],
        cookie + "0",
        ".".join((world.begin("ops.1").cookie.split(".")[0], began, used, number, signature)),
        ".".join((name, str(int(began) + 1), used, number, signature)),
        ".".join((name, began, str(int(used) + 1), number, signature)),
        ".".join((name, began, used, "0" * 32, signature)),
        ".".join((f"{name}=", began, used, number, signature)),
        ".".join((name, began, used, number, signature.upper())),
        ".".join((name, f"0{began}", used, number, signature)),
        ".".join(("_" * 500, began, used, number, signature)),
        "x" * 5000,
        "\ud800",
    ):
        assert world.other.of(changed) is None, changed
    assert world.other.of(cookie) is not None


def test_a_token_of_a_form_is_no_signature_of_a_cookie() -> None:
    world = World()
    session = world.begin()
    forged = f"{session.cookie.rpartition('.')[0]}.{session.token}"
    assert world.one.of(forged) is None


@pytest.mark.parametrize("change", ["taken out", "another"])
def test_it_ends_with_the_secret(change: str) -> None:
    world = World()
    cookie = world.begin().cookie
    if change == "taken out":
        del world.keys["officer"]
    else:
        world.keys["officer"] = b"q" * 32
    assert world.one.of(cookie) is None


def test_it_ends_by_time() -> None:
    world = World()
    session = world.begin()
    assert world.one.renewed(session) is None, "a cookie is not written anew with each request"
    world.now += IDLE_SECONDS
    assert world.one.of(session.cookie) is not None
    renewed = world.one.renewed(session)
    assert renewed is not None and renewed.token == session.token
    world.now += IDLE_SECONDS
    assert world.one.of(session.cookie) is None and world.other.of(renewed.cookie) is not None
    while world.now - session.began <= MOST_SECONDS:
        assert renewed is not None and world.one.of(renewed.cookie) is not None
        world.now += IDLE_SECONDS
        renewed = world.one.renewed(renewed)
    assert renewed is not None and world.one.of(renewed.cookie) is None
