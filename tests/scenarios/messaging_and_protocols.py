"""Brokers, task queues, mail, directories, name services, shells."""

from __future__ import annotations

from _loopback import HOST, closed_port, closed_url, hanging_up, line_server, listening, silent
from registry import EITHER, scenario


def built(name, lib, make, category, retry, state, reason, *, raises, **labels):
    """A scenario around an exception that is built as the library builds it."""

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


def of(path, *args, **kwargs):
    """A maker for an exception of a library, by its dotted path."""

    def make():
        import importlib

        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)(*args, **kwargs)

    return make


# ---------------------------------------------------------------------- Kafka


@scenario(
    "kafka.no_brokers",
    lib="kafka-python",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="NoBrokersAvailable|KafkaTimeoutError|KafkaConnectionError",
    reason="No broker can be reached: nothing was sent.",
)
def kafka_no_brokers():
    from kafka import KafkaProducer

    KafkaProducer(bootstrap_servers=f"{HOST}:{closed_port()}", max_block_ms=300, bootstrap_timeout_ms=500)


built(
    "timeout",
    "kafka-python",
    of("kafka.errors.KafkaTimeoutError", "Batch for TopicPartition expired after 30 s"),
    "transient",
    True,
    "unknown",
    "The batch was not confirmed in time.",
    raises="KafkaTimeoutError",
)
built(
    "topic_denied",
    "kafka-python",
    of("kafka.errors.TopicAuthorizationFailedError", "orders"),
    "permission",
    False,
    "none",
    "Code 29.",
    raises="TopicAuthorizationFailedError",
)
built(
    "too_large",
    "kafka-python",
    of("kafka.errors.MessageSizeTooLargeError", "The message is 2000000 bytes when serialized"),
    "validation",
    False,
    "none",
    "Refused by the client or the broker.",
    raises="MessageSizeTooLargeError",
)
built(
    "not_leader",
    "kafka-python",
    of("kafka.errors.NotLeaderForPartitionError", "orders-0"),
    "transient",
    True,
    "none|unknown",
    "Code 6, retriable.",
    raises="NotLeader.*|NotLeaderForPartitionError",
)
built(
    "unknown_topic",
    "kafka-python",
    of("kafka.errors.UnknownTopicOrPartitionError", "orders"),
    "not_found",
    False,
    "none|unknown",
    "Code 3: no such topic (the protocol calls it retriable, as metadata may lag).",
    raises="UnknownTopicOrPartitionError",
)


def confluent(code):
    def make():
        from confluent_kafka import KafkaError, KafkaException

        return KafkaException(KafkaError(getattr(KafkaError, code)))

    return make


built(
    "transport",
    "confluent-kafka",
    confluent("_TRANSPORT"),
    "transient",
    True,
    "unknown|none",
    "Broker transport failure.",
    raises="KafkaException",
)
built(
    "timed_out",
    "confluent-kafka",
    confluent("_MSG_TIMED_OUT"),
    "transient",
    True,
    "unknown",
    "The message was not confirmed in time.",
    raises="KafkaException",
)
built(
    "auth",
    "confluent-kafka",
    confluent("TOPIC_AUTHORIZATION_FAILED"),
    "permission",
    False,
    "none",
    "Not allowed.",
    raises="KafkaException",
)
built(
    "queue_full",
    "confluent-kafka",
    of("builtins.BufferError", "Local: Queue full"),
    "transient|rate_limited",
    True,
    "none",
    "The local queue is full: nothing was queued.",
    raises="BufferError",
)


@scenario(
    "confluent-kafka.bad_config",
    lib="confluent-kafka",
    category="bug|validation",
    retryable_read=False,
    side_effect_state="none",
    raises="KafkaException",
    reason="No such configuration property.",
)
def confluent_bad_config():
    from confluent_kafka import Producer

    Producer({"bootstrap.srvers": "x"})


# ----------------------------------------------------------- AMQP, NATS, MQTT


@scenario(
    "pika.refused",
    lib="pika",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="AMQPConnectionError",
    reason="Refused: nothing was sent.",
)
def pika_refused():
    import pika

    pika.BlockingConnection(pika.ConnectionParameters(HOST, closed_port(), connection_attempts=1, socket_timeout=0.5))


built(
    "no_queue",
    "pika",
    of("pika.exceptions.ChannelClosedByBroker", 404, "NOT_FOUND - no queue 'jobs' in vhost '/'"),
    "not_found",
    False,
    "none|unknown",
    "Reply code 404: AMQP's, not HTTP's, and of the same meaning.",
    raises="ChannelClosedByBroker",
)
built(
    "refused_access",
    "pika",
    of("pika.exceptions.ChannelClosedByBroker", 403, "ACCESS_REFUSED - access to queue 'jobs' refused for user 'u'"),
    "permission",
    False,
    "none|unknown",
    "Reply code 403.",
    raises="ChannelClosedByBroker",
)
built(
    "precondition",
    "pika",
    of(
        "pika.exceptions.ChannelClosedByBroker",
        406,
        "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'jobs'",
    ),
    "validation|bug",
    False,
    "none|unknown",
    "Reply code 406.",
    raises="ChannelClosedByBroker",
)
built(
    "forced",
    "pika",
    of("pika.exceptions.ConnectionClosedByBroker", 320, "CONNECTION_FORCED - broker forced connection closure"),
    "transient",
    True,
    "unknown",
    "Reply code 320: the broker restarts.",
    raises="ConnectionClosedByBroker",
)
built(
    "bad_login",
    "pika",
    of(
        "pika.exceptions.ProbableAuthenticationError",
        "ConnectionClosedByBroker: (403) 'ACCESS_REFUSED - Login was refused'",
    ),
    "permission",
    False,
    "none",
    "Wrong password.",
    raises="ProbableAuthenticationError",
)
built(
    "lost",
    "pika",
    of(
        "pika.exceptions.StreamLostError",
        "Stream connection lost: ConnectionResetError(104, 'Connection reset by peer')",
    ),
    "transient",
    True,
    "unknown",
    "Lost in the middle.",
    raises="StreamLostError",
)


built(
    "no_servers",
    "nats-py",
    of("nats.errors.NoServersError"),
    "transient",
    True,
    "none",
    "No server can be reached: nothing was sent.",
    raises="NoServersError",
)
built(
    "no_responders",
    "nats-py",
    of("nats.errors.NoRespondersError"),
    "transient|not_found",
    EITHER,
    "none",
    "Nobody listens on the subject now: nothing was carried out.",
    raises="NoRespondersError",
)
built(
    "timeout",
    "nats-py",
    of("nats.errors.TimeoutError"),
    "transient",
    True,
    "unknown",
    "Published and not answered.",
    raises="TimeoutError",
)
built(
    "max_payload",
    "nats-py",
    of("nats.errors.MaxPayloadError"),
    "validation",
    False,
    "none",
    "Larger than the server takes; refused by the client.",
    raises="MaxPayloadError",
)
built(
    "closed",
    "nats-py",
    of("nats.errors.ConnectionClosedError"),
    "bug|transient",
    EITHER,
    "none|unknown",
    "Used after the connection was closed.",
    raises="ConnectionClosedError",
)


@scenario(
    "mqtt.refused",
    lib="paho-mqtt",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="ConnectionRefusedError",
    reason="Refused.",
)
def mqtt_refused():
    import paho.mqtt.client as mqtt

    mqtt.Client(mqtt.CallbackAPIVersion.VERSION2).connect(HOST, closed_port())


@scenario(
    "zmq.again",
    lib="pyzmq",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="Again",
    reason="EAGAIN: nothing could be queued for now.",
)
def zmq_again():
    import zmq

    with zmq.Context() as context, context.socket(zmq.PUSH) as socket:
        socket.linger = 0
        socket.send(b"x", zmq.NOBLOCK)


@scenario(
    "zmq.state",
    lib="pyzmq",
    category="bug",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="ZMQError",
    reason="EFSM: a REQ socket must send before it receives.",
)
def zmq_state():
    import zmq

    with zmq.Context() as context, context.socket(zmq.REQ) as socket:
        socket.linger = 0
        socket.recv()


# --------------------------------------------------------------------- celery


@scenario(
    "kombu.refused",
    lib="kombu",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="OperationalError|ConnectionRefusedError",
    reason="The broker refuses connections: nothing was queued.",
)
def kombu_refused():
    from celery import Celery

    app = Celery("x", broker=f"amqp://u:p@{HOST}:{closed_port()}//")
    app.conf.broker_transport_options = {"connect_timeout": 0.5}
    app.send_task("t", retry=False)


built(
    "retry",
    "celery",
    of("celery.exceptions.Retry", "Retry in 180s"),
    "cancelled|transient",
    EITHER,
    "unknown",
    "Celery's own signal that the task was scheduled again: not an error of the tool.",
    raises="Retry",
    tags="control-flow",
)
built(
    "not_registered",
    "celery",
    of("celery.exceptions.NotRegistered", "tasks.add"),
    "not_found|bug",
    False,
    "none",
    "No such task (a KeyError by type).",
    raises="NotRegistered",
)
built(
    "time_limit",
    "celery",
    of("celery.exceptions.TimeLimitExceeded", 300),
    "transient",
    EITHER,
    "unknown",
    "Killed at the time limit.",
    raises="TimeLimitExceeded",
)
built(
    "worker_lost",
    "celery",
    of("billiard.exceptions.WorkerLostError", "Worker exited prematurely: signal 9 (SIGKILL)"),
    "transient|bug|unknown",
    EITHER,
    "unknown",
    "The worker died in the middle.",
    raises="WorkerLostError",
)
built(
    "result_timeout",
    "celery",
    of("celery.exceptions.TimeoutError", "The operation timed out."),
    "transient",
    True,
    "unknown",
    "The result did not come in time; the task may still run.",
    raises="TimeoutError",
)

# ----------------------------------------------------------------------- mail


def send_mail(replies, greeting="220 mail"):
    import smtplib

    with line_server(greeting, replies, "250 ok") as port, smtplib.SMTP(HOST, port, timeout=2) as smtp:
        smtp.sendmail("a@example.org", ["b@example.org"], "Subject: x\n\nhi")


@scenario(
    "smtplib.greylisted",
    lib="stdlib.smtplib",
    category="transient|rate_limited",
    retryable_read=True,
    side_effect_state="none",
    raises="SMTPRecipientsRefused",
    reason="450 for the only recipient: try again later; nothing was accepted.",
)
def smtp_greylisted():
    send_mail({"RCPT": "450 4.2.0 Greylisted, please try again later"})


@scenario(
    "smtplib.no_mailbox",
    lib="stdlib.smtplib",
    category="not_found|validation|permanent",
    retryable_read=False,
    side_effect_state="none",
    raises="SMTPRecipientsRefused",
    reason="550: no such mailbox.",
)
def smtp_no_mailbox():
    send_mail({"RCPT": "550 5.1.1 User unknown"})


@scenario(
    "smtplib.busy",
    lib="stdlib.smtplib",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="SMTPConnectError",
    reason="421: the service is not available, closing.",
)
def smtp_busy():
    send_mail({}, greeting="421 4.3.2 Service not available")


@scenario(
    "smtplib.data_refused",
    lib="stdlib.smtplib",
    category="permanent|validation|permission",
    retryable_read=False,
    side_effect_state="none",
    raises="SMTPDataError",
    reason="554: the message was refused as spam.",
)
def smtp_data_refused():
    send_mail({"DATA": "554 5.7.1 Message rejected as spam"})


@scenario(
    "smtplib.auth",
    lib="stdlib.smtplib",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    raises="SMTPAuthenticationError",
    reason="535.",
)
def smtp_auth():
    import smtplib

    with (
        line_server(
            "220 mail",
            {"EHLO": "250-mail\r\n250 AUTH PLAIN", "AUTH": "535 5.7.8 Authentication credentials invalid"},
            "250 ok",
        ) as port,
        smtplib.SMTP(HOST, port, timeout=2) as smtp,
    ):
        smtp.login("u", "p")


@scenario(
    "smtplib.dropped",
    lib="stdlib.smtplib",
    category="transient",
    retryable_read=True,
    side_effect_state="none|unknown",
    raises="SMTPServerDisconnected",
    reason="The server hung up.",
)
def smtp_dropped():
    import smtplib

    with listening(lambda conn: conn.sendall(b"220 mail\r\n")) as port:
        smtplib.SMTP(HOST, port, timeout=2).sendmail("a@example.org", ["b@example.org"], "x")


@scenario(
    "aiosmtplib.refused",
    lib="aiosmtplib",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="SMTPConnectError",
    reason="Refused.",
)
async def aiosmtp_refused():
    import aiosmtplib

    await aiosmtplib.send(
        "Subject: x\n\nhi", sender="a@example.org", recipients=["b@example.org"], hostname=HOST, port=closed_port()
    )


@scenario(
    "aiosmtplib.no_mailbox",
    lib="aiosmtplib",
    category="not_found|validation|permanent",
    retryable_read=False,
    side_effect_state="none",
    raises="SMTPRecipientsRefused",
    reason="550 for the only recipient.",
)
async def aiosmtp_no_mailbox():
    import aiosmtplib

    with line_server("220 mail", {"RCPT": "550 5.1.1 User unknown"}, "250 ok") as port:
        await aiosmtplib.send(
            "Subject: x\n\nhi",
            sender="a@example.org",
            recipients=["b@example.org"],
            hostname=HOST,
            port=port,
            start_tls=False,
        )


@scenario(
    "ftplib.missing",
    lib="stdlib.ftplib",
    category="not_found|permission",
    retryable_read=False,
    side_effect_state="none",
    raises="error_perm",
    reason="550: no such file, or no access.",
)
def ftp_missing():
    import ftplib

    with line_server("220 ftp", {"USER": "230 in", "SIZE": "550 report.csv: No such file"}, "200 ok") as port:
        ftp = ftplib.FTP(timeout=2)
        ftp.connect(HOST, port)
        ftp.login()
        ftp.size("report.csv")


@scenario(
    "ftplib.busy",
    lib="stdlib.ftplib",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="error_temp",
    reason="421: too many users.",
)
def ftp_busy():
    import ftplib

    with line_server("421 Too many users, try again later", {}, "200 ok") as port:
        ftplib.FTP(timeout=2).connect(HOST, port)


@scenario(
    "ftplib.login",
    lib="stdlib.ftplib",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    raises="error_perm",
    reason="530: login incorrect.",
)
def ftp_login():
    import ftplib

    with line_server("220 ftp", {"USER": "331 password", "PASS": "530 Login incorrect."}, "200 ok") as port:
        ftp = ftplib.FTP(timeout=2)
        ftp.connect(HOST, port)
        ftp.login("u", "p")


@scenario(
    "imaplib.login",
    lib="stdlib.imaplib",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    raises="error",
    reason="NO [AUTHENTICATIONFAILED]; the text is all there is.",
)
def imap_login():
    import imaplib

    def talk(conn):
        conn.sendall(b"* OK imap\r\n")
        for raw in conn.makefile("rb"):
            tag, verb, *_ = raw.split()
            answer = {b"CAPABILITY": b"* CAPABILITY IMAP4REV1\r\n" + tag + b" OK done\r\n"}.get(
                verb.upper(), tag + b" NO [AUTHENTICATIONFAILED] Invalid credentials (Failure)\r\n"
            )
            conn.sendall(answer)

    with listening(talk) as port:
        imaplib.IMAP4(HOST, port, timeout=2).login("u", "p")


# ------------------------------------------------------- names and directories


def resolver(port, **kwargs):
    import dns.resolver

    made = dns.resolver.Resolver(configure=False)
    made.nameservers, made.port, made.lifetime = [HOST], port, 0.4
    return made


@scenario(
    "dnspython.lifetime",
    lib="dnspython",
    category="transient",
    retryable_read=True,
    side_effect_state="none|unknown",
    raises="LifetimeTimeout",
    reason="The name server does not answer.",
)
def dns_lifetime():
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
        deaf.bind((HOST, 0))
        resolver(deaf.getsockname()[1]).resolve("example.org")


def dns_answer(rcode):
    import socket
    import threading

    import dns.flags
    import dns.message
    import dns.rcode

    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((HOST, 0))

    def answer():
        for _ in range(3):
            wire, peer = server.recvfrom(4096)
            made = dns.message.make_response(dns.message.from_wire(wire))
            made.set_rcode(getattr(dns.rcode, rcode))
            server.sendto(made.to_wire(), peer)

    threading.Thread(target=answer, daemon=True).start()
    resolver(server.getsockname()[1]).resolve("example.org")


@scenario(
    "dnspython.nxdomain",
    lib="dnspython",
    category="not_found|validation",
    retryable_read=False,
    side_effect_state="none",
    raises="NXDOMAIN",
    reason="The name does not exist, says its authority.",
)
def dns_nxdomain():
    dns_answer("NXDOMAIN")


@scenario(
    "dnspython.servfail",
    lib="dnspython",
    category="transient",
    retryable_read=True,
    side_effect_state="none|unknown",
    raises="NoNameservers",
    reason="SERVFAIL of the only name server.",
)
def dns_servfail():
    dns_answer("SERVFAIL")


@scenario(
    "ldap3.refused",
    lib="ldap3",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="LDAPSocketOpenError",
    reason="Refused.",
)
def ldap_refused():
    import ldap3

    ldap3.Connection(ldap3.Server(HOST, closed_port(), connect_timeout=1), auto_bind=True)


def ldap(name, *args):
    return of(f"ldap3.core.exceptions.{name}", *args)


built(
    "credentials",
    "ldap3",
    ldap("LDAPInvalidCredentialsResult"),
    "permission",
    False,
    "none",
    "Result 49.",
    raises="LDAPInvalidCredentialsResult",
)
built(
    "no_object",
    "ldap3",
    ldap("LDAPNoSuchObjectResult"),
    "not_found",
    False,
    "none",
    "Result 32.",
    raises="LDAPNoSuchObjectResult",
)
built("busy", "ldap3", ldap("LDAPBusyResult"), "transient", True, "none|unknown", "Result 51.", raises="LDAPBusyResult")
built(
    "exists",
    "ldap3",
    ldap("LDAPEntryAlreadyExistsResult"),
    "validation",
    False,
    "none",
    "Result 68.",
    raises="LDAPEntryAlreadyExistsResult",
)
built(
    "rights",
    "ldap3",
    ldap("LDAPInsufficientAccessRightsResult"),
    "permission",
    False,
    "none",
    "Result 50.",
    raises="LDAPInsufficientAccessRightsResult",
)
built(
    "unwilling",
    "ldap3",
    ldap("LDAPUnwillingToPerformResult"),
    "permanent|validation|permission|unknown",
    False,
    "none|unknown",
    "Result 53.",
    raises="LDAPUnwillingToPerformResult",
)
built(
    "size_limit",
    "ldap3",
    ldap("LDAPSizeLimitExceededResult"),
    "validation|permanent|rate_limited",
    False,
    "none|unknown",
    "Result 4: the answer is larger than the limit.",
    raises="LDAPSizeLimitExceededResult",
)

# -------------------------------------------------------------- shells and git


@scenario(
    "asyncssh.refused",
    lib="asyncssh",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="ConnectionRefusedError|OSError",
    reason="Refused.",
)
async def ssh_refused():
    import asyncssh

    await asyncssh.connect(HOST, closed_port(), known_hosts=None)


built(
    "denied",
    "asyncssh",
    of("asyncssh.PermissionDenied", "Permission denied for user u on host h"),
    "permission",
    False,
    "none",
    "Wrong key or password.",
    raises="PermissionDenied",
)
built(
    "host_key",
    "asyncssh",
    of("asyncssh.HostKeyNotVerifiable", "Host key is not trusted for host h"),
    "permission|bug|permanent",
    False,
    "none",
    "Unknown host key.",
    raises="HostKeyNotVerifiable",
)
built(
    "lost",
    "asyncssh",
    of("asyncssh.ConnectionLost", "Connection lost"),
    "transient",
    True,
    "unknown",
    "Lost in the middle.",
    raises="ConnectionLost",
)
built(
    "process",
    "asyncssh",
    of("asyncssh.ProcessError", {}, "make", None, 2, None, 2, "", "make: *** No rule to make target 'x'. Stop."),
    "validation|unknown|not_found|bug",
    False,
    "unknown",
    "The remote command failed.",
    raises="ProcessError",
)


@scenario(
    "git.no_repo",
    lib="gitpython",
    category="not_found|validation",
    retryable_read=False,
    side_effect_state="none",
    raises="InvalidGitRepositoryError",
    reason="The directory is no repository.",
)
def git_no_repo():
    import tempfile

    import git

    with tempfile.TemporaryDirectory() as path:
        git.Repo(path)


@scenario(
    "git.no_path",
    lib="gitpython",
    category="not_found",
    retryable_read=False,
    side_effect_state="none",
    raises="NoSuchPathError",
    reason="No such directory.",
)
def git_no_path():
    import git

    git.Repo("/nowhere/at/all")


@scenario(
    "git.bad_ref",
    lib="gitpython",
    category="not_found|validation|unknown",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="GitCommandError",
    reason="git's own words: pathspec did not match.",
)
def git_bad_ref():
    import tempfile

    import git

    with tempfile.TemporaryDirectory() as path:
        git.Repo.init(path).git.checkout("no-such-branch")


@scenario(
    "git.clone_refused",
    lib="gitpython",
    category="transient|unknown",
    retryable_read=EITHER,
    side_effect_state="none|unknown",
    raises="GitCommandError",
    reason="git could not connect; in its stderr only.",
)
def git_clone_refused():
    import tempfile

    import git

    with tempfile.TemporaryDirectory() as path:
        git.Repo.clone_from(f"{closed_url()}/x.git", path + "/x")


@scenario(
    "dulwich.no_repo",
    lib="dulwich",
    category="not_found|validation",
    retryable_read=False,
    side_effect_state="none",
    raises="NotGitRepository",
    reason="The directory is no repository.",
)
def dulwich_no_repo():
    import tempfile

    from dulwich.repo import Repo

    with tempfile.TemporaryDirectory() as path:
        Repo(path)


# ------------------------------------------------------------------ async nets


@scenario(
    "trio.too_slow",
    lib="trio",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="TooSlowError",
    reason="fail_after expired.",
)
def trio_too_slow():
    import trio

    async def main():
        with trio.fail_after(0.05):
            await trio.sleep(5)

    trio.run(main)


@scenario(
    "trio.closed",
    lib="trio",
    category="bug|transient",
    retryable_read=EITHER,
    side_effect_state="none|unknown",
    raises="ClosedResourceError",
    reason="A channel is used after it was closed.",
)
def trio_closed():
    import trio

    async def main():
        sender, _receiver = trio.open_memory_channel(1)
        sender.close()
        await sender.send(1)

    trio.run(main)


@scenario(
    "trio.refused",
    lib="trio",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="OSError",
    reason="All attempts to connect failed; refused.",
)
def trio_refused():
    import trio

    trio.run(trio.open_tcp_stream, HOST, closed_port())


def grpclib_error(status, message):
    def make():
        from grpclib import GRPCError, Status

        return GRPCError(getattr(Status, status), message)

    return make


built(
    "unavailable",
    "grpclib",
    grpclib_error("UNAVAILABLE", "upstream down"),
    "transient",
    True,
    "unknown",
    "UNAVAILABLE.",
    raises="GRPCError",
)
built(
    "denied",
    "grpclib",
    grpclib_error("PERMISSION_DENIED", "no"),
    "permission",
    False,
    "none",
    "PERMISSION_DENIED.",
    raises="GRPCError",
)
built(
    "precondition",
    "grpclib",
    grpclib_error("FAILED_PRECONDITION", "not empty"),
    "validation",
    False,
    "none",
    "FAILED_PRECONDITION.",
    raises="GRPCError",
)
built(
    "terminated",
    "grpclib",
    of("grpclib.exceptions.StreamTerminatedError", "Connection lost"),
    "transient",
    True,
    "unknown",
    "The stream was reset.",
    raises="StreamTerminatedError",
)

# ------------------------------------------------------------------- browsers


@scenario(
    "selenium.refused",
    lib="selenium",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="MaxRetryError|WebDriverException",
    reason="The driver does not run: nothing was sent.",
)
def selenium_refused():
    from selenium.webdriver import ChromeOptions, Remote

    Remote(closed_url(), options=ChromeOptions())


built(
    "no_element",
    "selenium",
    of("selenium.common.exceptions.NoSuchElementException", "no such element: Unable to locate element: #pay"),
    "not_found",
    False,
    "none|unknown",
    "The page has no such element.",
    raises="NoSuchElementException",
)
built(
    "stale",
    "selenium",
    of(
        "selenium.common.exceptions.StaleElementReferenceException",
        "stale element reference: element is not attached to the page document",
    ),
    "transient|not_found|validation",
    EITHER,
    "none|unknown",
    "The page has changed: find it again.",
    raises="StaleElementReferenceException",
)
built(
    "timeout",
    "selenium",
    of("selenium.common.exceptions.TimeoutException", "Message: timeout: Timed out receiving message from renderer"),
    "transient",
    True,
    "unknown",
    "The page did not load in time.",
    raises="TimeoutException",
)
built(
    "click",
    "selenium",
    of("selenium.common.exceptions.ElementClickInterceptedException", "element click intercepted"),
    "transient|validation|unknown",
    EITHER,
    "none|unknown",
    "Something lies over the button.",
    raises="ElementClickInterceptedException",
)


@scenario(
    "playwright.no_browser",
    lib="playwright",
    category="bug|not_found",
    retryable_read=False,
    side_effect_state="none",
    raises="Error",
    reason="The browser is not installed: no argument fixes it.",
)
def playwright_no_browser():
    import os

    from playwright.sync_api import sync_playwright

    os.environ["PLAYWRIGHT_BROWSERS_PATH"] = "/nowhere"
    with sync_playwright() as p:
        p.chromium.launch()


built(
    "timeout",
    "playwright",
    of(
        "playwright.sync_api.TimeoutError",
        'Locator.click: Timeout 30000ms exceeded.\nCall log:\n  - waiting for locator("#pay")',
    ),
    "transient|not_found",
    EITHER,
    "unknown|none",
    "The element did not appear in time.",
    raises="TimeoutError",
)


# ----------------------------------------------------------- sockets and slots


@scenario(
    "websockets.no_server",
    lib="websockets",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="ConnectionRefusedError|OSError",
    reason="Refused.",
)
async def ws_refused():
    import websockets

    await websockets.connect(f"ws://{HOST}:{closed_port()}")


@scenario(
    "websockets.hung_up",
    lib="websockets",
    category="transient|bug|unknown",
    retryable_read=EITHER,
    side_effect_state="none|unknown",
    raises="InvalidMessage|ConnectionClosedError|EOFError",
    reason="The server hung up during the handshake: no message was sent.",
)
async def ws_hung_up():
    import websockets

    with hanging_up() as url:
        await websockets.connect(url.replace("http", "ws"))


@scenario(
    "asyncio.streams_silent",
    lib="stdlib.asyncio",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="TimeoutError",
    reason="A home-made protocol: sent and not answered.",
)
async def streams_silent():
    import asyncio

    with silent() as url:
        reader, writer = await asyncio.open_connection(HOST, int(url.rpartition(":")[2]))
        writer.write(b"BOOK 7\n")
        async with asyncio.timeout(0.2):
            await reader.readline()
