"""The certificate of the listener that takes TLS only."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Of localhost, as a name beside its subject: Go looks nowhere else."""
    folder = tmp_path_factory.mktemp("tls_of_clients")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    named = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    try:
        subprocess.run(
            [*made, *named, "-keyout", str(key), "-out", str(certificate)],
            check=True,
            capture_output=True,
        )
    except FileNotFoundError:
        pytest.skip("there is no openssl to make a certificate")
    return certificate, key
