"""Database drivers and object mappers. ``constructed`` where the server cannot run here."""

from __future__ import annotations

from _loopback import HOST, closed_port, listening, silent
from registry import EITHER, scenario


def built(name, lib, make, category, retry, state, reason, *, raises, **labels):
    """A scenario around an exception that is built as the driver builds it."""

    @scenario(
        f"{lib}.{name}",
        lib=lib,
        category=category,
        retryable_read=retry,
        side_effect_state=state,
        raises=raises,
        constructed=True,
        reason=reason,
        **labels,
    )
    def run():
        raise make()


# -------------------------------------------------------------------- pymongo


def mongo(port):
    from pymongo import MongoClient

    return MongoClient(HOST, port, serverSelectionTimeoutMS=200, socketTimeoutMS=200, connectTimeoutMS=200)


@scenario(
    "pymongo.selection",
    lib="pymongo",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="ServerSelectionTimeoutError",
    reason="No server could be selected: nothing was sent.",
)
def mongo_selection():
    mongo(closed_port()).db.c.insert_one({"a": 1})


@scenario(
    "pymongo.closed",
    lib="pymongo",
    category="bug",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="InvalidOperation",
    reason="The client is used after it was closed.",
)
def mongo_closed():
    client = mongo(closed_port())
    client.close()
    client.db.c.insert_one({"a": 1})


@scenario(
    "pymongo.bad_document",
    lib="pymongo",
    category="validation|bug",
    retryable_read=False,
    side_effect_state="none",
    raises="InvalidDocument",
    reason="An object that BSON cannot hold: refused by the client.",
)
def mongo_bad_document():
    import bson

    bson.encode({"a": object()})


@scenario(
    "pymongo.bad_id",
    lib="pymongo",
    category="validation",
    retryable_read=False,
    side_effect_state="none",
    raises="InvalidId",
    reason="No ObjectId.",
)
def mongo_bad_id():
    from bson import ObjectId

    ObjectId("xyz")


def mongo_failure(code, name, message, labels=()):
    def make():
        from pymongo.errors import OperationFailure

        return OperationFailure(
            message, code, {"ok": 0.0, "errmsg": message, "code": code, "codeName": name, "errorLabels": list(labels)}
        )

    return make


def duplicate():
    from pymongo.errors import DuplicateKeyError

    return DuplicateKeyError(
        "E11000 duplicate key error collection: db.c index: _id_ dup key: { _id: 1 }",
        11000,
        {"code": 11000, "index": 0},
    )


def mongo_error(kind, *args):
    def make():
        import pymongo.errors

        return getattr(pymongo.errors, kind)(*args)

    return make


built("duplicate", "pymongo", duplicate, "validation", False, "none", "The key exists.", raises="DuplicateKeyError")
built(
    "unauthorized",
    "pymongo",
    mongo_failure(13, "Unauthorized", 'not authorized on db to execute command { insert: "c" }'),
    "permission",
    False,
    "none",
    "Code 13.",
    raises="OperationFailure",
)
built(
    "auth_failed",
    "pymongo",
    mongo_failure(18, "AuthenticationFailed", "Authentication failed."),
    "permission",
    False,
    "none",
    "Code 18.",
    raises="OperationFailure",
)
built(
    "no_namespace",
    "pymongo",
    mongo_failure(26, "NamespaceNotFound", "ns does not exist"),
    "not_found",
    False,
    "none",
    "Code 26.",
    raises="OperationFailure",
)
built(
    "write_conflict",
    "pymongo",
    mongo_failure(
        112,
        "WriteConflict",
        "WriteConflict error: this operation conflicted with another operation. Please retry your operation or multi-document transaction.",
        ["TransientTransactionError"],
    ),
    "transient",
    True,
    "none|unknown",
    "The transaction was aborted and may be run again.",
    raises="OperationFailure",
)
built(
    "bad_operator",
    "pymongo",
    mongo_failure(2, "BadValue", "unknown operator: $foo"),
    "validation",
    False,
    "none",
    "Code 2.",
    raises="OperationFailure",
)
built(
    "network_timeout",
    "pymongo",
    mongo_error("NetworkTimeout", "127.0.0.1:27017: timed out"),
    "transient",
    True,
    "unknown",
    "Sent and not answered.",
    raises="NetworkTimeout",
)
built(
    "auto_reconnect",
    "pymongo",
    mongo_error("AutoReconnect", "127.0.0.1:27017: connection closed"),
    "transient",
    True,
    "unknown",
    "The connection was lost: the docs say the operation may have succeeded.",
    raises="AutoReconnect",
)
built(
    "max_time",
    "pymongo",
    mongo_error("ExecutionTimeout", "operation exceeded time limit", 50, {"code": 50, "codeName": "MaxTimeMSExpired"}),
    "transient",
    True,
    "unknown|none",
    "maxTimeMS expired on the server.",
    raises="ExecutionTimeout",
)
built(
    "wtimeout",
    "pymongo",
    mongo_error("WTimeoutError", "waiting for replication timed out", 64, {"code": 64}),
    "transient|unknown",
    EITHER,
    "unknown|committed",
    "The write was made on the primary, its replication was not confirmed in time.",
    raises="WTimeoutError",
)

# ---------------------------------------------------------------------- MySQL


def my(kind, number, text):
    def make():
        import pymysql.err

        return getattr(pymysql.err, kind)(number, text)

    return make


@scenario(
    "pymysql.refused",
    lib="pymysql",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="OperationalError",
    reason="2003 with [Errno 111]: refused.",
)
def pymysql_refused():
    import pymysql

    pymysql.connect(host=HOST, port=closed_port(), user="u")


built(
    "duplicate",
    "pymysql",
    my("IntegrityError", 1062, "Duplicate entry '1' for key 'PRIMARY'"),
    "validation",
    False,
    "none",
    "ER_DUP_ENTRY.",
    raises="IntegrityError",
)
built(
    "access",
    "pymysql",
    my("OperationalError", 1045, "Access denied for user 'u'@'localhost' (using password: YES)"),
    "permission",
    False,
    "none",
    "ER_ACCESS_DENIED.",
    raises="OperationalError",
)
built(
    "deadlock",
    "pymysql",
    my("OperationalError", 1213, "Deadlock found when trying to get lock; try restarting transaction"),
    "transient",
    True,
    "none",
    "ER_LOCK_DEADLOCK: rolled back.",
    raises="OperationalError",
)
built(
    "lost",
    "pymysql",
    my("OperationalError", 2013, "Lost connection to MySQL server during query"),
    "transient",
    True,
    "unknown",
    "CR_SERVER_LOST: the statement had been sent.",
    raises="OperationalError",
)
built(
    "no_table",
    "pymysql",
    my("ProgrammingError", 1146, "Table 'db.t' doesn't exist"),
    "not_found",
    False,
    "none",
    "ER_NO_SUCH_TABLE.",
    raises="ProgrammingError",
)
built(
    "too_many",
    "pymysql",
    my("OperationalError", 1040, "Too many connections"),
    "transient|rate_limited",
    True,
    "none",
    "ER_CON_COUNT_ERROR: no session was made.",
    raises="OperationalError",
)
built(
    "syntax",
    "pymysql",
    my("ProgrammingError", 1064, "You have an error in your SQL syntax; check the manual"),
    "validation",
    False,
    "none",
    "ER_PARSE_ERROR.",
    raises="ProgrammingError",
)


@scenario(
    "mysqlconnector.refused",
    lib="mysql-connector",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="DatabaseError|InterfaceError|OperationalError",
    reason="2003: refused.",
)
def mysqlconnector_refused():
    import mysql.connector

    mysql.connector.connect(host=HOST, port=closed_port(), user="u", use_pure=True, connection_timeout=1)


def odbc(kind, state, text):
    def make():
        import pyodbc

        return getattr(pyodbc, kind)(state, f"[{state}] {text}")

    return make


# ----------------------------------------------------------------------- ODBC

built(
    "link",
    "pyodbc",
    odbc(
        "OperationalError",
        "08S01",
        "[Microsoft][ODBC Driver 18 for SQL Server]Communication link failure (0) (SQLExecDirectW)",
    ),
    "transient",
    True,
    "unknown",
    "The link broke during the statement.",
    raises="OperationalError",
)
built(
    "deadlock",
    "pyodbc",
    odbc(
        "Error",
        "40001",
        "[Microsoft][ODBC Driver 18 for SQL Server][SQL Server]Transaction (Process ID 52) was deadlocked (1205)",
    ),
    "transient",
    True,
    "none",
    "Chosen as the deadlock victim: rolled back.",
    raises="Error",
)
built(
    "login",
    "pyodbc",
    odbc(
        "InterfaceError",
        "28000",
        "[Microsoft][ODBC Driver 18 for SQL Server][SQL Server]Login failed for user 'u'. (18456)",
    ),
    "permission",
    False,
    "none",
    "Login failed.",
    raises="InterfaceError",
)
built(
    "no_table",
    "pyodbc",
    odbc("ProgrammingError", "42S02", "[SQL Server]Invalid object name 't'. (208)"),
    "not_found",
    False,
    "none",
    "No such table.",
    raises="ProgrammingError",
)
built(
    "no_driver",
    "pyodbc",
    odbc(
        "InterfaceError",
        "IM002",
        "[unixODBC][Driver Manager]Data source name not found and no default driver specified (0)",
    ),
    "bug|validation|not_found",
    False,
    "none",
    "The driver is not installed.",
    raises="InterfaceError",
)
built(
    "timeout",
    "pyodbc",
    odbc("OperationalError", "HYT00", "[Microsoft][ODBC Driver 18 for SQL Server]Login timeout expired (0)"),
    "transient",
    True,
    "none|unknown",
    "The login took too long.",
    raises="OperationalError",
)

# --------------------------------------------------- asyncpg, against the wire


@scenario(
    "asyncpg.refused",
    lib="asyncpg",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="ConnectionRefusedError|OSError",
    reason="Refused.",
)
async def asyncpg_refused():
    import asyncpg

    await asyncpg.connect(host=HOST, port=closed_port(), user="u", database="d", ssl=False)


@scenario(
    "asyncpg.silent",
    lib="asyncpg",
    category="transient",
    retryable_read=True,
    side_effect_state="none|unknown",
    raises="TimeoutError",
    reason="The server never answers the startup message: no statement was sent.",
)
async def asyncpg_silent():
    import asyncpg

    with silent() as url:
        await asyncpg.connect(
            host=HOST, port=int(url.rpartition(":")[2]), user="u", database="d", timeout=0.3, ssl=False
        )


def pg(kind, text):
    def make():
        import asyncpg.exceptions

        return getattr(asyncpg.exceptions, kind)(text)

    return make


built(
    "unique",
    "asyncpg",
    pg("UniqueViolationError", 'duplicate key value violates unique constraint "t_pkey"'),
    "validation",
    False,
    "none",
    "23505.",
    raises="UniqueViolationError",
)
built(
    "serialization",
    "asyncpg",
    pg("SerializationError", "could not serialize access due to concurrent update"),
    "transient",
    True,
    "none",
    "40001.",
    raises="SerializationError",
)
built(
    "lock",
    "asyncpg",
    pg("LockNotAvailableError", "could not obtain lock on row in relation"),
    "transient",
    True,
    "none",
    "55P03.",
    raises="LockNotAvailableError",
)
built(
    "gone",
    "asyncpg",
    pg("ConnectionDoesNotExistError", "connection was closed in the middle of operation"),
    "transient",
    True,
    "unknown",
    "08003, in the middle of an operation.",
    raises="ConnectionDoesNotExistError",
)
built(
    "starting",
    "asyncpg",
    pg("CannotConnectNowError", "the database system is starting up"),
    "transient",
    True,
    "none",
    "57P03.",
    raises="CannotConnectNowError",
)
built(
    "full",
    "asyncpg",
    pg("DiskFullError", "could not extend file: No space left on device"),
    "bug|permanent|transient",
    EITHER,
    "none",
    "53100.",
    raises="DiskFullError",
)

# ------------------------------------------------------------------ ORMs, files


@scenario(
    "aiosqlite.locked",
    lib="aiosqlite",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="OperationalError",
    reason="Another connection holds the write lock.",
)
async def aiosqlite_locked():
    import sqlite3
    import tempfile

    import aiosqlite

    with tempfile.NamedTemporaryFile() as file:
        holder = sqlite3.connect(file.name, isolation_level=None)
        holder.execute("create table t (a)")
        holder.execute("begin exclusive")
        async with aiosqlite.connect(file.name, timeout=0.05) as db:
            await db.execute("insert into t values (1)")


def peewee_table():
    import peewee

    db = peewee.SqliteDatabase(":memory:")

    class Thing(peewee.Model):
        name = peewee.CharField(unique=True)

        class Meta:
            database = db

    return db, Thing


@scenario(
    "peewee.unique",
    lib="peewee",
    category="validation",
    retryable_read=False,
    side_effect_state="none",
    raises="IntegrityError",
    reason="UNIQUE constraint failed.",
)
def peewee_unique():
    db, thing = peewee_table()
    db.create_tables([thing])
    thing.create(name="a")
    thing.create(name="a")


@scenario(
    "peewee.missing",
    lib="peewee",
    category="not_found",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="ThingDoesNotExist",
    reason="get() found no row; the class is made for each model.",
)
def peewee_missing():
    db, thing = peewee_table()
    db.create_tables([thing])
    thing.get(thing.name == "b")


@scenario(
    "peewee.no_table",
    lib="peewee",
    category="not_found|bug",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="OperationalError",
    reason="no such table.",
)
def peewee_no_table():
    _, thing = peewee_table()
    thing.create(name="a")


def django(kind, *args):
    def make():
        import importlib

        module, _, name = kind.rpartition(".")
        return getattr(importlib.import_module(module), name)(*args)

    return make


built(
    "missing",
    "django",
    django("django.core.exceptions.ObjectDoesNotExist", "Order matching query does not exist."),
    "not_found",
    False,
    "none|unknown",
    "get() found no row.",
    raises="ObjectDoesNotExist",
)
built(
    "http404",
    "django",
    django("django.http.Http404", "No Order matches the given query."),
    "not_found",
    False,
    "none|unknown",
    "get_object_or_404.",
    raises="Http404",
)
built(
    "validation",
    "django",
    django("django.core.exceptions.ValidationError", "Enter a valid date."),
    "validation",
    False,
    "none|unknown",
    "A form's or model's check.",
    raises="ValidationError",
)
built(
    "denied",
    "django",
    django("django.core.exceptions.PermissionDenied"),
    "permission",
    False,
    "none|unknown",
    "The view denies.",
    raises="PermissionDenied",
)
built(
    "settings",
    "django",
    django(
        "django.core.exceptions.ImproperlyConfigured", "Requested setting DATABASES, but settings are not configured."
    ),
    "bug",
    False,
    "none|unknown",
    "Settings are missing.",
    raises="ImproperlyConfigured",
)
built(
    "integrity",
    "django",
    django("django.db.utils.IntegrityError", "NOT NULL constraint failed: t.name"),
    "validation",
    False,
    "none",
    "A constraint.",
    raises="IntegrityError",
)

# ------------------------------------------------------- graph and wide column


@scenario(
    "neo4j.refused",
    lib="neo4j",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="ServiceUnavailable",
    reason="Couldn't connect: nothing was sent.",
)
def neo4j_refused():
    from neo4j import GraphDatabase

    with GraphDatabase.driver(
        f"bolt://{HOST}:{closed_port()}", connection_timeout=0.5, max_transaction_retry_time=0.1
    ) as driver:
        driver.execute_query("CREATE (n)")


def neo(code, message):
    def make():
        from neo4j.exceptions import Neo4jError

        build = getattr(Neo4jError, "_hydrate_neo4j", None) or getattr(Neo4jError, "hydrate", None)
        if hasattr(Neo4jError, "_basic_hydrate"):
            return Neo4jError._basic_hydrate(neo4j_code=code, message=message)
        return build(code=code, message=message)

    return make


built(
    "deadlock",
    "neo4j",
    neo("Neo.TransientError.Transaction.DeadlockDetected", "ForsetiClient[1] can't acquire ExclusiveLock"),
    "transient",
    True,
    "none|unknown",
    "Rolled back.",
    raises="TransientError",
)
built(
    "syntax",
    "neo4j",
    neo("Neo.ClientError.Statement.SyntaxError", "Invalid input 'X'"),
    "validation",
    False,
    "none",
    "Cypher that does not parse.",
    raises="CypherSyntaxError|ClientError",
)
built(
    "constraint",
    "neo4j",
    neo("Neo.ClientError.Schema.ConstraintValidationFailed", "Node(1) already exists with label `A`"),
    "validation",
    False,
    "none",
    "A constraint.",
    raises="ConstraintError|ClientError",
)
built(
    "auth",
    "neo4j",
    neo("Neo.ClientError.Security.Unauthorized", "The client is unauthorized due to authentication failure."),
    "permission",
    False,
    "none",
    "Wrong password.",
    raises="AuthError|ClientError",
)


def cql(kind, *args, **kwargs):
    def make():
        import cassandra

        return getattr(cassandra, kind)(*args, **kwargs)

    return make


built(
    "write_timeout",
    "cassandra",
    cql("WriteTimeout", "Coordinator node timed out waiting for replica nodes' responses", consistency=4, write_type=0),
    "transient",
    True,
    "unknown",
    "The replicas did not confirm in time: the write may have happened.",
    raises="WriteTimeout",
)
built(
    "read_timeout",
    "cassandra",
    cql("ReadTimeout", "Coordinator node timed out"),
    "transient",
    True,
    "unknown",
    "The replicas did not answer in time.",
    raises="ReadTimeout",
)
built(
    "unavailable",
    "cassandra",
    cql("Unavailable", "Cannot achieve consistency level QUORUM"),
    "transient",
    True,
    "none|unknown",
    "Too few replicas alive: the coordinator did not try.",
    raises="Unavailable",
)
built(
    "invalid",
    "cassandra",
    cql("InvalidRequest", "Undefined column name nme"),
    "validation|not_found",
    False,
    "none",
    "The statement is wrong.",
    raises="InvalidRequest",
)
built(
    "unauthorized",
    "cassandra",
    cql("Unauthorized", "User app has no MODIFY permission on table t"),
    "permission",
    False,
    "none",
    "Not allowed.",
    raises="Unauthorized",
)
built(
    "client_timeout",
    "cassandra",
    cql("OperationTimedOut", {"127.0.0.1": "Client request timeout"}),
    "transient",
    True,
    "unknown",
    "The client gave up waiting.",
    raises="OperationTimedOut",
)


def snow(kind, **kwargs):
    def make():
        import snowflake.connector.errors

        return getattr(snowflake.connector.errors, kind)(**kwargs)

    return make


built(
    "no_table",
    "snowflake",
    snow(
        "ProgrammingError",
        msg="SQL compilation error: Object 'T' does not exist or not authorized.",
        errno=2003,
        sqlstate="42S02",
    ),
    "not_found|permission",
    False,
    "none",
    "002003.",
    raises="ProgrammingError",
)
built(
    "syntax",
    "snowflake",
    snow(
        "ProgrammingError",
        msg="SQL compilation error: syntax error line 1 at position 0 unexpected 'SELEC'.",
        errno=1003,
        sqlstate="42000",
    ),
    "validation",
    False,
    "none",
    "001003.",
    raises="ProgrammingError",
)
built(
    "login",
    "snowflake",
    snow("DatabaseError", msg="Incorrect username or password was specified.", errno=250001, sqlstate="08001"),
    "permission",
    False,
    "none",
    "250001 with SQLSTATE 08001: the text alone says that it is the password.",
    raises="DatabaseError",
)


# ------------------------------------------------------------------ more wire


@scenario(
    "pymysql.not_mysql",
    lib="pymysql",
    category="bug|permanent|transient|unknown|validation",
    retryable_read=EITHER,
    side_effect_state="none|unknown",
    raises="InternalError|OperationalError|error|IndexError",
    reason="Something else listens on that port.",
)
def pymysql_not_mysql():
    import pymysql

    with listening(lambda conn: conn.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")) as port:
        pymysql.connect(host=HOST, port=port, user="u", connect_timeout=1, read_timeout=1)
