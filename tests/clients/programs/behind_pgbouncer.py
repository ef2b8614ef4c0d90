"""psycopg 3 with pgbouncer before the proxy, in session mode, encrypted from pgbouncer on."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from each_feature import CERTIFICATE, DATABASE, HOST, PASSWORD, TLS_PORT, USER

_SETTINGS = """\
[databases]
{database} = host=localhost port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users.txt
pool_mode = session
server_tls_sslmode = verify-full
server_tls_ca_file = {folder}/ca.pem
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind((HOST, 0))
        return int(one.getsockname()[1])


def wait_for(port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection((HOST, port), 1).close()
            return
        except OSError:
            time.sleep(0.1)


def main() -> None:
    """Its folder is its own: where we are root, pgbouncer is nobody, who cannot read ours."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        serve(Path(folder), free_port())


def serve(folder: Path, own: int) -> None:
    (folder / "users.txt").write_text(f'"{USER}" "{PASSWORD}"\n')
    (folder / "ca.pem").write_bytes(Path(CERTIFICATE).read_bytes())
    settings = folder / "pgbouncer.ini"
    settings.write_text(_SETTINGS.format(database=DATABASE, port=TLS_PORT, own=own, folder=folder))
    command = ["pgbouncer", "-q", *(["-u", "nobody"] if os.getuid() == 0 else []), str(settings)]
    running = subprocess.Popen(command, stderr=sys.stderr)
    try:
        wait_for(own)
        program = Path(__file__).with_name("of_psycopg3.py")
        done = subprocess.run(
            [sys.executable, str(program)],
            env={**os.environ, "PGPORT": str(own)},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(60)
    version = subprocess.run(["pgbouncer", "--version"], capture_output=True, text=True, check=True)
    print(json.dumps({"version": version.stdout.splitlines()[0]}))
    for line in done.stdout.splitlines()[1:]:
        found = json.loads(line)
        if (
            found["feature"] == "tls"
        ):  # that of the client is pgbouncer's own; its way to us is encrypted
            found = {"feature": "tls", "value": 1}
        print(json.dumps(found))


if __name__ == "__main__":
    main()
