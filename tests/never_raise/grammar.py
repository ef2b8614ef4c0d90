"""Random scalar expressions as SQL text, over the columns of tests.pipeline_world: everything that the reader
takes.

An expression is made by its kind (number, condition, text, time) and a depth that is left to it.
"""

from __future__ import annotations

from tests.never_raise.random_conditions import RandomConditions
from tests.never_raise.random_numbers import RandomNumbers
from tests.never_raise.random_texts import RandomTexts, RandomTimes


class Grammar(RandomNumbers, RandomConditions, RandomTexts, RandomTimes):
    """Of all kinds, inside each other."""
