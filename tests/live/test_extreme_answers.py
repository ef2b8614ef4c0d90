"""An answer of dpproxy's own fits its type: what is charged is answered, however large or small it is.

Plain PostgreSQL raises 22003 there, which here would come after the charge, and could depend on the noise."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live_proxy import LiveProxy
from tests.servers.http.both_listeners import BothListeners, open_http

_DOUBLE = 1.7976931348623157e308
_REAL = 3.4028235e38

# The aggregate, and between what its answer is.
_ANSWERS: list[tuple[str, float, float]] = [
    ("covar_pop(total*1e160,quantity*1e160)", -_DOUBLE, _DOUBLE),
    ("covar_samp(total*1e160,quantity*1e160)", -_DOUBLE, _DOUBLE),
    ("covar_pop(total*1e-170,quantity*1e-170)", 0, 0),
    ("regr_slope(total*1e-170,quantity*1e170)", 0, 0),
    ("regr_slope(total*1e170,quantity*1e-170)", -_DOUBLE, _DOUBLE),
    ("regr_intercept(total*1e-330,quantity)", -1e-320, 1e-320),
    ("var_pop(total::float8*1e160)", 0, _DOUBLE),
    ("var_samp(total::float8*1e-170)", 0, 0),
    ("stddev(total::float8*1e-330)", 0, 1e-320),
    ("avg(total::float8*1e-330)", 0, 1e-320),
    ("avg((total*1e-50)::real)", 0, 1e-40),
    ("percentile_cont(0.5) WITHIN GROUP (ORDER BY total::float8*1e-330)", 0, 1e-320),
    ("percentile_disc(0.5) WITHIN GROUP (ORDER BY (total*1e-50)::real)", 0, 0),
    ("max((total*1e-50)::real)", 0, 0),
    ("min((total*1e-40)::real)", 0, 1e-36),
    ("sum((total*1e-50)::real)", 0, 1e-40),
    ("sum(total::real*1e36::real)", -_REAL, _REAL),
    ("sum(2147483000+quantity)", -(2.0**63), 2.0**63),
]


@pytest.fixture(scope="module")
def listeners(live: LiveProxy) -> Iterator[BothListeners]:
    both = open_http(live)
    yield both
    both.close()


@pytest.mark.every(13)
@pytest.mark.parametrize(("aggregate", "low", "high"), _ANSWERS)
def test_an_answer_fits_its_type(
    live: LiveProxy, listeners: BothListeners, aggregate: str, low: float, high: float
) -> None:
    analyst = live.servers.new_analyst()
    with live.connect(analyst=analyst) as connection:
        row = connection.execute(f"SELECT {aggregate} FROM shop.orders".encode()).fetchone()
    assert row is not None
    assert low <= row[0] <= high
    response = listeners.query(f"SELECT {aggregate} FROM shop.orders", analyst=analyst)
    assert response.status_code == 200, response.text


@pytest.mark.every(3)
@pytest.mark.parametrize("function", ["low", "high", "error"])
def test_an_interval_fits_its_type(live: LiveProxy, function: str) -> None:
    some = [
        aggregate for aggregate, _, _ in _ANSWERS if aggregate.startswith(("covar", "sum", "var"))
    ]
    columns = ", ".join(f"dp.{function}({aggregate})" for aggregate in some)
    with live.connect(analyst=live.servers.new_analyst()) as connection:
        assert connection.execute(f"SELECT {columns} FROM shop.orders".encode()).fetchone()


def test_sums_whose_noise_is_larger_than_bigint(live: LiveProxy) -> None:
    sums = ", ".join(f"sum(2147483000 + quantity - {i})" for i in range(60))
    with live.connect(analyst=live.servers.new_analyst()) as connection:
        connection.execute("SET dp.epsilon = 0.000001")
        for _ in range(3):
            row = connection.execute(f"SELECT {sums} FROM shop.orders".encode()).fetchone()
            assert row is not None
            assert all(-(2**63) <= value < 2**63 for value in row)
            # The noise of each has a scale of 5e18: of 60, one in six meets an end; none does once in 50,000
            # times.
            if not {2**63 - 1, -(2**63)}.isdisjoint(row):
                return
    pytest.fail("no sum meets an end")
