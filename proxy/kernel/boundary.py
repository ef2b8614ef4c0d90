"""The one boundary of the kernel: a plan passes, or it is refused, by a rule and under a name that the log has.

A rule that meets something that it does not expect raises: a look-up fails, a recursion does not end. No plan
passes by that, but a reader of the log would not know that it was the plan. So whatever is raised is a refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from proxy.base.errors import Fault, Refusal
from proxy.kernel.refusals import NotPrivate, Rule


@contextmanager
def judging(name: Callable[[], str]) -> Iterator[None]:
    """Refuse whatever does not pass, with the digest of what was judged.

    Args:
        name: Gives the digest. Of a plan that has none the refusal has none.

    Raises:
        NotPrivate: A rule refused it, or raised something else.

    >>> with judging(lambda: "a digest"):
    ...     {}["a table"]
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    try:
        yield
    except Exception as error:  # fail closed: no plan passes that a rule does not understand
        is_known = isinstance(error, Fault | Refusal)
        refused = error if is_known else NotPrivate(Rule.MALFORMED, _raised_by(error))
        if isinstance(refused, NotPrivate):
            with judging(str):  # the name may raise as well
                refused.digest = name()
        raise refused from None


def _raised_by(error: Exception) -> str:
    """The class of an error, and the line of this project that raised it: nothing of a statement."""
    line, step = "", error.__traceback__
    while step is not None:
        module = step.tb_frame.f_globals.get("__name__", "")
        if module.startswith("proxy."):
            line = f" in line {step.tb_lineno} of {module}"
        step = step.tb_next
    return f"{type(error).__name__}{line}"
