import asyncio
import time

from otel_toolerrors.demo.virtual_time import Timeline, Wire, run


def test_waits_cost_no_real_time():
    """A day of sleeping passes at once, and the clock shows it."""

    async def work(timeline: Timeline, _wire: Wire) -> float:
        await asyncio.sleep(86_400)
        return timeline.now

    began = time.perf_counter()
    assert run(work, epoch_ns=0) == 86_400.0
    assert time.perf_counter() - began < 60


def test_sleepers_wake_in_order():
    """Of concurrent sleepers, the one whose time has come first goes first."""

    async def work(timeline: Timeline, _wire: Wire) -> list[tuple[str, float]]:
        woken = []

        async def sleeper(name: str, seconds: float) -> None:
            for _ in range(2):
                await asyncio.sleep(seconds)
                woken.append((name, timeline.now))

        await asyncio.gather(sleeper("slow", 10), sleeper("fast", 4))
        return woken

    assert [("fast", 4.0), ("fast", 8.0), ("slow", 10.0), ("slow", 20.0)] == run(work, epoch_ns=0)


def test_timeouts_are_simulated():
    """A timeout strikes at its simulated moment."""

    async def work(timeline: Timeline, _wire: Wire) -> float:
        try:
            async with asyncio.timeout(30):
                await asyncio.sleep(1_000)
        except TimeoutError:
            return timeline.now
        return -1.0

    assert run(work, epoch_ns=0) == 30.0


def test_the_clock_stands_while_bytes_travel():
    """While a request is on the wire, a timer that is due later does not fire first."""

    async def work(timeline: Timeline, wire: Wire) -> list[str]:
        seen: list[str] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            seen.append((await reader.readline()).decode().strip())
            wire.arrive("1")
            writer.close()

        async def timer() -> None:
            await asyncio.sleep(0.001)
            seen.append(f"timer at {timeline.now}")

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        waiting = asyncio.create_task(timer())
        wire.depart("1")
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"hello\n")
        await waiting
        wire.land("1")
        writer.close()
        server.close()
        return seen

    assert ["hello", "timer at 0.001"] == run(work, epoch_ns=0)


def test_real_moments_map_to_simulated_ones():
    """A real time stamp taken before a jump belongs to the simulated moment before it."""
    timeline = Timeline(1_000)
    before = time.time_ns()
    timeline.jump(2.0)
    assert timeline.at_ns(before - 1) == 1_000
    assert timeline.at_ns(time.time_ns()) == 2_000_001_000
    assert timeline.now_ns() == 2_000_001_000
