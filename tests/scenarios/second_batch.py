"""Libraries that no rule had been written for or measured on: stores, queues, remote calls, clouds, files, programs.

Kept apart from the others, so that the first try on them is a number of its own.
"""

from __future__ import annotations

import asyncio
import importlib

from _loopback import HOST, answering, closed_port, closed_url, listening, silent
from registry import EITHER, scenario


def built(name, lib, path, args, category, retry, state, reason, **labels):
    """A scenario around an exception that is built as the library builds it; ``args`` may name what to look up."""
    kwargs = labels.pop("kwargs", {})

    @scenario(
        f"{lib}.{name}",
        lib=lib,
        category=category,
        retryable_read=retry,
        side_effect_state=state,
        raises=path.rpartition(".")[2],
        constructed=True,
        reason=reason,
        **labels,
    )
    def run():
        raise found(path)(*[arg() if callable(arg) else arg for arg in args], **kwargs)


def found(path):
    """What a dotted path names."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def live(name, lib, category, retry, state, raises, reason, **labels):
    """A scenario that makes the library fail."""
    return scenario(
        f"{lib}.{name}",
        lib=lib,
        category=category,
        retryable_read=retry,
        side_effect_state=state,
        raises=raises,
        reason=reason,
        **labels,
    )


# ---------------------------------------------------------------------- stores


@live("refused", "psycopg2", "transient", True, "none", "OperationalError", "Refused: nothing was sent.")
def psycopg2_refused():
    import psycopg2

    psycopg2.connect(host=HOST, port=closed_port(), user="u", dbname="d")


@live("refused", "aiomysql", "transient", True, "none", "OperationalError", "Refused: nothing was sent.")
async def aiomysql_refused():
    import aiomysql

    await aiomysql.connect(host=HOST, port=closed_port(), user="u", password="p")


@live("refused", "oracledb", "transient", True, "none", "OperationalError", "Refused: nothing was sent.")
def oracledb_refused():
    import oracledb

    oracledb.connect(user="u", password="p", dsn=f"{HOST}:{closed_port()}/x")


@live(
    "bad_dsn",
    "oracledb",
    "validation|bug|not_found",
    False,
    "none",
    "DatabaseError",
    "No such alias: a client's check.",
)
def oracledb_bad_dsn():
    import oracledb

    oracledb.connect(user="u", password="p", dsn="no-such-alias")


@live(
    "server_error",
    "pymemcache",
    "transient",
    True,
    "unknown|none",
    "MemcacheServerError",
    "SERVER_ERROR: the server's own fault.",
)
def memcache_server_error():
    from pymemcache.client.base import Client

    with line_server_without_greeting("SERVER_ERROR out of memory storing object") as port:
        Client((HOST, port)).set("k", "v", noreply=False)


@live(
    "client_error",
    "pymemcache",
    "validation",
    False,
    "none|unknown",
    "MemcacheClientError",
    "CLIENT_ERROR: the input does not conform.",
)
def memcache_client_error():
    from pymemcache.client.base import Client

    with line_server_without_greeting("CLIENT_ERROR bad data chunk") as port:
        Client((HOST, port)).set("k", "v", noreply=False)


@live("long_key", "pymemcache", "validation", False, "none", "MemcacheIllegalInputError", "The client refuses the key.")
def memcache_long_key():
    from pymemcache.client.base import Client

    Client((HOST, closed_port())).get("k" * 300)


def line_server_without_greeting(reply):
    """A server that answers whatever it reads with one line."""

    def talk(conn):
        while conn.recv(65536):
            conn.sendall(f"{reply}\r\n".encode())

    return listening(talk)


@live("not_found", "typesense", "not_found", False, "none", "ObjectNotFound", "404.")
def typesense_not_found():
    with answering(404, {"message": "Not Found"}) as url:
        typesense(url).collections["x"].retrieve()


@live("key", "typesense", "permission", False, "none", "RequestUnauthorized", "401.")
def typesense_key():
    with answering(401, {"message": "Forbidden - a valid `x-typesense-api-key` header must be sent."}) as url:
        typesense(url).collections["x"].retrieve()


@live(
    "busy", "typesense", "transient", True, "none|unknown", "ServiceUnavailable", "503, after the client's own retries."
)
def typesense_busy():
    with answering(503, {"message": "Not Ready or Lagging"}) as url:
        typesense(url).collections["x"].retrieve()


def typesense(url):
    """A client of one node."""
    import typesense as library

    host, port = url.removeprefix("http://").split(":")
    node = {"host": host, "port": port, "protocol": "http"}
    return library.Client(
        {
            "nodes": [node],
            "api_key": "x",
            "num_retries": 1,
            "retry_interval_seconds": 0,
            "connection_timeout_seconds": 2,
        }
    )


built(
    "unreachable",
    "algoliasearch",
    "algoliasearch.http.exceptions.AlgoliaUnreachableHostException",
    ["Unreachable hosts"],
    "transient",
    True,
    "unknown|none",
    "Every host was tried without an answer.",
)
built(
    "quota",
    "algoliasearch",
    "algoliasearch.http.exceptions.RequestException",
    ["Record quota exceeded, change plan or delete records.", 402],
    "permanent",
    False,
    "none",
    "402: the plan is used up.",
)
built(
    "node_missing",
    "kazoo",
    "kazoo.exceptions.NoNodeError",
    [],
    "not_found",
    False,
    "none|unknown",
    "The node does not exist.",
)
built(
    "node_exists",
    "kazoo",
    "kazoo.exceptions.NodeExistsError",
    [],
    "validation",
    False,
    "none|unknown",
    "The node exists.",
)
built(
    "version",
    "kazoo",
    "kazoo.exceptions.BadVersionError",
    [],
    "validation|transient",
    False,
    "none|unknown",
    "The version is stale: read again first.",
)
built(
    "no_auth",
    "kazoo",
    "kazoo.exceptions.NoAuthError",
    [],
    "permission",
    False,
    "none|unknown",
    "No permission on the node.",
)
built(
    "connection_loss",
    "kazoo",
    "kazoo.exceptions.ConnectionLoss",
    [],
    "transient",
    True,
    "unknown",
    "The connection was lost; the operation may have happened.",
)
built(
    "session_expired",
    "kazoo",
    "kazoo.exceptions.SessionExpiredError",
    [],
    "transient|permission",
    EITHER,
    "unknown|none",
    "The session is gone; a new one may work.",
)
built(
    "missing",
    "azure-cosmos",
    "azure.cosmos.exceptions.CosmosResourceNotFoundError",
    [],
    "not_found",
    False,
    "none",
    "404 on an item.",
    kwargs={"status_code": 404, "message": "Entity with the specified id does not exist in the system."},
)
built(
    "throttled",
    "azure-cosmos",
    "azure.cosmos.exceptions.CosmosHttpResponseError",
    [],
    "rate_limited",
    True,
    "none",
    "429: request units used up for now.",
    kwargs={"status_code": 429, "message": "Request rate is large. More Request Units may be needed."},
)
built(
    "etag",
    "azure-cosmos",
    "azure.cosmos.exceptions.CosmosAccessConditionFailedError",
    [],
    "validation|transient",
    False,
    "none",
    "412: read again before the write.",
    kwargs={
        "status_code": 412,
        "message": "Operation cannot be performed because one of the specified precondition is not met.",
    },
)
built(
    "missing_table",
    "bigquery",
    "google.api_core.exceptions.NotFound",
    ["Not found: Table p:d.t"],
    "not_found",
    False,
    "none",
    "404.",
)
built(
    "backend",
    "bigquery",
    "google.api_core.exceptions.ServiceUnavailable",
    ["Error encountered during execution. Retrying may solve the problem."],
    "transient",
    True,
    "none|unknown",
    "503.",
)
built(
    "no_index",
    "pinecone",
    "pinecone.errors.exceptions.NotFoundError",
    ["Resource x not found"],
    "not_found",
    False,
    "none",
    "404: no such index.",
)

# ---------------------------------------------------------------------- queues


@live("refused", "aio-pika", "transient", True, "none", "AMQPConnectionError", "Refused: nothing was sent.")
async def aio_pika_refused():
    import aio_pika

    await aio_pika.connect(f"amqp://u:p@{HOST}:{closed_port()}/")


@live(
    "refused",
    "aiokafka",
    "transient",
    True,
    "none",
    "KafkaConnectionError",
    "No broker can be reached: nothing was sent.",
)
async def aiokafka_refused():
    from aiokafka import AIOKafkaProducer

    producer = AIOKafkaProducer(bootstrap_servers=f"{HOST}:{closed_port()}")
    try:
        await asyncio.wait_for(producer.start(), 20)
    finally:
        await producer.stop()


built(
    "no_queue",
    "aiormq",
    "aiormq.exceptions.ChannelNotFoundEntity",
    ["NOT_FOUND - no queue 'orders' in vhost '/'"],
    "not_found",
    False,
    "none|unknown",
    "The queue does not exist.",
)
built(
    "refused_access",
    "aiormq",
    "aiormq.exceptions.ChannelAccessRefused",
    ["ACCESS_REFUSED - access to queue 'orders' in vhost '/' refused for user 'app'"],
    "permission",
    False,
    "none|unknown",
    "No permission on the queue.",
)
built(
    "locked",
    "aiormq",
    "aiormq.exceptions.ChannelLockedResource",
    ["RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'orders'"],
    "transient|permission",
    EITHER,
    "none|unknown",
    "Another consumer has it exclusively.",
)
built(
    "rebalance",
    "aiokafka",
    "aiokafka.errors.RebalanceInProgressError",
    [],
    "transient",
    True,
    "none|unknown",
    "The group is being rebalanced; retriable by the protocol.",
)
built(
    "unknown_topic",
    "aiokafka",
    "aiokafka.errors.UnknownTopicOrPartitionError",
    [],
    "not_found|transient",
    EITHER,
    "none|unknown",
    "No such topic; metadata may be late.",
)
built(
    "too_large",
    "aiokafka",
    "aiokafka.errors.MessageSizeTooLargeError",
    ["The message is 2097152 bytes when serialized which is larger than the maximum request size"],
    "validation",
    False,
    "none|unknown",
    "The message is too large.",
)
built(
    "group_denied",
    "aiokafka",
    "aiokafka.errors.GroupAuthorizationFailedError",
    ["billing"],
    "permission",
    False,
    "none|unknown",
    "Not authorised for the group.",
)
built(
    "lock_lost",
    "azure-servicebus",
    "azure.servicebus.exceptions.MessageLockLostError",
    [],
    "transient|permanent|validation|not_found",
    EITHER,
    "none|unknown",
    "The lock ran out; the message comes again.",
    kwargs={"message": "The lock on the message lock has expired."},
)
built(
    "no_entity",
    "azure-servicebus",
    "azure.servicebus.exceptions.MessagingEntityNotFoundError",
    [],
    "not_found",
    False,
    "none|unknown",
    "No such queue.",
    kwargs={"message": "The messaging entity could not be found."},
)
built(
    "server_busy",
    "azure-servicebus",
    "azure.servicebus.exceptions.ServiceBusServerBusyError",
    [],
    "rate_limited|transient",
    True,
    "none|unknown",
    "Busy: wait ten seconds and retry, says the documentation.",
    kwargs={"message": "The request was terminated because the entity is being throttled."},
)
built(
    "quota",
    "azure-servicebus",
    "azure.servicebus.exceptions.ServiceBusQuotaExceededError",
    [],
    "permanent|rate_limited",
    EITHER,
    "none|unknown",
    "The queue is full until somebody reads it.",
    kwargs={"message": "The messaging entity has reached its maximum allowable size."},
)
built(
    "unauthorized",
    "azure-servicebus",
    "azure.servicebus.exceptions.ServiceBusAuthorizationError",
    [],
    "permission",
    False,
    "none|unknown",
    "The claim is missing.",
    kwargs={"message": "Unauthorized access. 'Send' claim(s) are required to perform this operation."},
)


@live(
    "refused",
    "stomp.py",
    "transient",
    True,
    "none|unknown",
    "ConnectFailedException",
    "No broker answers; says nothing of what was sent.",
)
def stomp_refused():
    import stomp

    stomp.Connection([(HOST, closed_port())], reconnect_attempts_max=1, reconnect_sleep_initial=0.01).connect(wait=True)


built(
    "not_connected",
    "stomp.py",
    "stomp.exception.NotConnectedException",
    [],
    "transient|bug|unknown",
    EITHER,
    "none|unknown",
    "Nothing can be sent without a connection.",
)
built(
    "no_job",
    "rq",
    "rq.exceptions.NoSuchJobError",
    ["No such job: rq:job:1234"],
    "not_found",
    False,
    "none|unknown",
    "No such job.",
)
built(
    "duplicate",
    "rq",
    "rq.exceptions.DuplicateJobError",
    ["Job with ID 1234 already exists"],
    "validation",
    False,
    "none|unknown",
    "The job exists.",
)
built(
    "no_actor",
    "dramatiq",
    "dramatiq.errors.ActorNotFound",
    ["send_mail"],
    "not_found|bug",
    False,
    "none|unknown",
    "No such actor.",
)
built(
    "rate",
    "dramatiq",
    "dramatiq.errors.RateLimitExceeded",
    ["rate limit exceeded for key 'mail'"],
    "rate_limited",
    True,
    "none|unknown",
    "The limiter refuses for now.",
)
built(
    "broker_closed",
    "dramatiq",
    "dramatiq.errors.ConnectionClosed",
    ["connection closed by broker"],
    "transient",
    True,
    "unknown",
    "The connection broke.",
)

# ---------------------------------------------------------------- remote calls


@live("refused", "Pyro5", "transient", True, "none", "CommunicationError", "Refused: nothing was sent.")
def pyro_refused():
    import Pyro5.api

    Pyro5.api.Proxy(f"PYRO:x@{HOST}:{closed_port()}").hello()


@live("refused", "rpyc", "transient", True, "none", "ConnectionRefusedError", "Refused: nothing was sent.")
def rpyc_refused():
    import rpyc

    rpyc.connect(HOST, closed_port())


@live("refused", "thrift", "transient", True, "none", "TTransportException", "Refused: nothing was sent.")
def thrift_refused():
    from thrift.transport.TSocket import TSocket

    TSocket(HOST, closed_port()).open()


built(
    "no_method",
    "thrift",
    "thrift.Thrift.TApplicationException",
    [1, "Invalid method name: 'pnig'"],
    "permanent|validation|bug|not_found",
    False,
    "none",
    "The server has no such method.",
)
built(
    "eof",
    "thrift",
    "thrift.transport.TTransport.TTransportException",
    [4, "TSocket read 0 bytes"],
    "transient",
    True,
    "unknown",
    "The peer closed while the answer was read.",
)
built(
    "timeout",
    "thrift",
    "thrift.transport.TTransport.TTransportException",
    [3, "read timeout"],
    "transient",
    True,
    "unknown",
    "No answer in time.",
)
built(
    "not_found",
    "temporalio",
    "temporalio.service.RPCError",
    ["workflow not found for ID: order-1", lambda: found("temporalio.service.RPCStatusCode").NOT_FOUND, b""],
    "not_found",
    False,
    "none",
    "gRPC NOT_FOUND.",
)
built(
    "exhausted",
    "temporalio",
    "temporalio.service.RPCError",
    ["namespace rate limit exceeded", lambda: found("temporalio.service.RPCStatusCode").RESOURCE_EXHAUSTED, b""],
    "rate_limited",
    True,
    "none",
    "gRPC RESOURCE_EXHAUSTED.",
)
built(
    "started",
    "temporalio",
    "temporalio.exceptions.WorkflowAlreadyStartedError",
    ["order-1", "Order"],
    "validation",
    False,
    "none",
    "A workflow of that id runs.",
)
built(
    "no_answer",
    "pymodbus",
    "pymodbus.exceptions.ModbusIOException",
    ["No response received after 3 retries, continue with next request"],
    "transient",
    EITHER,
    "unknown",
    "The device did not answer.",
)
built(
    "not_connected",
    "pymodbus",
    "pymodbus.exceptions.ConnectionException",
    ["Not connected[AsyncModbusTcpClient 127.0.0.1:5020]"],
    "transient",
    True,
    "none|unknown",
    "There is no connection.",
)
built(
    "open",
    "pybreaker",
    "pybreaker.CircuitBreakerError",
    ["Timeout not elapsed yet, circuit breaker still open"],
    "transient",
    EITHER,
    "none|unknown",
    "The breaker refuses before the call.",
)
built(
    "period",
    "ratelimit",
    "ratelimit.RateLimitException",
    ["too many calls", 12.5],
    "rate_limited",
    True,
    "none|unknown",
    "The limiter refuses before the call.",
    retry_after_s=(12.5, None),
)

# ---------------------------------------------------------------------- clouds


@live("limit", "hcloud", "rate_limited", True, "none", "APIException", "429.")
def hcloud_limit():
    with answering(
        429, {"error": {"code": "rate_limit_exceeded", "message": "limit of 3600 requests per hour reached"}}
    ) as url:
        hcloud(url).servers.get_by_id(1)


@live("missing", "hcloud", "not_found", False, "none", "APIException", "404.")
def hcloud_missing():
    with answering(404, {"error": {"code": "not_found", "message": "server with ID '1' not found"}}) as url:
        hcloud(url).servers.get_by_id(1)


@live(
    "exceeded",
    "hcloud",
    "permanent|rate_limited",
    False,
    "none",
    "APIException",
    "The project's limit of servers; waiting does not lift it.",
)
def hcloud_exceeded():
    with answering(403, {"error": {"code": "resource_limit_exceeded", "message": "server limit exceeded"}}) as url:
        hcloud(url).servers.get_by_id(1)


def hcloud(url):
    """A client that does not retry."""
    import hcloud as library

    return library.Client(token="x", api_endpoint=url, poll_max_retries=0)


@live("wait", "cloudflare", "rate_limited", True, "none", "RateLimitError", "429 with a wait.", retry_after_s=7)
def cloudflare_wait():
    with answering(
        429,
        {
            "success": False,
            "errors": [{"code": 971, "message": "Please wait and consider throttling your request speed"}],
        },
        {"Retry-After": "7"},
    ) as url:
        cloudflare(url).zones.get(zone_id="x")


@live("token", "cloudflare", "permission", False, "none", "PermissionDeniedError", "403: the token lacks a right.")
def cloudflare_token():
    with answering(
        403, {"success": False, "errors": [{"code": 9109, "message": "Unauthorized to access requested resource"}]}
    ) as url:
        cloudflare(url).zones.get(zone_id="x")


@live("refused", "cloudflare", "transient", True, "none", "APIConnectionError", "Refused: nothing was sent.")
def cloudflare_refused():
    cloudflare(closed_url()).zones.get(zone_id="x")


def cloudflare(url):
    """A client that does not retry."""
    from cloudflare import Cloudflare

    return Cloudflare(api_token="x", base_url=url, max_retries=0)


built(
    "over_limit",
    "googlemaps",
    "googlemaps.exceptions._OverQueryLimit",
    ["OVER_QUERY_LIMIT", "You have exceeded your rate-limit for this API."],
    "rate_limited",
    True,
    "none",
    "Too many requests a second.",
)
built(
    "daily",
    "googlemaps",
    "googlemaps.exceptions.ApiError",
    ["OVER_DAILY_LIMIT", "Billing has not been enabled"],
    "permanent|permission|rate_limited",
    False,
    "none",
    "Billing or key: nothing that waiting mends.",
)
built(
    "denied",
    "googlemaps",
    "googlemaps.exceptions.ApiError",
    ["REQUEST_DENIED", "The provided API key is invalid."],
    "permission",
    False,
    "none",
    "The key is refused.",
)
built(
    "invalid",
    "googlemaps",
    "googlemaps.exceptions.ApiError",
    ["INVALID_REQUEST", "Invalid request. Missing the 'address' parameter."],
    "validation",
    False,
    "none",
    "A parameter is missing.",
)


@live("timeout", "googlemaps", "transient", True, "unknown", "Timeout", "No answer in time.")
def googlemaps_timeout():
    import googlemaps

    with silent() as url:
        googlemaps.Client(
            key="AIza" + "x" * 35, base_url=url, read_timeout=0.2, connect_timeout=0.2, retry_timeout=1
        ).geocode("x")


@live("missing", "pynetbox", "validation", False, "none", "RequestError", "400: the body is refused.")
def pynetbox_bad():
    import pynetbox

    with answering(400, {"name": ["This field is required."]}) as url:
        pynetbox.api(url, token="x").dcim.sites.create(slug="x")


@live(
    "no_job",
    "python-jenkins",
    "not_found",
    False,
    "none|unknown",
    "JenkinsException|NotFoundException",
    "The job does not exist.",
)
def jenkins_no_job():
    import jenkins

    with answering(404, "<html>Not Found</html>") as url:
        jenkins.Jenkins(url).get_job_info("x")


@live("login", "python-jenkins", "permission", False, "none|unknown", "JenkinsException", "401.")
def jenkins_login():
    import jenkins

    with answering(401, "<html>Unauthorized</html>") as url:
        jenkins.Jenkins(url, "u", "p").get_job_info("x")


@live("limit", "Mastodon.py", "rate_limited", True, "none", "MastodonRatelimitError", "429.")
def mastodon_limit():
    mastodon(429, "Too many requests")


@live("gone", "Mastodon.py", "not_found", False, "none", "MastodonNotFoundError", "404.")
def mastodon_gone():
    mastodon(404, "Record not found")


@live("gateway", "Mastodon.py", "transient", True, "unknown", "MastodonBadGatewayError", "502.")
def mastodon_gateway():
    mastodon(502, "Bad Gateway")


def mastodon(status, message):
    """Ask for a status and get this answer."""
    from mastodon import Mastodon

    with answering(status, {"error": message}) as url:
        Mastodon(access_token="x", api_base_url=url, ratelimit_method="throw", version_check_mode="none").status(1)


built(
    "limit",
    "dropbox",
    "dropbox.exceptions.RateLimitError",
    ["req1"],
    "rate_limited",
    True,
    "none",
    "429 with a backoff.",
    kwargs={"backoff": 15},
    retry_after_s=(15, None),
)
built(
    "bad_input",
    "dropbox",
    "dropbox.exceptions.BadInputError",
    ["req1", "Error in call to API function: path: did not match pattern"],
    "validation",
    False,
    "none",
    "400.",
)
built(
    "server",
    "dropbox",
    "dropbox.exceptions.InternalServerError",
    ["req1", 500, "Internal"],
    "transient",
    True,
    "unknown",
    "500.",
)
built(
    "denied",
    "datadog",
    "datadog_api_client.exceptions.ForbiddenException",
    [],
    "permission",
    False,
    "none",
    "403.",
    kwargs={"status": 403, "reason": "Forbidden"},
)
built(
    "limit",
    "datadog",
    "datadog_api_client.exceptions.ApiException",
    [],
    "rate_limited",
    True,
    "none",
    "429.",
    kwargs={"status": 429, "reason": "Too Many Requests"},
)
built(
    "limit",
    "pdpyras",
    "pdpyras.PDClientError",
    ["POST /incidents: API responded with non-success status (429)"],
    "rate_limited",
    True,
    "none|unknown",
    "429 in the text only.",
)

# ---------------------------------------------------------- files and programs


@live(
    "syntax",
    "ruamel.yaml",
    "validation",
    False,
    "none|unknown",
    "ScannerError|ParserError|ComposerError",
    "The document is no YAML.",
)
def ruamel_syntax():
    from ruamel.yaml import YAML

    YAML().load("a: [1, 2\nb: }")


@live("bad", "py7zr", "validation", False, "none|unknown", "Bad7zFile", "The file is no archive.")
def py7zr_bad():
    import io

    import py7zr

    py7zr.SevenZipFile(io.BytesIO(b"no archive at all" * 9))


@live("missing", "h5py", "not_found", False, "none|unknown", "FileNotFoundError", "No such file.")
def h5py_missing():
    import h5py

    h5py.File("no-such-file.h5", "r")


@live(
    "no_dataset",
    "h5py",
    "not_found",
    False,
    "none|unknown",
    "KeyError",
    "The file has no such dataset, and the library says so on purpose.",
)
def h5py_no_dataset():
    import h5py

    with h5py.File("x.h5", "w", driver="core", backing_store=False) as file:
        file["a/b"]


@live(
    "path",
    "jsonpath-ng",
    "validation",
    False,
    "none|unknown",
    "JsonPathParserError|JsonPathLexerError",
    "The path is none.",
)
def jsonpath_syntax():
    from jsonpath_ng import parse

    parse("$.a[[[")


@live(
    "eof",
    "pexpect",
    "transient|bug|permanent|unknown",
    EITHER,
    "unknown",
    "EOF",
    "The program ended before it said what was expected.",
)
def pexpect_eof():
    import pexpect

    pexpect.spawn("true").expect("never")


@live("timeout", "pexpect", "transient", True, "unknown", "TIMEOUT", "The program did not say it in time.")
def pexpect_timeout():
    import pexpect

    child = pexpect.spawn("sleep 5", timeout=0.2)
    try:
        child.expect("never")
    finally:
        child.terminate(force=True)


@live("no_command", "sh", "not_found|bug", False, "none|unknown", "CommandNotFound", "No such program.")
def sh_no_command():
    import sh

    sh.Command("no-such-program-here")


@live(
    "exit",
    "sh",
    "unknown|permanent|bug|validation|not_found",
    False,
    "unknown|none",
    "ErrorReturnCode_2",
    "ls: no such file; exit status 2.",
)
def sh_exit():
    import sh

    sh.ls("/no/such/folder")
