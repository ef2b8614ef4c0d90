"""Sample policies: the folder `policies/` of the repository, found in a wheel and in a checkout alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import proxy
from proxy.cli.cli_error import CliError
from proxy.policy_file.policy_schema import MODELINE, SCHEMA_FILE, policy_schema

POLICY_FILE, SCHEMA_SQL, ROWS_SQL, QUERIES_SQL = (
    *("policy.yaml", "schema.sql", "rows.sql", "queries.sql"),
)
_PACKAGE = Path(proxy.__file__).parent
# A wheel has the folder inside the package (setup.py). A checkout, installed or not, has it beside the package.
_PLACES = (_PACKAGE / "policies", _PACKAGE.parent / "policies")
_SUMMARY = "# Sample: "


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePolicy:
    """A folder with a policy, and the tables, invented rows and queries to try it with."""

    name: str
    folder: Path

    @property
    def policy_file(self) -> Path:
        return self.folder / POLICY_FILE

    @property
    def schema(self) -> str:
        """SQL that creates the tables."""
        return self._text(SCHEMA_SQL)

    @property
    def rows(self) -> str:
        """SQL that inserts the invented rows."""
        return self._text(ROWS_SQL)

    @property
    def queries(self) -> tuple[str, ...]:
        """Statements to try, one a line in their file."""
        return tuple(line.strip() for line in self._text(QUERIES_SQL).splitlines() if line.strip())

    @property
    def summary(self) -> str:
        """What the sample shows, from the second line of its policy."""
        line = self._text(POLICY_FILE).splitlines()[1]
        assert line.startswith(_SUMMARY), self.policy_file
        return line.removeprefix(_SUMMARY)

    def files(self) -> Mapping[str, str]:
        """File name to text, as a user gets them: editors find the JSON Schema beside the policy."""
        _, rest = self._text(POLICY_FILE).split("\n", 1)
        return {
            POLICY_FILE: f"{MODELINE}\n{rest}",
            SCHEMA_SQL: self.schema,
            ROWS_SQL: self.rows,
            QUERIES_SQL: self._text(QUERIES_SQL),
            SCHEMA_FILE: json.dumps(policy_schema(), indent=2) + "\n",
        }

    def _text(self, file: str) -> str:
        return (self.folder / file).read_text(encoding="utf-8")


def samples_folder() -> Path:
    """Return the folder of the samples.

    Raises:
        CliError: the installation has no samples.
    """
    for folder in _PLACES:
        if (folder / "census" / POLICY_FILE).is_file():
            return folder
    raise CliError(f"there are no sample policies in {_PLACES[0]}: install dpproxy again")


def sample_policies() -> tuple[SamplePolicy, ...]:
    """List all samples, by name."""
    found = sorted(samples_folder().glob(f"*/{POLICY_FILE}"))
    return tuple(SamplePolicy(name=file.parent.name, folder=file.parent) for file in found)


def sample_policy(name: str) -> SamplePolicy:
    """Find a sample by its name.

    Raises:
        CliError: no sample has the name.
    """
    samples = {sample.name: sample for sample in sample_policies()}
    if name not in samples:
        raise CliError(f'there is no sample "{name}": choose one of {", ".join(samples)}')
    return samples[name]


def copy_sample(sample: SamplePolicy, folder: Path) -> None:
    """Write the files of a sample into a folder, which is created if it is missing.

    Raises:
        CliError: a file is there already. Then none is written.
    """
    files = sample.files()
    existing = [name for name in files if (folder / name).exists()]
    if existing:
        raise CliError(
            f"{folder / existing[0]} is there already: choose another folder with --to, or move it away"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            with (folder / name).open("x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        raise CliError(f"{error.filename or folder}: {error.strerror}") from None
