"""The ``toolerrors`` command: for people, and with ``--format json`` for programs. ``docs/cli.md`` says more."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command, and exit with its code."""
    try:
        from .app import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        sys.exit(f"toolerrors: {error.name} is not installed. Run: pip install 'otel-toolerrors[cli,analysis]'")
    sys.exit(run())
