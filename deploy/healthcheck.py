"""Whether a dpproxy on this machine answers: `python healthcheck.py URL`, for a container's health check.

It sends no password, so the certificate is not verified: its name is that of the server, not 127.0.0.1.
"""

from __future__ import annotations

import ssl
import sys
import urllib.request

_SECONDS = 4.0


def main(url: str) -> None:
    """Ends with status 1 unless the answer is 200."""
    unverified = ssl.create_default_context()
    unverified.check_hostname = False
    unverified.verify_mode = ssl.CERT_NONE
    handlers = (urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=unverified))
    try:
        with urllib.request.build_opener(*handlers).open(url, timeout=_SECONDS) as answer:
            healthy = answer.status == 200
    except OSError as error:
        sys.exit(f"{url}: {error}")
    if not healthy:
        sys.exit(f"{url}: status {answer.status}")


if __name__ == "__main__":
    main(sys.argv[1])
