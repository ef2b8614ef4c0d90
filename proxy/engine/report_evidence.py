"""Where the promises of a policy are proved and tested, and what is not promised: tables for reports.

`tests/cli/test_policy_report.py` holds them against PROOFS.md, SECURITY.md and the folders of tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from proxy.engine.report_sections import Section
from proxy.policy.amount_findings import block_findings
from proxy.policy.policy_model import MedianNoise, Noise, Policy

ASSUMPTIONS = 22


def _always(_: Policy) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenPart:
    """title: how the section of PROOFS.md begins."""

    used_for: str
    mechanism: str
    section: int
    title: str
    is_used: Callable[[Policy], bool] = _always


PROVEN_PARTS = (
    ProvenPart(
        used_for="COUNT and SUM",
        mechanism="discrete Laplace noise",
        section=1,
        title="Discrete Laplace",
    ),
    ProvenPart(
        used_for="COUNT and SUM, where it is more exact",
        mechanism="discrete Gaussian noise",
        section=5,
        title="Discrete Gaussian",
        is_used=lambda policy: policy.privacy.noise is Noise.GAUSSIAN,
    ),
    ProvenPart(
        used_for="which groups of private keys appear",
        mechanism="optimal partition selection",
        section=7,
        title="Partition selection",
    ),
    ProvenPart(
        used_for="AVG, MIN and MAX with smooth_median",
        mechanism="sample and aggregate with a smoothed median",
        section=4,
        title="Smoothed median",
    ),
    ProvenPart(
        used_for="noise of smoothed medians",
        mechanism="PolyPlace noise",
        section=6,
        title="PolyPlace",
        is_used=lambda policy: policy.privacy.median_noise is MedianNoise.POLYPLACE,
    ),
    ProvenPart(
        used_for="AVG, VARIANCE and STDDEV",
        mechanism="ratios of noisy sums",
        section=10,
        title="Mean as a ratio",
    ),
    ProvenPart(
        used_for="AVG and VARIANCE of units with several rows",
        mechanism="means of deviations",
        section=28,
        title="Means of deviations",
    ),
    ProvenPart(
        used_for="percentiles, MIN and MAX",
        mechanism="exponential mechanism on ranks",
        section=9,
        title="Order statistics",
    ),
    ProvenPart(
        used_for="bounds on rows and sums of a unit",
        mechanism="private bounds",
        section=23,
        title="Private bounds",
        is_used=lambda policy: any(
            table.chooses_rows or any(one.chooses_per_unit for one in table.columns.values())
            for table in policy.protected()
        ),
    ),
    ProvenPart(
        used_for="joins", mechanism="truncation of rows", section=17, title="Joins by truncation"
    ),
    ProvenPart(
        used_for="minimum group size",
        mechanism="shifted partition selection",
        section=32,
        title="The smallest group",
        is_used=lambda policy: any(
            policy.fewest_units([table.name]) > 1 for table in policy.protected()
        ),
    ),
    ProvenPart(
        used_for="days that are added up (publish: continual, ranges)",
        mechanism="correlated noise (matrix factorisation)",
        section=33,
        title="Series",
        is_used=lambda policy: any(one.continual or one.ranges for one in policy.publish),
    ),
    ProvenPart(
        used_for="units in blocks of time (per: month)",
        mechanism="parallel composition",
        section=34,
        title="A person in a block of time",
        is_used=lambda policy: any(block_findings(policy)),
    ),
    ProvenPart(
        used_for="the sum of all charges",
        mechanism="composition of epsilon and delta; with zCDP accounting also of rho",
        section=25,
        title="Two ways to fit a budget",
    ),
    ProvenPart(
        used_for="every plan, before it runs",
        mechanism="check of stability, sensitivity and price by the kernel",
        section=27,
        title="The check of plans",
    ),
    ProvenPart(
        used_for="the order of charge, read and release",
        mechanism="one package reads and draws, and only what is charged",
        section=30,
        title="From the charge to what is shown",
    ),
)


def proven_parts(policy: Policy) -> Iterator[ProvenPart]:
    """Those that statements under this policy can use."""
    return (part for part in PROVEN_PARTS if part.is_used(policy))


class Concern(str, Enum):
    """Whom a limit of the promise concerns, in the order of the report."""

    PEOPLE = "people in the data"
    ANALYSTS = "analysts"
    SERVICE = "accuracy and service"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotPromised:
    """is_about: whether it can concern a policy."""

    concerns: Concern
    text: str
    is_about: Callable[[Policy], bool] = _always


# By the titles of SECURITY.md, "What is not promised".
NOT_PROMISED: Mapping[str, NotPromised] = {
    "A password beside somebody who reconnects without waiting": NotPromised(
        concerns=Concern.ANALYSTS,
        text=("A right password can wait while others guess for the same name from its address."),
    ),
    "Time.": NotPromised(
        concerns=Concern.PEOPLE,
        text=(
            "How long an answer takes can depend on the data: an analyst with a clock learns the size"
            " of tables, and about somebody with very many rows that they are there. Answers are not"
            " quantised in time. Bind analysts by contract, or give them published tables: these are"
            " read from a copy without people's rows."
        ),
    ),
    "What one person's rows take": NotPromised(
        concerns=Concern.PEOPLE,
        text=(
            "At most 0.25 s of a processor in one statement where joins form them; where they are"
            " read as stored, at most 25 µs each. It is not zero."
        ),
    ),
    "The limit of 120 s": NotPromised(
        concerns=Concern.PEOPLE,
        text=(
            "A query that meets the server's own time limit ends with one constant text. That it did"
            " can be seen."
        ),
    ),
    "What the protected server raises": NotPromised(
        concerns=Concern.PEOPLE,
        text=("An error of the server is one constant text. That it happened can be seen."),
    ),
    "Where rows are stored": NotPromised(
        concerns=Concern.PEOPLE,
        text=("The place of a row in storage is not part of a person's data."),
    ),
    "A series whose rows are changed or deleted.": NotPromised(
        concerns=Concern.PEOPLE,
        text=(
            "A series holds if rows are only added, as the owner promises. Until its last day the"
            " operator, who has ledger and ledger.key, can compute its exact numbers."
        ),
        is_about=lambda policy: any(one.continual for one in policy.publish),
    ),
    "A person over several blocks of time.": NotPromised(
        concerns=Concern.PEOPLE,
        text=(
            "Where a unit has blocks (per: month), each month is protected by itself: whoever is in"
            " twelve months can lose twelve times as much."
        ),
        is_about=lambda policy: any(block_findings(policy)),
    ),
    "Clocks.": NotPromised(
        concerns=Concern.ANALYSTS,
        text=(
            "The clock of the ledger's server says when a budget renews. Set forward, it renews budgets"
            " early. Set back, it opens no period twice, but a token that had expired is valid again."
        ),
    ),
    "The owner's public statements": NotPromised(
        concerns=Concern.PEOPLE,
        text=(
            "Listed values, bounds and public tables are taken as public. If they were read off the"
            " data, they leak."
        ),
    ),
    "Plausible numbers.": NotPromised(
        concerns=Concern.SERVICE,
        text=("Noise can make a count negative. It is not cut off, because that would bias sums."),
    ),
    "AVG, MIN and MAX on few units.": NotPromised(
        concerns=Concern.SERVICE,
        text=("On few units they are NULL or very noisy."),
    ),
    "A minute.": NotPromised(
        concerns=Concern.PEOPLE,
        text=("A change of the catalogue is noticed within a minute."),
    ),
    "One snapshot of several nodes.": NotPromised(
        concerns=Concern.SERVICE,
        text=("On several nodes a statement can see rows that were committed while it ran."),
    ),
    "The operator": NotPromised(
        concerns=Concern.PEOPLE,
        text=(
            "The operator, the server's logs and the analysts' machines are outside the promise."
        ),
    ),
    "What analysts see of each other:": NotPromised(
        concerns=Concern.ANALYSTS,
        text=(
            "Sessions, names of temporary objects and the sum of charges. No answers, statements or"
            " passwords."
        ),
    ),
    "A long stored text": NotPromised(
        concerns=Concern.PEOPLE,
        text=(
            "The time of pattern matching on a text depends on its length. One text takes 0.25 s at"
            " most."
        ),
    ),
    "Certificates of clients are looked at when a session begins": NotPromised(
        concerns=Concern.ANALYSTS,
        text=("There are no revocation lists, and a session outlives its certificate."),
    ),
    "Channel binding.": NotPromised(
        concerns=Concern.ANALYSTS,
        text=("It is not offered. Use TLS with verify-full."),
    ),
    "A power cut": NotPromised(
        concerns=Concern.SERVICE,
        text=("It was not simulated. A kill of all processes is tested."),
    ),
    "Code in the shadow.": NotPromised(
        concerns=Concern.SERVICE,
        text=(
            "A hole in PostgreSQL would let an analyst run code in the shadow, which holds no"
            " protected row."
        ),
    ),
    "An analyst's own role.": NotPromised(
        concerns=Concern.ANALYSTS,
        text=("An analyst can spoil the settings of their own role for a short time."),
    ),
    "Memory": NotPromised(
        concerns=Concern.SERVICE,
        text=("Memory is limited by session and by analyst, not for all analysts together."),
    ),
    "Processors": NotPromised(
        concerns=Concern.SERVICE,
        text=("Processors are shared by preference, not by limit."),
    ),
    "A session that nothing ends.": NotPromised(
        concerns=Concern.SERVICE,
        text=("An analyst can end the sessions of others, once in ten minutes. Charges stay."),
    ),
    "Who reads the metrics": NotPromised(
        concerns=Concern.ANALYSTS,
        text=(
            "Counts of statements and shares of budgets can be seen. No row, person or duration can."
        ),
    ),
    "Who reads the query log": NotPromised(
        concerns=Concern.ANALYSTS,
        text=(
            "Who asked when, of which tables, at what cost, and the time in steps of 0.05 s, which"
            " depends on the data."
        ),
    ),
    "Who asks `/readyz`": NotPromised(
        concerns=Concern.SERVICE,
        text=("It needs no login, and names a database while that is away."),
    ),
    "Several analysts who share what they learned": NotPromised(
        concerns=Concern.PEOPLE,
        text=("They are held by the total budget only."),
    ),
    "Memory over HTTP.": NotPromised(
        concerns=Concern.SERVICE,
        text=("One result takes a bounded amount of memory, several times over."),
    ),
    "Python.": NotPromised(
        concerns=Concern.PEOPLE,
        text=(
            "Secrets are not wiped from memory, and the time of drawing noise depends on the draw by"
            " microseconds."
        ),
    ),
}


def limits_section(policy: Policy) -> Section:
    """The limits that can concern a policy, those of people first."""
    found = [(name, one) for name, one in NOT_PROMISED.items() if one.is_about(policy)]
    return Section(
        key="not_promised",
        title="What is not promised",
        text=("The page on security of this version has the details of each.",),
        heads=("concerns", "what", "in short"),
        rows=tuple(
            (concern.value, name.rstrip(".:"), one.text)
            for concern in Concern
            for name, one in found
            if one.concerns is concern
        ),
    )


TESTED: tuple[tuple[str, str, str], ...] = (
    (
        "neighbouring databases",
        "answers on databases that differ in one unit are compared with the planned sensitivity",
        "tests/audit",
    ),
    (
        "sessions recorded and played back on neighbours",
        "by the method of Re:cord-play (Cebere and others 2025), without a rule of the kernel: every draw of a"
        " session of 39 statements is played back without one of three customers; what differs has to be within"
        " the charge (at night)",
        "tests/recorded",
    ),
    (
        "tampered plans",
        "plans with a false sensitivity, unit, noise or price have to end in the kernel's check",
        "tests/kernel",
    ),
    (
        "distributions of noise",
        "samplers are compared with their exact distributions, and mutants of them have to fail",
        "tests/mechanisms",
    ),
    (
        "no row makes the SQL raise",
        "random and extreme rows are read by every function that is allowed",
        "tests/never_raise",
    ),
    (
        "the ledger",
        "charges at once, kills of all processes, and files put back are compared with a model",
        "tests/ledger_machine",
    ),
)

OUTSIDE = Section(
    key="outside",
    title="What this report does not say",
    text=(
        "Ask the owner for: the purpose and the legal basis, who is the controller, how the data were"
        " collected, whether children or special categories of data are among them, who approved this"
        " policy, and other releases of the same data (`dpproxy ledger adjust` counts them as spent).",
        "Ask the operator for: who can read the protected database without the proxy, encryption of disks and"
        " backups, and how long backups of the ledger are kept.",
    ),
)

_WORDS: Mapping[str, str] = {
    "accounting": "how charges are added up and held against budgets",
    "catalogue": "what a database says of its own tables: columns, types, keys",
    "charge": "what a statement takes from the budgets, before data is read; never given back by itself",
    "delta": "the chance with which the bound of epsilon may not hold",
    "epsilon": "the bound on what answers tell of one unit: no answer is more than e^epsilon times as probable"
    " with the unit's rows as without them",
    "grid": "the step of which each answer is a whole multiple",
    "kernel": "the part of the proxy that counts sensitivity and price of each plan anew",
    "ledger": "the database of budgets, receipts and analysts",
    "line": "one budget of the policy",
    "listed values": "group names that the policy states (public keys)",
    "plan": "what is computed for a statement, before it runs",
    "private key": "a group name that stands only in the data",
    "public": "known without the data, as the owner says",
    "receipt": "the record of one charge",
    "rho": "another measure of a charge (zCDP)",
    "selection": "the random decision which groups are shown whose names stand only in the data",
    "sensitivity": "the most that one unit can change a number by",
    "series": "a table of days that is published day by day, and paid once",
    "shadow": "a PostgreSQL with the same tables and no protected row, which analysts are connected to",
    "statement": "one query of an analyst",
    "unit": "what is protected as a whole, such as all rows of one customer",
}


def words_section(sections: Sequence[Section]) -> Section:
    """Explain the words that these sections use."""
    used = " ".join(
        part
        for one in sections
        for part in (*one.text, *one.heads, *(cell for row in one.rows for cell in row))
    ).lower()
    return Section(
        key="words",
        title="Words",
        heads=("word", "meaning"),
        rows=tuple(
            (word, meaning) for word, meaning in _WORDS.items() if re.search(rf"\b{word}s?\b", used)
        ),
    )
