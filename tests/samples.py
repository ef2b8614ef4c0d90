"""The demo's sample policies, as they are inside the package."""

from importlib.resources import files
from pathlib import Path

SAMPLES = Path(str(files("proxy.cli.demo")))
