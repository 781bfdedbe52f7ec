"""Exceptions that fight back: whatever they do, the answer is a fault, soon."""

import gc
import time
from unittest.mock import MagicMock

import psutil
import pytest
from hypothesis import HealthCheck, given, seed, settings, strategies as st

from otel_toolerrors.faults import Fault, classify, classify_result, is_control_flow

PARTS = 20
EXTREMES = 250
"""Of the 5,000 exceptions of a part."""
CATEGORIES = {
    "transient",
    "rate_limited",
    "validation",
    "not_found",
    "permission",
    "bug",
    "permanent",
    "cancelled",
    "unknown",
}
NAMES = [
    "status_code",
    "status",
    "code",
    "response",
    "headers",
    "body",
    "errno",
    "strerror",
    "reason",
    "error",
    "errors",
    "data",
    "details",
    "sqlstate",
    "last_attempt",
    "exceptions",
    "retry_after",
    "returncode",
    "smtp_code",
    "rcvd",
    "recipients",
    "phase",
    "args",
    "name",
    "stderr",
    "trailing_metadata",
    "__cause__",
    "__context__",
    "__suppress_context__",
    "__traceback__",
    "__dict__",
]


class Unruly:
    """An object whose every use raises."""

    def _raise(self, *_):
        raise RuntimeError("no")

    __str__ = __repr__ = __eq__ = __bool__ = __len__ = __iter__ = __getattr__ = __int__ = __contains__ = _raise
    __hash__ = None


class TrickyStr(str):
    """A text that cannot be lowered or cut."""

    __slots__ = ()

    def lower(self):
        raise RuntimeError("no")

    def __getitem__(self, _):
        raise RuntimeError("no")


class TrickyInt(int):
    """A number that cannot be compared."""

    def __eq__(self, _):
        raise RuntimeError("no")

    __hash__ = None


def raising(error):
    """A property that raises."""
    return property(lambda _: (_ for _ in ()).throw(error))


values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=40),
        st.binary(max_size=40),
        st.sampled_from(
            [
                "503",
                "rate_limit_exceeded",
                b"retry-after",
                "timeout",
                "-1",
                "1e999",
                "CERTIFICATE_VERIFY_FAILED",
                "40001",
            ]
        ),
        st.builds(Unruly),
        st.builds(TrickyStr, st.text(max_size=5)),
        st.builds(TrickyInt, st.integers()),
        st.just(MagicMock()),
        st.builds(lambda: lambda: 1 / 0),
        st.builds(ConnectionRefusedError, st.integers(), st.text(max_size=5)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=12), inner, max_size=4), st.tuples(inner, inner)
    ),
    max_leaves=6,
)


@st.composite
def hostile(draw, depth=3):
    """An exception with arbitrary attributes, some of which raise, and arbitrary insides."""
    raised = {
        name: raising(draw(st.sampled_from([RuntimeError("no"), SystemExit(1), GeneratorExit(), KeyError("no")])))
        for name in draw(st.lists(st.sampled_from(NAMES), max_size=3))
        if not name.startswith("__") or name == "__cause__"
    }
    if draw(st.booleans()):
        raised["__str__"] = Unruly._raise
    base = draw(
        st.sampled_from(
            [Exception, ValueError, OSError, KeyError, TypeError, RuntimeError, TimeoutError, ConnectionError]
        )
    )
    name = draw(
        st.sampled_from(["ApiError", "ReadTimeout", "X", "HTTP404Error", "Error", "SMTPError", "OperationalError"])
    )
    error = type(name, (base,), raised)(*draw(st.lists(values, max_size=3)))
    for attribute in draw(st.lists(st.sampled_from(NAMES), max_size=5)):
        try:
            setattr(error, attribute, draw(values))
        except Exception:  # noqa: BLE001, S112 - not every attribute can be set
            continue
    if depth and draw(st.booleans()):
        inner = draw(hostile(depth=depth - 1))
        where = draw(st.sampled_from(["__cause__", "__context__", "reason", "group"]))
        if where == "group":
            return ExceptionGroup("several", [error, inner])
        try:
            setattr(error, where, inner)
        except Exception:  # noqa: BLE001 - as above
            return inner
    return error


@st.composite
def extreme(draw):
    """A hostile exception at the bottom of a thousand others, or with a megabyte of text."""
    error, times = draw(hostile(depth=0)), draw(st.integers(500, 1_000))
    kind = draw(st.sampled_from(["chain", "groups", "text"]))
    if kind == "text":
        text = draw(st.text(min_size=1, max_size=40))
        return ConnectionError(text * (times * 1_000 // len(text)))
    for _ in range(times):
        inner, error = error, RuntimeError("outer") if kind == "chain" else ExceptionGroup("outer", [error])
        if kind == "chain":
            error.__cause__ = inner
    return error


def check(error):
    """A fault of the known categories, with bounded text; a passing one is never a cancellation."""
    fault = classify(error, effects="write")
    assert isinstance(fault, Fault)
    assert fault.category in CATEGORIES
    assert len(fault.message) <= 1_000
    assert fault.retry_after is None or 0 <= fault.retry_after < 366 * 86_400 + 1
    assert fault.http_status is None or 100 <= fault.http_status <= 599
    assert not (fault.retryable and fault.side_effects != "none")
    assert is_control_flow(error) is (fault.category == "cancelled") or fault.code == "cancelled"


@settings(max_examples=400)
@given(hostile())
def test_a_hostile_exception_gets_a_fault(error):
    """Raising properties, tricky types, mocks, cycles: none of them gets through."""
    check(error)


@pytest.mark.soak
def test_a_hundred_thousand_hostile_exceptions_get_faults():
    """None crashes, none takes a second, and memory does not grow with their number."""
    slowest = 0.0

    def timed(error):
        nonlocal slowest
        gc.disable()  # hypothesis keeps hundreds of megabytes: to look through them takes seconds, and is not ours
        try:
            before = time.process_time()
            check(error)
            slowest = max(slowest, time.process_time() - before)
        finally:
            gc.enable()

    resident = []
    for part in range(PARTS):  # what hypothesis remembers of a part goes with it
        for strategy, examples in ((hostile(), 100_000 // PARTS - EXTREMES), (extreme(), EXTREMES)):
            run = settings(
                max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck)
            )(given(strategy)(timed))
            seed(part)(run)()
        gc.collect()
        resident.append(psutil.Process().memory_info().rss / 2**20)
        said = f"part {part + 1}/{PARTS}: {resident[-1]:.0f} MiB resident, slowest {slowest * 1e3:.1f} ms"
        print(said, flush=True)  # noqa: T201 - it takes many minutes

    assert slowest < 1
    assert max(resident[PARTS // 2 :]) < 1.1 * max(resident[: PARTS // 2])


@settings(max_examples=30)
@given(extreme())
def test_an_extreme_exception_gets_a_fault(error):
    """Neither depth nor size gets through, whatever lies at the bottom."""
    check(error)


@settings(max_examples=300)
@given(values)
def test_any_value_is_an_error_or_is_none(value):
    """A returned value of any shape is read without harm."""
    found = classify_result(value)
    assert found is None or found.category in CATEGORIES


def chain(length):
    """Nested causes, and the innermost of them."""
    error = innermost = ConnectionResetError(104, "reset")
    for number in range(length):
        outer = RuntimeError(f"level {number}")
        outer.__cause__ = error
        error = outer
    return error, innermost


def test_a_thousand_causes_and_a_cycle_are_walked_within_bounds():
    """Neither the depth nor a cycle matters."""
    error, innermost = chain(1_000)
    innermost.__context__ = error

    before = time.process_time()
    fault = classify(error)

    assert fault.category in CATEGORIES
    assert time.process_time() - before < 5


def test_a_thousand_nested_groups_and_a_wide_one():
    """Groups are bounded like chains."""
    error = TimeoutError("x")
    for _ in range(1_000):
        error = ExceptionGroup("g", [error])

    assert classify(error).category in CATEGORIES
    assert "transient" == classify(ExceptionGroup("wide", [TimeoutError("x")] * 10_000)).category


def test_a_mock_that_has_every_attribute_says_nothing():
    """A mock's answers are mocks, which are no status, no code and no cause."""

    class MockedError(Exception):
        def __getattr__(self, _):
            return MagicMock()

    fault = classify(MockedError("x"))

    assert ("unknown", None, None) == (fault.category, fault.http_status, fault.retry_after)


def test_an_interrupt_of_the_users_is_not_swallowed():
    """Ctrl-C that arrives while an exception is read belongs to the user."""
    error = type("X", (Exception,), {"status_code": raising(KeyboardInterrupt())})()

    with pytest.raises(KeyboardInterrupt):
        classify(error)


def test_a_recursive_exception_is_read():
    """An exception out of a thousand frames is read from its innermost ones."""

    def deeper(n):
        return deeper(n + 1)

    with pytest.raises(RecursionError) as raised:
        deeper(0)

    assert "bug" == classify(raised.value).category


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "token=" * 170_000,
        "aB3" * 340_000,
        "eyJ" * 330_000,
        "http://" * 150_000,
        "'" * 1_000_000,
        "/a" * 500_000,
        "-----BEGIN PRIVATE KEY-----" * 40_000,
        "password is " * 80_000,
        "Traceback " * 100_000,
        "1 " * 500_000,
        "timed out " * 100_000,
    ],
)
def test_a_megabyte_of_text_costs_little(text):
    """The time does not grow with the text: only a window of it is looked at."""
    classify(Exception("warm up"))
    before = time.process_time()

    classify(Exception(text))

    assert time.process_time() - before < 2
