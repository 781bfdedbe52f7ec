"""Write the Grafana dashboards beside this file: ``python -m dashboards.build [--check]``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from dashboards import boards

FOLDER = Path(__file__).parent
DASHBOARDS = {
    "fleet.json": boards.fleet,
    "tool.json": boards.tool,
    "model.json": boards.model,
    "services.json": boards.services,
}


def rendered() -> Iterator[tuple[Path, str]]:
    """Each dashboard's file, and what belongs in it."""
    for name, make in DASHBOARDS.items():
        yield FOLDER / name, json.dumps(make(), indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the dashboards, or tell which are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
    check = parser.parse_args().check
    stale = []
    for path, text in rendered():
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
    if stale:
        sys.stderr.write(f"out of date: {', '.join(stale)}; run python -m dashboards.build\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
