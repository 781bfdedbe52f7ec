"""The subcommands, and what happens to an error on the way out."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from .analyze import analyze
from .apply import apply
from .classify import classify
from .codes import ExitCode, Unusable
from .demo import demo
from .doctor import doctor
from .policy import explain, rules
from .pull import pull
from .replay import replay
from .report import report
from .screen import Screen, forgiving, hang_up
from .show import show
from .tune import tune

_HELP = """Recover from tool errors, and learn from the traces of it.

Exit codes: 0 done; 1 findings at or above --fail-on, or a check of doctor that failed; 2 nothing done, the message
says why; 4 some input could not be read and was left out. They add up.
"""


def _say_version(wanted: bool) -> None:  # noqa: FBT001 - as Typer calls it
    if wanted:
        typer.echo(f"toolerrors {version('otel-toolerrors')}")
        raise typer.Exit


def _main(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Take what is said before a command."""


# Plain help: it looks the same on a terminal and in a pipe.
app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)
app.callback(help=_HELP)(_main)
app.command()(demo)
app.command()(analyze)
app.command()(show)
app.command()(report)
app.command()(apply)
app.command()(replay)
app.command()(tune)
app.command()(pull)
app.command()(classify)
app.command()(doctor)

policy = typer.Typer(
    help="Look into the policy and the classification rules.", no_args_is_help=True, rich_markup_mode=None
)
policy.command()(explain)
policy.command()(rules)
app.add_typer(policy, name="policy")


def run(arguments: list[str] | None = None) -> int:
    """Run the command line, and give the exit code."""
    forgiving(sys.stdout, sys.stderr)
    try:
        return app(arguments, standalone_mode=True) or ExitCode.DONE
    except Unusable as error:
        Screen(sys.stderr).block(f"toolerrors: {error}")
        return ExitCode.USAGE
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else ExitCode.USAGE if end.code else ExitCode.DONE
    except BrokenPipeError:  # the reader has seen enough
        hang_up()
        return ExitCode.DONE
