"""What the command's exit codes mean, and the error that ends it with a sentence instead of a traceback."""

from __future__ import annotations

from enum import IntFlag


class ExitCode(IntFlag):
    """Codes add up: 5 says that findings were grave enough and that some input was left out."""

    DONE = 0
    """Everything was done."""
    FINDINGS = 1
    """There is a finding at or above ``--fail-on``, or a check of ``doctor`` failed."""
    USAGE = 2
    """An argument, a file or a policy cannot be used; the message names the place and the fix. Nothing was done."""
    QUARANTINED = 4
    """Part of the input could not be read and is left out of the answer; the rest is not."""


class Unusable(Exception):  # noqa: N818 - a sentence for the user, not an error of ours
    """What was asked for cannot be done; the text names the place and the fix."""
