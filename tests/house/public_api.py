"""The public names, as text. `make api` runs this file, which writes them to public_api.txt beside it."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from pydantic import BaseModel

PACKAGE = "otel_toolerrors"
APART = "integrations.google_adk"  # ADK needs an environment of its own
SNAPSHOT = Path(__file__).with_suffix(".txt")


def public_modules() -> list[str]:
    """Name the modules whose names are a promise. The policy's classes are the keys of the policy file."""
    package = importlib.import_module(PACKAGE)
    adapters = [module.name for module in pkgutil.iter_modules([f"{package.__path__[0]}/integrations"])]
    parts = ["analysis", "policy", "testing", *(f"integrations.{name}" for name in adapters if name[0] != "_")]
    return [PACKAGE, *(f"{PACKAGE}.{part}" for part in parts if part != APART)]


def public_names() -> Iterator[tuple[str, Any]]:
    """Yield each public name, and each public member that we wrote of a public class."""
    for module_name in public_modules():
        module = importlib.import_module(module_name)
        for name in sorted(_exported(module)):
            public = getattr(module, name)
            yield f"{module_name}.{name}", public
            if inspect.isclass(public):
                yield from _members(f"{module_name}.{name}", public)


def _exported(module: ModuleType) -> list[str]:
    """Take ``__all__``, or whatever a module without one defines and does not underscore."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    return getattr(module, "__all__", [name for name in own if name[0] != "_"])


def _members(name: str, cls: type) -> Iterator[tuple[str, Any]]:
    written = {member: value for base in _ours(cls) for member, value in vars(base).items()}
    for member, value in sorted(written.items()):
        if member[0] != "_" and isinstance(value, (FunctionType, classmethod, property, staticmethod)):
            yield f"{name}.{member}", value


def _ours(cls: type) -> list[type]:
    return [base for base in reversed(cls.__mro__) if base.__module__.startswith(PACKAGE)]


def render() -> Iterator[str]:
    """Render each public name with its signature: a line for each name, and for each argument of a class."""
    for name, public in public_names():
        if inspect.isclass(public):
            yield f"class {name}"
            yield from (f"  {parameter}" for parameter in _signature(public).parameters.values())
        elif isinstance(public, property):
            yield f"{name}: {_signature(public.fget).return_annotation}"
        elif isinstance(public, (FunctionType, classmethod, staticmethod)):
            function = getattr(public, "__func__", public)
            yield f"{'async ' * inspect.iscoroutinefunction(function)}{name}{_signature(function)}"
        else:
            yield f"{name} = {public!r}"


class _Bare(str):
    """Text that a signature shows without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _signature(public: Any) -> inspect.Signature:
    """Give the signature with annotations as they were written and defaults that read the same in each run."""
    try:
        signature = inspect.signature(public)
    except ValueError:  # an exception class that keeps the C constructor
        return inspect.Signature()
    fields = {}
    if inspect.isclass(public):
        fields = {name: hint for base in _ours(public) for name, hint in inspect.get_annotations(base).items()}
    parameters = [
        parameter.replace(
            annotation=_bare(fields.get(parameter.name, parameter.annotation)), default=_default(parameter.default)
        )
        for parameter in signature.parameters.values()
    ]
    return signature.replace(parameters=parameters, return_annotation=_bare(signature.return_annotation))


def _bare(annotation: Any) -> Any:
    return _Bare(annotation) if isinstance(annotation, str) else annotation


def _default(value: Any) -> Any:
    if isinstance(value, BaseModel):  # its fields are listed with its class
        return _Bare(f"{type(value).__name__}()")
    if isinstance(value, frozenset):
        return _Bare(f"{{{', '.join(sorted(map(repr, value)))}}}")
    if callable(value) and value is not inspect.Parameter.empty:
        return _Bare(value.__qualname__)
    return value


if __name__ == "__main__":
    SNAPSHOT.write_text("".join(f"{line}\n" for line in render()), encoding="utf-8")
