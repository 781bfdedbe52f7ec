"""Where a builtin exception was raised, and so whose mistake it is.

A TypeError at the call boundary is the caller's; the same TypeError in the
tool's body is a defect. The traceback tells them apart: which instruction
raised, in whose code, and whether the offending value came in as an argument.
"""

from __future__ import annotations

import collections
import dis
import functools
import sys
import sysconfig
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Final, NamedTuple

from otel_toolerrors.faults.evidence import Evidence, Hit
from otel_toolerrors.faults.reading import attribute
from otel_toolerrors.faults.rules import RuleSet

_INNERMOST: Final = 60  # frames that are looked at
_LONGEST: Final = 20_000  # frames that are walked past to reach them
_TOOL_FRAMES: Final = 3
_STDLIB: Final = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), "<frozen")
_OURS: Final = __file__.partition("faults")[0]

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
_FETCHES: Final = frozenset({
    "urlopen", "getresponse", "recv", "fetch", "fetchone", "fetchall", "readline", "open_connection",
    "requests", "httpx", "aiohttp", "urllib",
})  # fmt: skip
_CONNECTS: Final = frozenset({
    "create_connection", "_wrap_create_connection", "do_handshake", "connect_tcp", "getaddrinfo",
    "sock_connect", "_sock_connect", "_connect_sock",
    "start_connection", "_new_conn",
})  # fmt: skip


class Spot(NamedTuple):
    """One frame of a traceback."""

    frame: FrameType
    offset: int
    library: bool

    @property
    def instruction(self) -> int | None:
        """The opcode that was being executed."""
        code = self.frame.f_code.co_code
        return code[self.offset] if 0 <= self.offset < len(code) else None

    @property
    def raises(self) -> bool:
        """Whether it is a ``raise`` statement, not the interpreter's complaint."""
        return self.instruction in _RAISE

    def parameters(self) -> list[object]:
        """Values that the frame's function was called with."""
        code = self.frame.f_code
        local = self.frame.f_locals
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return [local[name] for name in names if name in local]


def hits(evidence: Evidence, rules: RuleSet) -> Iterator[Hit]:
    """The rule for the place where a builtin exception was raised."""
    place = _place(evidence)
    if place is not None and (rule := rules.at.get(place)) is not None:
        yield Hit("location", place, rule, "strong")


def while_connecting(exc: BaseException) -> bool:
    """Whether a library raised it while it was still making the connection, so that no request had been sent."""
    return any(spot.library and spot.frame.f_code.co_name in _CONNECTS for spot in _spots(exc))


def library_speaks(evidence: Evidence) -> bool:
    """Whether a library speaks in its own name: a class of its own, raised in its own code or in its extension's."""
    module = sys.modules.get(evidence.kind.__module__)
    if evidence.profile.plain or module is None:
        return False
    file = getattr(module, "__file__", None)
    if file is not None and not is_library(file):
        return False
    spots = _spots(evidence.exc)
    return not spots or spots[-1].library or not spots[-1].raises


@functools.lru_cache(maxsize=4_096)
def is_library(filename: str) -> bool:
    """Whether a file belongs to Python, to an installed package, or to this one."""
    return "site-packages" in filename or "dist-packages" in filename or filename.startswith((*_STDLIB, _OURS))


def _place(evidence: Evidence) -> str | None:
    spots = _spots(evidence.exc)
    return next((read(evidence, spots) for kind, read in _READERS if issubclass(evidence.kind, kind)), None)


def _of_lookup(evidence: Evidence, spots: list[Spot]) -> str:
    if spots and spots[-1].raises:
        return "key"  # somebody says so, on purpose
    return "body" if issubclass(evidence.kind, IndexError) else "check"


def _of_runtime_error(evidence: Evidence, spots: list[Spot]) -> str | None:
    """The interpreter's own complaint is about the code; what somebody raises says nothing."""
    return "body" if evidence.kind is RuntimeError and spots and not spots[-1].raises else None


def _of_type_error(evidence: Evidence, spots: list[Spot]) -> str:
    if not spots:
        return "body"
    if spots[-1].instruction == _SPREAD_CALL and any(part in evidence.text for part in _SIGNATURE):
        return "call"
    return "check" if spots[-1].raises and not spots[-1].library else "body"


def _of_key_error(evidence: Evidence, spots: list[Spot]) -> str:
    if not spots:
        return "body"
    inner = spots[-1]
    if inner.library and inner.frame.f_globals.get("__name__") == "os":
        return "environment"
    if inner.raises:
        return "key"  # somebody says so, on purpose
    key = evidence.args[0] if evidence.args else None
    tool = _innermost_tool(spots)
    if tool is None or type(key) not in (str, int):
        return "body"
    if any(type(constant) is type(key) and constant == key for constant in tool.frame.f_code.co_consts):
        return "body"  # written into the code: an answer without that field
    return "key" if any(type(value) is type(key) and value == key for value in tool.parameters()) else "body"


def _of_value_error(evidence: Evidence, spots: list[Spot]) -> str:
    tool = _innermost_tool(spots)
    if tool is None or (tool is spots[-1] and tool.raises):
        return "check"
    if any("settings" in str(spot.frame.f_globals.get("__name__")) for spot in spots if spot.library):
        return "environment"
    if any("Response" in type(spot.frame.f_locals.get("self")).__name__ for spot in spots if spot.library):
        return "upstream"  # an answer could not be read
    frames = [spot for spot in reversed(spots) if not spot.library][:_TOOL_FRAMES]
    return "upstream" if not _came_in(evidence, frames) and _fetches(tool.frame) else "argument"


def _came_in(evidence: Evidence, spots: list[Spot]) -> bool:
    """Whether the offending value is a parameter of the tool."""
    text = evidence.text[:2_000]
    refused = [value for name in ("doc", "object") if type(value := attribute(evidence.exc, name)) in (str, bytes)]
    for value in (value for spot in spots for value in spot.parameters()):
        if type(value) in (str, bytes) and value and (value in refused or repr(value[:200])[:-1] in text):  # type: ignore[index]
            return True
        if type(value) in (int, float) and str(value) in text:
            return True
    return False


def _fetches(frame: FrameType) -> bool:
    """Whether the tool's own code there fetches something, or holds an answer."""
    if not _FETCHES.isdisjoint(frame.f_code.co_names):
        return True
    return any("Response" in type(value).__name__ for value in list(frame.f_locals.values())[:50])


def _innermost_tool(spots: list[Spot]) -> Spot | None:
    return next((spot for spot in reversed(spots) if not spot.library), None)


def _spots(exc: BaseException) -> list[Spot]:
    """The innermost frames of the traceback, outermost of them first."""
    kept: collections.deque[TracebackType] = collections.deque(maxlen=_INNERMOST)
    tb = attribute(exc, "__traceback__")
    for _ in range(_LONGEST):
        if tb is None:
            break
        kept.append(tb)
        tb = tb.tb_next
    return [Spot(tb.tb_frame, tb.tb_lasti, is_library(tb.tb_frame.f_code.co_filename)) for tb in kept]


_READERS: Final[tuple[tuple[type[Exception], Callable[[Evidence, list[Spot]], str | None]], ...]] = (
    (TypeError, _of_type_error),
    (KeyError, _of_key_error),
    (AttributeError, lambda evidence, spots: "body"),  # noqa: ARG005 - as the others
    (LookupError, _of_lookup),
    (ValueError, _of_value_error),
    (ArithmeticError, lambda evidence, spots: "check"),  # noqa: ARG005
    (RuntimeError, _of_runtime_error),
)
