"""Numbers as people read them: in groups of three digits, and no power of ten where digits do."""

from __future__ import annotations

from decimal import Decimal

_POWERS = Decimal(10) ** 15  # from here on a power of ten is easier to read


def shown_number(number: float | Decimal, digits: int = 6) -> str:
    """Round to some digits.

    >>> [shown_number(number) for number in (1000000.0, 12345.678, 999.5, 0.25, 1e-06, -2500.0)]
    ['1,000,000', '12,345.7', '999.5', '0.25', '1e-06', '-2,500']
    >>> shown_number(1e20), shown_number(1048576.0, 3), shown_number(float("inf"))
    ('1e+20', '1,050,000', 'inf')
    """
    text = f"{number:.{digits}g}"
    rounded = Decimal(text)
    is_grouped = rounded.is_finite() and 1000 <= abs(rounded) < _POWERS
    return f"{rounded:,f}" if is_grouped else text
