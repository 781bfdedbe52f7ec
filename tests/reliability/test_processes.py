"""Processes that fork, are spawned, end in mid-call, are killed or run out of files."""

import os
import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from otel_toolerrors import analysis

ROOT = Path(__file__).parents[2]
LAYER = """
import os, sys, threading, time
import otel_toolerrors as te

def make():
    layer = te.RecoveryLayer(te.parse_policy("[retry]\\nbase_delay = 0.0\\n[run]\\nstop_on = []"))
    turns = iter(range(10**9))
    @layer.tool(effects="read", service="api")
    def flaky(n):
        if next(turns) % 3 == 0:
            raise ConnectionResetError("reset")
        return n
    return layer

def work(layer, calls, agent="worker"):
    with layer.run(agent=agent) as run:
        return sum(run.call("flaky", {"n": n}).value == n for n in range(calls))
"""


def _start(code, folder, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", LAYER + textwrap.dedent(code)], cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip


def _run(code, folder, **environment):
    """Run a program to its end; give its exit code and what it printed."""
    process = _start(code, folder, **environment)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def _calls(folder):
    """Calls in the traces, and lines in quarantine."""
    with analysis.open(folder) as traces:
        (calls,) = traces.sql("SELECT count(*) FROM calls").fetchall()[0]
        (bad,) = traces.sql("SELECT count(*) FROM quarantine").fetchall()[0]
    return calls, bad


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork, which this system lacks")


@needs_fork
def test_workers_forked_from_a_warm_master_work_on(tmp_path):
    """Like gunicorn with preload: layer, telemetry and an open run made before the fork, in master and workers."""
    code = """
        te.configure("forked", traces_dir="traces")
        layer = make()
        work(layer, 50, "master")
        opened = layer.run(agent="open"); opened.call("flaky", {"n": 1})
        workers = []
        for number in range(4):
            pid = os.fork()
            if pid == 0:
                good = work(layer, 100, f"worker{number}") == 100 and opened.call("flaky", {"n": 2}).ok
                sys.exit(0 if good else 3)
            workers.append(pid)
        codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in workers]
        assert work(layer, 50, "master") == 50
        print(codes)
    """
    status, out, err = _run(code, tmp_path, PYTHONWARNINGS="ignore")
    assert (0, "[0, 0, 0, 0]\n") == (status, out), err
    assert (4 * 101 + 101, 0) == _calls(tmp_path / "traces")


@needs_fork
def test_forks_while_threads_call_do_not_lock_the_child(tmp_path):
    """Children forked at any moment of other threads' calls make calls of their own, and end."""
    code = """
        import faulthandler
        te.configure("forked", traces_dir="traces")
        layer = make()
        work(layer, 5)  # a fork while another thread first imports a module would hang on Python's own lock
        stop = threading.Event()
        def hammer():
            while not stop.is_set(): work(layer, 20)
        threads = [threading.Thread(target=hammer) for _ in range(3)]
        for thread in threads: thread.start()
        codes = []
        for _ in range(25):
            pid = os.fork()
            if pid == 0:
                faulthandler.dump_traceback_later(20, exit=True)  # a child that is stuck shows where
                os._exit(0 if work(make(), 5) == 5 and work(layer, 5) == 5 else 3)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        stop.set()
        for thread in threads: thread.join()
        print(set(codes))
    """
    status, out, err = _run(code, tmp_path, PYTHONWARNINGS="ignore")
    assert (0, "{0}\n") == (status, out), err


SHARED = {
    "open runs": """
        from otel_toolerrors.integrations._open_runs import OpenRuns
        shared = OpenRuns()
        use = lambda: shared.end("x")
    """,
    "what observers saw": """
        from otel_toolerrors.integrations.observe._observation import Observation, Result
        shared = Observation(make().tracing)
        use = lambda: shared.results([Result("x", "search")])
    """,
}


@needs_fork
@pytest.mark.parametrize("made", SHARED)
def test_a_lock_that_another_thread_held_is_open_in_the_child(tmp_path, made):
    """What frameworks' hooks share can be used in a child that was forked while somebody was using it."""
    code = f"""
        import signal
        {SHARED[made].strip()}
        with shared._lock:
            pid = os.fork()
            if pid == 0:
                signal.alarm(20)  # a child that is stuck dies of it
                use()
                os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """
    status, out, err = _run(code, tmp_path, PYTHONWARNINGS="ignore")
    assert (0, "0\n") == (status, out), err


def test_spawned_workers_write_files_of_their_own(tmp_path):
    """Workers of a spawning pool set telemetry up themselves, beside the parent's."""
    (tmp_path / "worker.py").write_text(
        LAYER + "def job(number):\n    te.configure('spawned', traces_dir='traces')\n    return work(make(), 40)\n"
    )
    code = """
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context
        from worker import job
        te.configure("spawned", traces_dir="traces")
        work(make(), 10, "parent")
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            print(sum(pool.map(job, range(4))))
    """
    status, out, err = _run(code, tmp_path, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert (0, "160\n") == (status, out), err
    assert (170, 0) == _calls(tmp_path / "traces")


ENDS = {
    "a thread of its own is in a call": ("threading.Thread(target=hang, daemon=True).start(); inside.wait()", 0),
    "an exit in mid-call": (
        "inside.set(); layer.tool(name='end', effects='read')(lambda: sys.exit(5)); run.call('end')",
        5,
    ),
    "an exception outside": ("inside.set(); raise KeyError('x')", 1),
    "an exit handler that calls": (
        "import atexit; atexit.register(lambda: run.call('flaky', {'n': 1})); inside.set()",
        0,
    ),
}


@pytest.mark.parametrize("how", ENDS)
def test_an_interpreter_that_ends_in_mid_call_keeps_what_had_ended(tmp_path, how):
    """The exit code is the program's own, nothing hangs, and every call that had ended is in the traces."""
    end, expected = ENDS[how]
    code = f"""
        te.configure("ending", traces_dir="traces")
        layer = make()
        inside = threading.Event()
        @layer.tool(effects="read")
        def wait():
            inside.set()
            time.sleep(60)
        def hang():
            run.call("wait")
        run = layer.run(agent="ending")
        for n in range(20): run.call("flaky", {{"n": n}})
        {end}
    """
    status, _, err = _run(code, tmp_path)
    assert expected == status
    assert ("Traceback" in err) == (how == "an exception outside"), err
    calls, bad = _calls(tmp_path / "traces")
    assert calls >= 20
    assert 0 == bad


CALL = b'"execute_tool flaky"'


def _wait(process, condition):
    """Poll until it holds; the process has to stay alive meanwhile."""
    while not condition():
        assert process.poll() is None


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL, which this system lacks")
def test_killed_at_any_moment_its_traces_read(tmp_path):
    """After `kill -9` in the middle of writing, analysis reads every whole line, and at most one torn one is left."""
    rng = random.Random(3)
    for number in range(4):
        folder = tmp_path / f"traces{number}"
        code = f"""
            te.configure("killed", traces_dir={str(folder)!r})
            layer = make()
            print("ready", flush=True)
            while True: work(layer, 50)
        """
        process = _start(code, tmp_path)
        assert "ready\n" == process.stdout.readline()
        _wait(process, lambda folder=folder: any(folder.glob("*.jsonl")))
        (file,) = folder.glob("*.jsonl")
        # A batch may show before its end is written, and the first may hold an attempt alone.
        _wait(process, lambda file=file: CALL in file.read_bytes().rpartition(b"\n")[0])
        wanted = file.stat().st_size + rng.randrange(1, 400_000)
        _wait(process, lambda file=file, wanted=wanted: file.stat().st_size >= wanted)
        process.kill()
        process.communicate(timeout=30)
        *whole, torn = file.read_bytes().split(b"\n")
        calls, bad = _calls(folder)
        assert sum(line.count(CALL) for line in whole) == calls > 0
        assert bool(torn) == bad


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits, which this system lacks")
@pytest.mark.parametrize(
    ("limit", "kind"),
    [("RLIMIT_FSIZE, (20_000, 20_000)", "a file may not grow"), ("RLIMIT_NOFILE, (3, 3)", "no file opens")],
)
def test_a_process_out_of_files_or_room_goes_on(tmp_path, limit, kind):
    """Where the system refuses to write, calls are answered, whole lines stay, and each lost span is counted."""
    code = f"""
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        handle = te.configure("limited", traces_dir="traces")
        layer = make()
        work(layer, 1)
        handle.flush()
        resource.setrlimit(resource.{limit})
        print(work(layer, 300))
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)) if "FSIZE" in {limit!r} else None
        handle.shutdown()
        print(sum(handle.dropped.values()))
    """
    status, out, err = _run(code, tmp_path)
    assert 0 == status, (kind, err)
    good, lost = map(int, out.split())
    with analysis.open(tmp_path / "traces") as traces:
        (spans,) = traces.sql("SELECT count(*) FROM spans").fetchall()[0]
        (calls,) = traces.sql("SELECT count(*) FROM calls").fetchall()[0]
    assert 300 == good
    assert calls <= 301
    assert spans > 0
    assert lost > 0 or calls == 301


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_every_event_loop_will_do(tmp_path, loop):
    """Async calls, timeouts, hedges and cancellation behave on the standard loop and on uvloop."""
    if loop == "uvloop":
        pytest.importorskip("uvloop", reason="needs uvloop: pip install uvloop")
    code = f"""
        import asyncio
        import {loop} as loops
        te.configure("loops", traces_dir="traces")
        layer = te.RecoveryLayer(te.parse_policy('''
            [retry]
            base_delay = 0.0
            [budget]
            capacity = 100000
            [breaker]
            control = "disabled"
            [run]
            stop_on = []
            tool_failures = 1000
            corrections = 1000
            corrections_in_a_row = 1000
            [tools.slow.retry]
            attempt_timeout = 0.01
            max_attempts = 2
        '''))
        tried = set()
        @layer.tool(effects="read")
        async def flaky(n):
            await asyncio.sleep(0)
            if n % 3 == 0 and n not in tried:
                tried.add(n)
                raise ConnectionResetError
            return n
        @layer.tool(effects="read")
        async def slow(): await asyncio.sleep(60)
        @layer.tool(effects="read")
        def blocking(n): return n
        async def main():
            async with layer.run(agent="loops") as run:
                good = await asyncio.gather(*(run.acall("flaky", {{"n": n}}) for n in range(500)))
                late = await run.acall("slow")
                task = asyncio.create_task(run.acall("blocking", {{"n": 1}}))
                left = asyncio.create_task(run.acall("slow", call_id="c"))
                await task
                left.cancel()
                await asyncio.gather(left, return_exceptions=True)
                return sum(one.ok for one in good), late.kind, task.result().value, left.cancelled()
        print(loops.run(main()))
    """
    status, out, err = _run(code, tmp_path)
    assert (0, "(500, 'surfaced', 1, True)\n") == (status, out), err
    assert (503, 0) == _calls(tmp_path / "traces")
