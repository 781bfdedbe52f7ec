"""Fuzz a target with atheris, which follows the branches of the code: ``python -m tests.fuzz.run policy --seconds 60``.

What it finds is kept as ``.cache/fuzz/TARGET/crash-…``; give that file after the target to see it again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import atheris

CACHE = Path(".cache/fuzz")

with atheris.instrument_imports(include=["otel_toolerrors", "tomllib"]):
    from tests.fuzz.targets import TARGETS, seeds


def main() -> None:
    """Fuzz for as long as told, or play files again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("files", nargs="*", help="Play these instead.")
    parser.add_argument("--seconds", type=int, default=60)
    arguments = parser.parse_args()

    folder = CACHE / arguments.target
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(arguments.target)):
        (corpus / f"seed-{number}").write_bytes(seed)
    limits = [f"-max_total_time={arguments.seconds}", "-timeout=60", "-rss_limit_mb=4096", "-max_len=4096"]
    options = ["-print_final_stats=1", f"-artifact_prefix={folder}/", *limits]
    atheris.Setup([sys.argv[0], *options, *(arguments.files or [str(corpus)])], TARGETS[arguments.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
