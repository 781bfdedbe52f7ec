"""Our own Parquet on object storage, read and written through DuckDB's extension httpfs.

The user's secrets for the storage are DuckDB's own (``CREATE PERSISTENT SECRET``).
"""

from __future__ import annotations

import re

import duckdb

from otel_toolerrors.analysis.schema import literal
from otel_toolerrors.analysis.sources import TraceSourceError

_ADDRESS = re.compile(r"[a-z][a-z0-9+]+://")
_OF_THIS_MACHINE = "file://"


def is_address(path: object) -> bool:
    """Whether it is a URL, such as ``s3://bucket/traces``, and no path."""
    return isinstance(path, str) and _ADDRESS.match(path) is not None


def load_httpfs(connection: duckdb.DuckDBPyConnection, address: str) -> None:
    """Load the extension, which is not part of DuckDB's package; nothing is fetched for it.

    Raises:
        TraceSourceError: it is not installed.
    """
    if address.startswith(_OF_THIS_MACHINE):
        return
    try:
        connection.execute("LOAD httpfs")
    except duckdb.Error as error:
        message = (
            f"{address}: needs DuckDB's extension httpfs, which is not installed for DuckDB {duckdb.__version__}. "
            "Where there is network, run `INSTALL httpfs` in DuckDB once; or copy the folder to this machine. "
            f"({error})"
        )
        raise TraceSourceError(message) from error


def list_parquet(connection: duckdb.DuckDBPyConnection, address: str) -> list[str]:
    """List the Parquet files at an address: one, a glob, or all under a prefix.

    Raises:
        TraceSourceError: there are none.
    """
    one = address.endswith(".parquet")
    pattern = address if one else f"{address.rstrip('/')}/**/*.parquet"
    found = connection.execute(f"SELECT file FROM glob({literal(pattern)}) ORDER BY file").fetchall()
    if not found:
        message = f"{address}: holds no Parquet files. Write some with Traces.export(), or check bucket and prefix."
        raise TraceSourceError(message)
    return [row[0] for row in found]
