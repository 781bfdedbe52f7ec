import asyncio
import traceback

import pytest

from otel_toolerrors import Policy, RecoveryExhausted
from otel_toolerrors.policy import BreakerPolicy
from otel_toolerrors.testing import Bench, Script, steady
from otel_toolerrors.vocabulary import FaultClassified, RetryScheduled


def test_flake_is_repeated_and_the_value_comes_back():
    """A protected read survives resets, with its arguments as they were given."""
    bench = Bench()
    play = Script(ConnectionResetError(), ConnectionResetError(), "price")

    @bench.layer.protect(effects="read")
    def quote(symbol, /, *, currency="EUR"):
        """Quote a price."""
        return play(symbol=symbol, currency=currency)

    assert "price" == quote("ABC", currency="USD")
    assert [{"symbol": "ABC", "currency": "USD"}] * 3 == play.calls
    assert [0.5, 1.0] == bench.clock.slept
    assert ("quote", "Quote a price.") == (quote.__name__, quote.__doc__)


def test_async_function_is_awaited():
    """An async function stays one, and is repeated alike."""
    bench = Bench()
    play = Script(ConnectionResetError(), 7)

    @bench.layer.protect(effects="read")
    async def count():
        return play()

    assert 7 == asyncio.run(count())


def test_the_last_exception_itself_is_raised_with_a_note():
    """Handlers for the function's own exceptions go on working; a note tells what was tried."""
    bench = Bench()
    errors = [ConnectionResetError(str(number)) for number in range(3)]

    @bench.layer.protect(effects="read")
    def fetch():
        raise errors[len(bench.of(FaultClassified))]

    with pytest.raises(ConnectionResetError) as caught:
        fetch()

    assert errors[2] is caught.value
    assert ["fetch: 3 attempt(s), transient, connection.reset"] == caught.value.__notes__
    assert caught.value.__notes__[0] in "".join(traceback.format_exception(caught.value))


def test_unsafe_function_is_called_once():
    """Without a declaration a function is a write: an unknown effect is not repeated."""
    bench = Bench()
    play = Script(TimeoutError())

    @bench.layer.protect
    def pay():
        return play()

    with pytest.raises(TimeoutError):
        pay()

    assert 1 == len(play.calls)


def test_idempotency_key_is_supplied_and_stays_the_same():
    """A function that takes a key gets one, so that even a write may be repeated."""
    bench = Bench()
    keys = []

    @bench.layer.protect
    def pay(amount, idempotency_key=None):
        keys.append(idempotency_key)
        if len(keys) == 1:
            raise TimeoutError
        return amount

    assert 5 == pay(5)
    assert keys[0] == keys[1] is not None
    assert 6 == pay(6, idempotency_key="mine")
    assert "mine" == keys[2]


def test_open_breaker_raises_recovery_exhausted():
    """When the service rests, the function is not called, and there is nothing of its own to raise."""
    bench = Bench(steady(Policy(breaker=BreakerPolicy(mode="consecutive", consecutive_failures=3))))
    play = Script(ConnectionResetError())
    fetch = bench.layer.protect(effects="read", name="fetch", service="api")(play)

    with pytest.raises(ConnectionResetError):
        fetch()
    with pytest.raises(RecoveryExhausted, match="api is not answering"):
        fetch()

    assert 3 == len(play.calls)


def test_fallback_stands_in():
    """A registered tool takes over, with the same arguments by name."""
    bench = Bench()
    mirror = bench.tool("mirror", "from the mirror", effects="read")
    broken = Script(ConnectionResetError())

    @bench.layer.protect(effects="read", fallback=("mirror",))
    def fetch(path):
        return broken(path=path)

    assert "from the mirror" == fetch("a.txt")
    assert [{"path": "a.txt"}] == mirror.calls


def test_error_value_comes_back_as_it_is():
    """A function that returns its errors still does, after the retries."""
    bench = Bench()
    play = Script({"error": {"code": 503, "message": "unavailable"}})

    @bench.layer.protect(effects="read", in_band=True)
    def ask():
        return play()

    assert {"error": {"code": 503, "message": "unavailable"}} == ask()
    assert 3 == len(play.calls)


def test_generator_is_repeated_until_it_has_yielded_and_not_after():
    """What has been handed over cannot be taken back."""
    bench = Bench()
    begun = []

    @bench.layer.protect(effects="read")
    def lines():
        begun.append(1)
        if len(begun) == 1:
            raise ConnectionResetError
        yield "one"
        raise ConnectionResetError("after the first line")

    stream = lines()
    assert "one" == next(stream)
    with pytest.raises(ConnectionResetError, match="after the first line"):
        next(stream)
    assert 2 == len(begun)


def test_async_generator_likewise():
    """An async generator behaves as a sync one does."""
    bench = Bench()
    begun = []

    @bench.layer.protect(effects="read")
    async def lines():
        begun.append(1)
        if len(begun) == 1:
            raise ConnectionResetError
        yield "one"
        yield "two"

    async def gather():
        return [line async for line in lines()]

    assert ["one", "two"] == asyncio.run(gather())
    assert 2 == len(begun)


def test_retries_do_not_multiply_inside_a_tool_that_is_repeated():
    """A protected helper of a repeatable tool makes one attempt: the tool as a whole is repeated."""
    bench = Bench()
    play = Script(ConnectionResetError())
    helper = bench.layer.protect(effects="read", name="helper")(play)
    bench.layer.tool(name="search", effects="read")(helper)

    with bench.layer.run() as run:
        run.call("search")

    assert 3 == len(play.calls)
    assert 2 == len(bench.of(RetryScheduled))


def test_a_read_inside_a_write_is_repeated():
    """A write is not repeated as a whole, so its reading part may be."""
    bench = Bench()
    play = Script(ConnectionResetError(), "ok")
    helper = bench.layer.protect(effects="read", name="helper")(play)
    bench.layer.tool(name="book")(helper)

    with bench.layer.run() as run:
        assert run.call("book").ok


def test_cancellation_passes_untouched():
    """Control flow is not recovered."""
    bench = Bench()

    @bench.layer.protect(effects="read")
    async def wait():
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(wait())
    assert [] == bench.of(FaultClassified)


def test_streaming_tool_is_collected():
    """A tool that yields gives the model one whole result; a stream that breaks off is repeated from its start."""
    bench = Bench()
    begun = []

    @bench.layer.tool(effects="read")
    def report():
        begun.append(1)
        yield "first "
        if len(begun) == 1:
            raise ConnectionResetError
        yield "second"

    @bench.layer.tool(effects="read")
    async def rows():
        yield 1
        yield 2

    with bench.layer.run() as run:
        assert "first second" == run.call("report").value
        assert [1, 2] == asyncio.run(run.acall("rows")).value
    assert 2 == len(begun)
