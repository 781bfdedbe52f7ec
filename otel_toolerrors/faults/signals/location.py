"""Where a builtin exception was raised, and so whose mistake it is.

A TypeError at the call boundary is the caller's; the same TypeError in the
tool's body is a defect. The traceback tells them apart: which instruction
raised, in whose code, and whether the offending value came in as an argument.
"""

from __future__ import annotations

import dis
import sys
import sysconfig
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Final

from ..evidence import Evidence, Hit
from ..reading import attribute
from ..rules import RuleSet

_FRAMES: Final = 200
_STDLIB: Final = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), "<frozen")
_SPREAD_CALL: Final = dis.opmap["CALL_FUNCTION_EX"]
_RAISE: Final = frozenset({dis.opmap["RAISE_VARARGS"], dis.opmap["RERAISE"]})
_SIGNATURE: Final = (
    "unexpected keyword argument",
    "required positional argument",
    "required keyword-only argument",
    "multiple values for",
    "positional arguments but",
    "positional argument but",
    "takes no arguments",
    "takes no keyword",
)
_IO_NAMES: Final = frozenset(
    {
        "urlopen",
        "get",
        "post",
        "put",
        "request",
        "read",
        "json",
        "load",
        "recv",
        "response",
        "resp",
        "fetch",
        "readline",
        "open_connection",
        "fetchone",
        "fetchall",
        "execute",
        "upstream",
        "requests",
        "httpx",
        "aiohttp",
        "urllib",
        "send",
    }
)

_CONNECTING: Final = frozenset({
    "create_connection", "_wrap_create_connection", "do_handshake", "connect_tcp", "getaddrinfo", "sock_connect", "_sock_connect", "_connect_sock",
    "start_connection", "_new_conn",
})  # fmt: skip

Spot = tuple[FrameType, int, bool]
"""Frame, instruction offset, whether it is library code."""


def hits(evidence: Evidence, rules: RuleSet) -> Iterator[Hit]:
    """The rule for the place where a builtin exception was raised."""
    place = _place(evidence)
    if place is not None and (rule := rules.at.get(place)) is not None:
        yield Hit("location", place, rule, "strong")


def _place(evidence: Evidence) -> str | None:
    kind = evidence.kind
    spots = _spots(evidence.exc)
    if issubclass(kind, TypeError):
        return _type_error(evidence, spots)
    if issubclass(kind, KeyError):
        return _key_error(evidence, spots)
    if issubclass(kind, (IndexError, AttributeError)):
        return "key" if spots and _raised(spots[-1]) and issubclass(kind, IndexError) else "body"
    if issubclass(kind, ValueError):
        return _value_error(evidence, spots)
    if issubclass(kind, (LookupError, ArithmeticError)):
        return "check"
    if kind is RuntimeError and spots and not _raised(spots[-1]):
        return "body"  # the interpreter's own complaint
    return None


def while_connecting(exc: BaseException) -> bool:
    """Whether a library raised it while it was still making the connection, so that no request had been sent."""
    return any(library and frame.f_code.co_name in _CONNECTING for frame, _, library in _spots(exc))


def library_speaks(evidence: Evidence) -> bool:
    """Whether a library speaks in its own name: a class of its own, raised in its own code or in its extension's."""
    module = sys.modules.get(evidence.kind.__module__)
    if evidence.profile.plain or module is None:
        return False
    file = getattr(module, "__file__", None)
    if file is not None and not is_library(file):
        return False
    spots = _spots(evidence.exc)
    return not spots or spots[-1][2] or not _raised(spots[-1])


def _type_error(evidence: Evidence, spots: list[Spot]) -> str:
    if not spots:
        return "body"
    if any(part in evidence.text for part in _SIGNATURE) and _op(spots[-1]) == _SPREAD_CALL:
        return "call"
    return "check" if _raised(spots[-1]) and not spots[-1][2] else "body"


def _key_error(evidence: Evidence, spots: list[Spot]) -> str:
    if not spots:
        return "body"
    frame, _, library = spots[-1]
    if library and frame.f_globals.get("__name__") == "os":
        return "environment"
    if _raised(spots[-1]):
        return "key"
    key = evidence.args[0] if evidence.args else None
    tool = _tool_spot(spots)
    if tool is not None and type(key) in (str, int):
        if key in _constants(tool[0].f_code):
            return "body"
        if any(type(value) is type(key) and value == key for value in _parameters(tool[0])):
            return "key"
    return "body"


def _value_error(evidence: Evidence, spots: list[Spot]) -> str:
    tool = _tool_spot(spots)
    if tool is None:
        return "check"
    if tool is spots[-1] and _raised(tool):
        return "check"
    names = [spot[0].f_globals.get("__name__") for spot in spots if spot[2]]
    if any("settings" in name for name in names if isinstance(name, str)):
        return "environment"
    if _came_in(evidence, [spot[0] for spot in reversed(spots) if not spot[2]][:3]):
        return "argument"
    return "upstream" if _IO_NAMES & set(tool[0].f_code.co_names) else "argument"


def _came_in(evidence: Evidence, frames: list[FrameType]) -> bool:
    """Whether the offending value is a parameter of the tool."""
    text = evidence.text[:2_000]
    refused = {v for name in ("doc", "object") if type(v := attribute(evidence.exc, name)) in (str, bytes)}
    for frame in frames:
        for value in _parameters(frame):
            if type(value) in (str, bytes) and value and (value in refused or repr(value[:200])[:-1] in text):
                return True
            if type(value) in (int, float) and f"{value}" in text:
                return True
    return False


def _spots(exc: BaseException) -> list[Spot]:
    spots: list[Spot] = []
    tb = attribute(exc, "__traceback__")
    while tb is not None and len(spots) < _FRAMES:
        frame = tb.tb_frame
        spots.append((frame, tb.tb_lasti, is_library(frame.f_code.co_filename)))
        tb = tb.tb_next
    return spots


def is_library(filename: str) -> bool:
    """Whether a file belongs to Python or to an installed package."""
    return (
        "site-packages" in filename
        or "dist-packages" in filename
        or filename.startswith(_STDLIB)
        or "otel_toolerrors" in filename
    )


def _tool_spot(spots: list[Spot]) -> Spot | None:
    return next((spot for spot in reversed(spots) if not spot[2]), None)


def _op(spot: Spot) -> int | None:
    code = spot[0].f_code.co_code
    return code[spot[1]] if 0 <= spot[1] < len(code) else None


def _raised(spot: Spot) -> bool:
    return _op(spot) in _RAISE


def _constants(code: CodeType) -> list[object]:
    return [c for c in code.co_consts if type(c) in (str, int)]


def _parameters(frame: FrameType) -> list[object]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    local = frame.f_locals
    return [local[name] for name in code.co_varnames[:count] if name in local]
