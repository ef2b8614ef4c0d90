"""How long wrong passwords wait, on a clock of the test's."""

from __future__ import annotations

from proxy.servers.client_address import network_of
from proxy.servers.login_gate import LoginDelay


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_it_doubles_up_to_its_longest_and_is_forgotten() -> None:
    clock = Clock()
    delay = LoginDelay(clock)
    told = [delay.failed("192.0.2.1", f"name{n}") for n in range(8)]
    assert told == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 8.0, 8.0]
    clock.now += 10 * 60
    assert delay.failed("192.0.2.1", "bob") == 0.2


def test_a_name_is_guarded_against_many_addresses() -> None:
    delay = LoginDelay(Clock())
    told = [delay.failed(f"192.0.2.{n}", "bob") for n in range(7)]
    assert told[-1] == 8.0
    assert delay.failed("198.51.100.1", "alice") == 0.2


def test_a_known_neighbour_is_not_slowed_down() -> None:
    delay = LoginDelay(Clock())
    delay.succeeded("192.0.2.1", "alice")
    for _ in range(20):
        delay.failed("192.0.2.1", "bob")
    assert delay.failed("192.0.2.1", "alice") == 0.2
    assert delay.failed("192.0.2.1", "alice") == 0.4
    delay.succeeded("192.0.2.1", "alice")
    assert delay.failed("192.0.2.1", "alice") == 0.2


def test_a_success_of_ones_own_does_not_clear_the_address() -> None:
    delay = LoginDelay(Clock())
    told = []
    for _ in range(8):
        told.append(delay.failed("192.0.2.1", "bob"))
        delay.succeeded("192.0.2.1", "mallory")
    assert told[-1] == 8.0


def test_memory_is_bounded() -> None:
    delay = LoginDelay(Clock())
    for n in range(30_000):
        delay.failed(f"10.0.{n >> 8}.{n & 255}", f"name{n}")
        delay.succeeded(f"10.1.{n >> 8}.{n & 255}", f"name{n}")
    kept = (delay._of_addresses, delay._of_names, delay._of_known)
    assert all(len(one._counted) <= 10_000 for one in kept)
    assert len(delay._known) <= 10_000
    for n in range(1_100):
        delay.succeeded("192.0.2.1", f"name{n}")
    assert len(delay._known["192.0.2.1"]) == 1_000


def test_an_ipv6_client_cannot_choose_another_address() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:ffff:ffff:ffff")
    assert network_of("2001:db8::1") != network_of("2001:db8:0:1::1")
    assert network_of("fe80::1%eth0") == "fe80::/64"
