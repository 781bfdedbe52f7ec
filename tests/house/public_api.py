"""The public names, as text: run this file to see them; `make api` writes them to public_api.txt."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import FunctionType
from typing import Any

PACKAGE = "otel_toolerrors"


def public_modules() -> list[str]:
    """Name the modules whose ``__all__`` is a promise."""
    package = importlib.import_module(PACKAGE)
    adapters = [module.name for module in pkgutil.iter_modules([f"{package.__path__[0]}/integrations"])]
    return [PACKAGE, f"{PACKAGE}.analysis", *(f"{PACKAGE}.integrations.{name}" for name in adapters if name[0] != "_")]


def public_names() -> Iterator[tuple[str, Any]]:
    """Yield each public name, and each public member that we wrote of a public class."""
    for module_name in public_modules():
        module = importlib.import_module(module_name)
        for name in sorted(module.__all__):
            public = getattr(module, name)
            yield f"{module_name}.{name}", public
            if inspect.isclass(public):
                yield from _members(f"{module_name}.{name}", public)


def _members(name: str, cls: type) -> Iterator[tuple[str, Any]]:
    ours = [base for base in cls.__mro__ if base.__module__.startswith(PACKAGE)]
    written = {member: value for base in reversed(ours) for member, value in vars(base).items()}
    for member, value in sorted(written.items()):
        if member[0] != "_" and isinstance(value, (FunctionType, classmethod, property, staticmethod)):
            yield f"{name}.{member}", value


def render() -> Iterator[str]:
    """Render each public name with its signature, one line for each name and each argument of a class."""
    for name, public in public_names():
        if inspect.isclass(public):
            yield f"class {name}"
            yield from (f"  {parameter}" for parameter in _signature(public).parameters.values())
        elif isinstance(public, property):
            yield f"{name}: {_signature(public.fget).return_annotation}"
        elif callable(public) or isinstance(public, (classmethod, staticmethod)):
            yield f"{name}{_signature(getattr(public, '__func__', public))}"
        else:
            yield f"{name} = {public!r}"


class _Bare(str):
    """An annotation as it was written, without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _signature(public: Any) -> inspect.Signature:
    try:
        signature = inspect.signature(public)
    except ValueError:  # an exception class that keeps the C constructor
        return inspect.Signature()
    bare = [
        parameter.replace(annotation=_bare(parameter.annotation), default=_without_address(parameter.default))
        for parameter in signature.parameters.values()
    ]
    return signature.replace(parameters=bare, return_annotation=_bare(signature.return_annotation))


def _bare(annotation: Any) -> Any:
    return _Bare(annotation) if isinstance(annotation, str) else annotation


def _without_address(default: Any) -> Any:
    """Leave out a memory address, which differs from run to run."""
    text = re.sub(r" at 0x[0-9a-f]+", "", repr(default))
    return default if text == repr(default) else _Bare(text)


if __name__ == "__main__":
    print(*render(), sep="\n")  # noqa: T201 - the list is this program's output
