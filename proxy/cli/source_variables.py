"""Values of `${NAME}` in a policy's `source`: a file of the credentials folder, else an environment variable.

systemd makes the folder (LoadCredential=), and so can a container engine. A file keeps the password out of the
environment of the process, which the engine shows to whoever may look at the container.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

_VARIABLE = "CREDENTIALS_DIRECTORY"
_LONGEST_BYTES = 64 * 1024


def inherited_environment() -> dict[str, str]:
    """Copy the variables of this process, for a program of ours."""
    return dict(os.environ)


class SourceVariables(Mapping[str, str]):
    """Each file is read when its name is looked up, so that a changed one counts when policies are read again.

    A file that cannot be read counts as a variable that is not set.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment

    def __getitem__(self, name: str) -> str:
        folder = self._environment.get(_VARIABLE)
        file = None if not folder or Path(name).name != name else Path(folder) / name
        if file is None or not file.exists():
            return self._environment[name]
        try:
            with file.open("rb") as opened:
                text = opened.read(_LONGEST_BYTES + 1)
            if len(text) > _LONGEST_BYTES:
                raise KeyError(name)
            return text.decode().removesuffix("\n")
        except (OSError, UnicodeDecodeError):
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._environment)

    def __len__(self) -> int:
        return len(self._environment)
