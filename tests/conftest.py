"""Options of the whole suite."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# Hypothesis' limits on the time of an example measure the machine, not the code: they are off.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--bless",
        action="store_true",
        help="rewrite golden files with what comes out now; review the diff like code",
    )


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--bless"))
