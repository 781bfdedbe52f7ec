#!/usr/bin/env python3
"""Build the real parts that tests/real runs against, once.

    python collector/build.py collector    # prints the path of the binary
    python collector/build.py jaeger
    python collector/build.py traceql      # Grafana's TraceQL grammar, a folder of node modules

A part is built into ``$OTEL_TOOLERRORS_BIN`` (default: ``otel-toolerrors/bin``
under the user's cache directory) under a name that holds a digest of what it is
built from, so a second run is a look-up and a changed manifest is a new build.
The programs need Go 1.25 or newer, the grammar npm; the sources come through
the Go module proxy and npm's registry, as these tools are set up.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

MANIFEST = Path(__file__).with_name("builder.yaml")

JAEGER_MODULE = "github.com/jaegertracing/jaeger"
JAEGER_VERSION = "v1.76.0"
"""Holds Jaeger 2.13 in ``cmd/jaeger``. Later tags (v2.x) are no valid versions of a module path without ``/v2``."""

TRACEQL_PACKAGES = ("@grafana/lezer-traceql@1.0.0", "@lezer/common@1.5.5", "@lezer/lr@1.4.12")

_STRIP = ("-trimpath", "-ldflags=-s -w")


def cache_directory() -> Path:
    """Where the binaries are kept between runs."""
    if chosen := os.environ.get("OTEL_TOOLERRORS_BIN"):
        return Path(chosen)
    user_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(user_cache) / "otel-toolerrors" / "bin"


def build_collector(target: Path) -> None:
    """Build the distribution that ``builder.yaml`` describes.

    The collector builder writes the sources, we compile them: it would run
    ``go mod tidy`` first, which also wants the modules that only the tests of
    the components need, and not every module proxy serves those.
    """
    manifest = MANIFEST.read_text(encoding="utf-8")
    version = "v" + _find(r"^  version: (\S+)$", manifest)
    with tempfile.TemporaryDirectory(prefix="otelcol-build-") as scratch:
        work = Path(scratch)
        sources = work / _find(r"^  output_path: (\S+)$", manifest)
        _run("go", "install", f"go.opentelemetry.io/collector/cmd/builder@{version}", env={"GOBIN": scratch})
        _run(work / "builder", "--config", MANIFEST, "--skip-get-modules", "--skip-compilation", cwd=work)
        required = [*re.findall(r"^  - gomod: (\S+) (\S+)$", manifest, re.MULTILINE)]
        required.append(("go.opentelemetry.io/collector/otelcol", version))
        _run("go", "mod", "init", "otelcol-toolerrors", cwd=sources)
        _run("go", "mod", "edit", *(f"-require={module}@{at}" for module, at in required), cwd=sources)
        _run("go", "build", "-mod=mod", *_STRIP, "-o", target, ".", cwd=sources)


def build_jaeger(target: Path) -> None:
    """Build Jaeger inside its own module, against the dependencies that its authors pinned."""
    answer = _run(
        "go", "mod", "download", "-json", f"{JAEGER_MODULE}@{JAEGER_VERSION}", cwd=Path(tempfile.gettempdir())
    )
    module = json.loads(answer)["Dir"]
    _run("go", "build", *_STRIP, "-o", target, "./cmd/jaeger", cwd=Path(module))


def install_traceql(target: Path) -> None:
    """Install the grammar that Grafana parses TraceQL with."""
    target.mkdir(exist_ok=True)
    _run("npm", "install", "--prefix", target, "--no-audit", "--no-fund", *TRACEQL_PACKAGES)


PARTS: dict[str, tuple[Callable[[Path], None], bytes]] = {
    "collector": (build_collector, MANIFEST.read_bytes()),
    "jaeger": (build_jaeger, f"{JAEGER_MODULE}@{JAEGER_VERSION}".encode()),
    "traceql": (install_traceql, " ".join(TRACEQL_PACKAGES).encode()),
}
"""What can be built: how, and from what."""


def path_of(part: str) -> Path:
    """Where the binary of a part is, or will be."""
    _, source = PARTS[part]
    return cache_directory() / f"{part}-{hashlib.sha256(source).hexdigest()[:12]}"


def ensure(part: str) -> Path:
    """Return the path of a part, building it first if it is not there.

    Raises:
        RuntimeError: Go or npm is missing, or a step failed; the message ends with the step's own output.
    """
    target = path_of(part)
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # test processes that start together build once
        if not target.exists():
            started = time.monotonic()
            unfinished = target.with_suffix(".part")
            build, _ = PARTS[part]
            build(unfinished)
            unfinished.replace(target)
            sys.stderr.write(f"built {part} in {time.monotonic() - started:.0f} s\n")
    return target


def _run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    if shutil.which(command[0]) is None:
        msg = f"no `{command[0]}` on the PATH"
        raise RuntimeError(msg)
    done = subprocess.run(  # noqa: S603 -- fixed commands, no shell
        [str(word) for word in command],
        cwd=cwd,
        env=os.environ | (env or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        msg = f"{' '.join(str(word) for word in command)} failed:\n{(done.stdout + done.stderr)[-4000:]}"
        raise RuntimeError(msg)
    return done.stdout


def _find(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        msg = f"{MANIFEST.name}: nothing matches {pattern!r}"
        raise RuntimeError(msg)
    return found[1]


def main() -> int:
    """Build what was asked for, and print where it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=sorted(PARTS), metavar="PART", help=", ".join(sorted(PARTS)))
    for part in parser.parse_args().parts:
        try:
            sys.stdout.write(f"{ensure(part)}\n")
        except RuntimeError as error:
            sys.stderr.write(f"{part}: {error}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
