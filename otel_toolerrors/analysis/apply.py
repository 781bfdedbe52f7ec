"""Writing proposed changes to files: new ones, unless the caller says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from otel_toolerrors.faults import load_rules
from otel_toolerrors.faults.toml import read_toml
from otel_toolerrors.policy import load_policy

from .editing import edited
from .patch import Change, Patch, Target, merged

FILES: Mapping[Target, str] = {
    "policy": "toolerrors.toml",
    "rules": "toolerrors.rules.toml",
    "catalog": "toolerrors.catalog.toml",
}
"""The file that each kind of patch is written to."""


class ApplyError(ValueError):
    """A patch that cannot be written; the text names the file and the reason. Nothing has been written."""


def apply(
    patches: Iterable[Patch],
    folder: str | Path,
    *,
    bases: Mapping[Target, str | Path] | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write patches to files in ``folder``, one file for each target, and give their paths.

    Where two patches set the same key or match the same error, the first one wins: hand them over gravest first,
    as `find` does.
    A file with the same name is never changed, unless ``overwrite`` says so.

    Args:
        patches: What findings, or `tune`, propose.
        folder: Where to; made if missing.
        bases: The files in force, by target: what is written is their text, comments too, with the changes in it.
        overwrite: Replace files that exist.

    Raises:
        ApplyError: A file exists, a base cannot be read, or what would be written is not valid.
    """
    texts = proposed(patches, bases=bases)
    paths = {target: Path(folder) / FILES[target] for target in texts}
    for path in paths.values():
        if path.exists() and not overwrite:
            raise ApplyError(f"{path} exists; name another folder, or overwrite it")
    Path(folder).mkdir(parents=True, exist_ok=True)
    partials = {target: path.with_name(f"{path.name}.partial") for target, path in paths.items()}
    try:
        for target, partial in partials.items():
            partial.write_text(texts[target], encoding="utf-8")
            _check(target, partial)
        for target, partial in partials.items():
            partial.replace(paths[target])
    finally:
        for partial in partials.values():
            partial.unlink(missing_ok=True)
    return list(paths.values())


def proposed(patches: Iterable[Patch], *, bases: Mapping[Target, str | Path] | None = None) -> dict[Target, str]:
    """Give the text that `apply` would write for each target, without writing or checking it.

    Raises:
        ApplyError: A base cannot be read.
    """
    everything = list(patches)
    targets = [target for target in FILES if any(patch.target == target for patch in everything)]
    texts: dict[Target, str] = {}
    for target in targets:
        base = (bases or {}).get(target)
        try:
            texts[target] = _text(merged(everything, target), base)
        except (OSError, ValueError, RecursionError) as error:
            raise ApplyError(f"{base}: cannot be read ({error})") from error
    return texts


def _text(patch: Patch, base: str | Path | None) -> str:
    """The base with the patch in it, or the patch alone."""
    text = Path(base).read_text(encoding="utf-8") if base is not None else ""
    changes = patch.changes
    if patch.target == "catalog" and "version" not in read_toml(text):
        changes = (Change(("version",), "patched"), *changes)
    return edited(text, changes, patch.rows)


def _read(path: str | Path) -> dict[str, Any]:
    return read_toml(Path(path).read_text(encoding="utf-8"))


def _check(target: Target, path: Path) -> None:
    """Refuse what the reader of the file would refuse."""
    try:
        _READERS[target](path)
    except ValueError as error:
        raise ApplyError(f"the patch is not valid, nothing was written: {error}") from error


_READERS: Mapping[Target, Callable[[Path], object]] = {"policy": load_policy, "rules": load_rules, "catalog": _read}
