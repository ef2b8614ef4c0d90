"""The certificate of the listeners is taken up anew when its files change, and on SIGHUP."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable
from pathlib import Path

import structlog

from proxy.servers.certificate import renew_certificate

_log = structlog.get_logger("dpproxy.reloading")


class CertificateWatch:
    """
    Given    certificate and key in PEM; contexts: gives those of the listeners that are open
    Gives    `look` renews them: who connects from then on is shown the new one, and sessions go on
    """

    def __init__(
        self, files: tuple[Path, Path], contexts: Callable[[], Iterable[ssl.SSLContext]]
    ) -> None:
        self._files = files
        self._contexts = contexts
        self._taken = self._seen = self._signature()

    def look(self, *, at_once: bool = False) -> None:
        """Files are read once both have been left alone from one look to the next."""
        seen, self._seen = self._seen, self._signature()
        if self._seen == self._taken or (seen != self._seen and not at_once):
            return
        self._taken = self._seen
        certificate, key = self._files
        try:
            renew_certificate(self._contexts(), certificate, key)
        except (OSError, ssl.SSLError) as error:
            reason = error.strerror if type(error) is OSError else type(error).__name__
            _log.error("certificate_not_taken", file=str(certificate), reason=reason)
        else:
            _log.warning("certificate_taken", file=str(certificate))

    def _signature(self) -> tuple[object, ...]:
        """Changes with the files, also where links to them are turned to others."""
        found: list[object] = []
        for file in self._files:
            try:
                of = file.stat()
            except OSError:
                found.append("gone")
            else:
                found.append((of.st_ino, of.st_mtime_ns, of.st_size, of.st_ctime_ns))
        return tuple(found)
