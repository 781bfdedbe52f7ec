"""HTTP clients and thin clients of HTTP services."""

from __future__ import annotations

from _loopback import HOST, answering, closed_port, closed_url, hanging_up, silent
from registry import EITHER, scenario

# ------------------------------------------------------------------- niquests


@scenario(
    "niquests.refused",
    lib="niquests",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="ConnectionError",
    reason="Refused: nothing was sent.",
)
def niquests_refused():
    import niquests

    niquests.post(closed_url(), json={})


@scenario(
    "niquests.read_timeout",
    lib="niquests",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="ReadTimeout",
    reason="The POST was sent and not answered.",
)
def niquests_read_timeout():
    import niquests

    with silent() as url:
        niquests.post(url, json={}, timeout=0.3)


@scenario(
    "niquests.404",
    lib="niquests",
    category="not_found",
    retryable_read=False,
    side_effect_state="none",
    http_status=404,
    raises="HTTPError",
    reason="404 through raise_for_status.",
)
def niquests_404():
    import niquests

    with answering(404) as url:
        niquests.get(url).raise_for_status()


@scenario(
    "niquests.429",
    lib="niquests",
    category="rate_limited",
    retryable_read=True,
    side_effect_state="none",
    http_status=429,
    retry_after_s=21.0,
    raises="HTTPError",
    reason="429 with Retry-After.",
)
def niquests_429():
    import niquests

    with answering(429, headers={"Retry-After": "21"}) as url:
        niquests.post(url).raise_for_status()


# ------------------------------------------------------------------- httplib2


@scenario(
    "httplib2.refused",
    lib="httplib2",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="ConnectionRefusedError",
    reason="Refused: nothing was sent.",
)
def httplib2_refused():
    import httplib2

    httplib2.Http(timeout=1).request(closed_url(), "POST", body="{}")


@scenario(
    "httplib2.dns",
    lib="httplib2",
    category="transient|not_found|validation|permanent",
    retryable_read=EITHER,
    side_effect_state="none",
    raises="ServerNotFoundError",
    reason="The name does not resolve; nothing was sent.",
)
def httplib2_dns():
    import httplib2

    httplib2.Http(timeout=1).request("http://nowhere.invalid/")


@scenario(
    "httplib2.relative",
    lib="httplib2",
    category="validation|bug",
    retryable_read=False,
    side_effect_state="none",
    raises="RelativeURIError",
    reason="A URI without a scheme: never sent.",
)
def httplib2_relative():
    import httplib2

    httplib2.Http().request("/orders")


# -------------------------------------------------------------------- tornado


@scenario(
    "tornado.503",
    lib="tornado",
    category="transient",
    retryable_read=True,
    side_effect_state="none|unknown",
    http_status=503,
    raises="HTTPClientError",
    retry_after_s=2.0,
    reason="503 with Retry-After; the status is in .code.",
)
async def tornado_503():
    from tornado.httpclient import AsyncHTTPClient

    with answering(503, headers={"Retry-After": "2"}) as url:
        await AsyncHTTPClient().fetch(url, method="POST", body="{}")


@scenario(
    "tornado.timeout",
    lib="tornado",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="HTTPTimeoutError",
    reason="Sent and not answered; tornado numbers it 599.",
)
async def tornado_timeout():
    from tornado.httpclient import AsyncHTTPClient

    with silent() as url:
        await AsyncHTTPClient().fetch(url, method="POST", body="{}", request_timeout=0.3)


@scenario(
    "tornado.closed",
    lib="tornado",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="HTTPStreamClosedError",
    reason="Closed without an answer after the POST was read; numbered 599.",
)
async def tornado_closed():
    from tornado.httpclient import AsyncHTTPClient

    with hanging_up() as url:
        await AsyncHTTPClient().fetch(url, method="POST", body="{}")


# --------------------------------------------------------------------- pycurl


def curl(url, **options):
    import pycurl

    handle = pycurl.Curl()
    handle.setopt(pycurl.URL, url)
    handle.setopt(pycurl.WRITEFUNCTION, lambda _: None)
    for name, value in options.items():
        handle.setopt(getattr(pycurl, name), value)
    handle.perform()


@scenario(
    "pycurl.refused",
    lib="pycurl",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="error",
    reason="CURLE_COULDNT_CONNECT (7): nothing was sent.",
)
def pycurl_refused():
    curl(closed_url())


@scenario(
    "pycurl.timeout",
    lib="pycurl",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="error",
    reason="CURLE_OPERATION_TIMEDOUT (28) after the request was sent.",
)
def pycurl_timeout():
    with silent() as url:
        curl(url, TIMEOUT_MS=300, POSTFIELDS="a=1")


@scenario(
    "pycurl.malformed",
    lib="pycurl",
    category="validation|bug",
    retryable_read=False,
    side_effect_state="none",
    raises="error",
    reason="CURLE_URL_MALFORMAT (3): never sent.",
)
def pycurl_malformed():
    curl("http://[")


@scenario(
    "pycurl.empty_reply",
    lib="pycurl",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="error",
    reason="CURLE_GOT_NOTHING (52): closed without an answer.",
)
def pycurl_empty_reply():
    with hanging_up() as url:
        curl(url, POSTFIELDS="a=1")


@scenario(
    "pycurl.scheme",
    lib="pycurl",
    category="validation|bug|permanent",
    retryable_read=False,
    side_effect_state="none",
    raises="error",
    reason="CURLE_UNSUPPORTED_PROTOCOL (1): never sent.",
)
def pycurl_scheme():
    curl("htp://example.org/")


# --------------------------------------------------------------------- docker


def docker_api(url):
    import docker

    return docker.APIClient(base_url=url.replace("http://", "tcp://"), version="1.44", timeout=1)


@scenario(
    "docker.no_image",
    lib="docker",
    category="not_found",
    retryable_read=False,
    side_effect_state="none",
    http_status=404,
    raises="ImageNotFound",
    reason="The daemon knows no such image.",
)
def docker_no_image():
    with answering(404, {"message": "No such image: ghost:latest"}) as url:
        docker_api(url).inspect_image("ghost:latest")


@scenario(
    "docker.conflict",
    lib="docker",
    category="validation",
    retryable_read=False,
    side_effect_state="none",
    http_status=409,
    raises="APIError",
    reason="The container's name is taken.",
)
def docker_conflict():
    with answering(409, {"message": 'Conflict. The container name "/web" is already in use by container "abc"'}) as url:
        docker_api(url).create_container("busybox", name="web")


@scenario(
    "docker.refused",
    lib="docker",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="ConnectionError|DockerException",
    reason="The daemon is not there: nothing was sent.",
)
def docker_refused():
    docker_api(closed_url()).create_container("busybox")


@scenario(
    "docker.no_socket",
    lib="docker",
    category="bug|transient|not_found",
    retryable_read=EITHER,
    side_effect_state="none",
    raises="DockerException",
    reason="The daemon's socket file is missing: docker is not installed or not running.",
)
def docker_no_socket():
    import docker

    docker.DockerClient(base_url="unix:///nowhere/docker.sock")


# ----------------------------------------------------------------------- hvac


def vault(status, errors):
    import hvac

    with answering(status, {"errors": errors}) as url:
        hvac.Client(url=url, token="t").secrets.kv.v2.create_or_update_secret("app", {"a": "b"})


@scenario(
    "hvac.forbidden",
    lib="hvac",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    http_status=None,
    raises="Forbidden",
    reason="Vault denies the token.",
)
def hvac_forbidden():
    vault(403, ["permission denied"])


@scenario(
    "hvac.sealed",
    lib="hvac",
    category="transient|permanent|permission|bug",
    retryable_read=EITHER,
    side_effect_state="none|unknown",
    raises="VaultDown",
    reason="503: Vault is sealed until a person unseals it.",
)
def hvac_sealed():
    vault(503, ["Vault is sealed"])


@scenario(
    "hvac.missing",
    lib="hvac",
    category="not_found",
    retryable_read=False,
    side_effect_state="none",
    raises="InvalidPath",
    reason="404: no such path.",
)
def hvac_missing():
    vault(404, [])


@scenario(
    "hvac.bad_request",
    lib="hvac",
    category="validation",
    retryable_read=False,
    side_effect_state="none",
    raises="InvalidRequest",
    reason="400: wrong parameters.",
)
def hvac_bad_request():
    vault(400, ["missing data"])


# ------------------------------------------------------------ twilio, sendgrid


def twilio(status, code, message):
    from twilio.http.http_client import TwilioHttpClient
    from twilio.rest import Client

    with answering(
        status,
        {"code": code, "message": message, "status": status, "more_info": f"https://www.twilio.com/docs/errors/{code}"},
    ) as url:

        class Loopback(TwilioHttpClient):
            def request(self, method, target, *args, **kwargs):
                return super().request(method, url, *args, **kwargs)

        Client("AC0", "token", http_client=Loopback()).messages.create(to="+1", from_="+2", body="hi")


@scenario(
    "twilio.rate",
    lib="twilio",
    category="rate_limited",
    retryable_read=True,
    side_effect_state="none",
    http_status=429,
    raises="TwilioRestException",
    reason="20429: too many requests.",
)
def twilio_rate():
    twilio(429, 20429, "Too Many Requests")


@scenario(
    "twilio.bad_number",
    lib="twilio",
    category="validation",
    retryable_read=False,
    side_effect_state="none",
    http_status=400,
    raises="TwilioRestException",
    reason="21211: the number is invalid.",
)
def twilio_bad_number():
    twilio(400, 21211, "The 'To' number +1 is not a valid phone number.")


@scenario(
    "twilio.auth",
    lib="twilio",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    http_status=401,
    raises="TwilioRestException",
    reason="20003: authenticate.",
)
def twilio_auth():
    twilio(401, 20003, "Authenticate")


def sendgrid(status, body):
    from sendgrid import SendGridAPIClient

    with answering(status, body) as url:
        SendGridAPIClient("SG.x", host=url).client.mail.send.post(request_body={"a": 1})


@scenario(
    "sendgrid.unauthorized",
    lib="sendgrid",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    http_status=401,
    raises="UnauthorizedError",
    reason="The API key is wrong.",
)
def sendgrid_unauthorized():
    sendgrid(
        401,
        {"errors": [{"message": "The provided authorization grant is invalid, expired, or revoked", "field": None}]},
    )


@scenario(
    "sendgrid.too_large",
    lib="sendgrid",
    category="validation",
    retryable_read=False,
    side_effect_state="none",
    http_status=413,
    raises="PayloadTooLargeError",
    reason="The mail is too large.",
)
def sendgrid_too_large():
    sendgrid(413, {"errors": [{"message": "The JSON payload you have included in your request is too large."}]})


@scenario(
    "sendgrid.credits",
    lib="sendgrid",
    category="permission|permanent",
    retryable_read=False,
    side_effect_state="none",
    http_status=401,
    raises="UnauthorizedError",
    reason="401 because the month's mails are used up.",
)
def sendgrid_credits():
    sendgrid(401, {"errors": [{"message": "Maximum credits exceeded"}]})


# -------------------------------------------------------- a dozen REST clients


@scenario(
    "notion.not_found",
    lib="notion-client",
    category="not_found",
    retryable_read=False,
    side_effect_state="none",
    http_status=404,
    raises="APIResponseError",
    reason="object_not_found: missing, or not shared with the integration.",
)
def notion_not_found():
    notion(404, "object_not_found", "Could not find page with ID: 1.")


@scenario(
    "notion.rate",
    lib="notion-client",
    category="rate_limited",
    retryable_read=True,
    side_effect_state="none",
    http_status=429,
    retry_after_s=(3.0, None),
    raises="APIResponseError",
    reason="rate_limited.",
)
def notion_rate():
    notion(429, "rate_limited", "You have been rate limited. Please try again in a few minutes.", {"Retry-After": "3"})


@scenario(
    "notion.conflict",
    lib="notion-client",
    category="transient",
    retryable_read=True,
    side_effect_state="none|unknown",
    http_status=409,
    raises="APIResponseError",
    reason="conflict_error: a collision of concurrent saves; Notion says to try again.",
)
def notion_conflict():
    notion(409, "conflict_error", "Conflict occurred while saving. Please try again.")


@scenario(
    "notion.timeout",
    lib="notion-client",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="RequestTimeoutError",
    reason="Sent and not answered.",
)
def notion_timeout():
    from notion_client import Client

    with silent() as url:
        Client(auth="x", base_url=url, timeout_ms=300, **no_retry()).pages.retrieve("1")


def no_retry():
    import inspect

    from notion_client.client import ClientOptions

    return {"retry": False} if "retry" in inspect.signature(ClientOptions).parameters else {}


def notion(status, code, message, headers=None):
    from notion_client import Client

    with answering(status, {"object": "error", "status": status, "code": code, "message": message}, headers) as url:
        Client(auth="x", base_url=url, **no_retry()).pages.retrieve("1")


def jira(status, body):
    from jira import JIRA

    with answering(status, body) as url:
        JIRA(url, get_server_info=False, max_retries=0).issue("A-1")


@scenario(
    "jira.no_issue",
    lib="jira",
    category="not_found|permission",
    retryable_read=False,
    side_effect_state="none",
    http_status=404,
    raises="JIRAError",
    reason="No such issue, or no right to see it.",
)
def jira_no_issue():
    jira(404, {"errorMessages": ["Issue does not exist or you do not have permission to see it."], "errors": {}})


@scenario(
    "jira.bad_jql",
    lib="jira",
    category="validation",
    retryable_read=False,
    side_effect_state="none",
    http_status=400,
    raises="JIRAError",
    reason="JQL that does not parse.",
)
def jira_bad_jql():
    jira(400, {"errorMessages": ["Error in the JQL Query: Expecting operator but got 'foo'."]})


def gitlab(status, body, headers=None):
    import gitlab

    with answering(status, body, headers) as url:
        gitlab.Gitlab(url, private_token="x", retry_transient_errors=False, timeout=2).projects.get(
            1, obey_rate_limit=False
        )


@scenario(
    "gitlab.not_found",
    lib="python-gitlab",
    category="not_found",
    retryable_read=False,
    side_effect_state="none",
    raises="GitlabGetError",
    reason="404 Project Not Found; the status is in .response_code.",
)
def gitlab_not_found():
    gitlab(404, {"message": "404 Project Not Found"})


@scenario(
    "gitlab.auth",
    lib="python-gitlab",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    raises="GitlabAuthenticationError",
    reason="401.",
)
def gitlab_auth():
    gitlab(401, {"message": "401 Unauthorized"})


@scenario(
    "gitlab.rate",
    lib="python-gitlab",
    category="rate_limited",
    retryable_read=True,
    side_effect_state="none",
    retry_after_s=(14.0, None),
    raises="GitlabGetError|GitlabHttpError",
    reason="429; the exception keeps only the status and the body.",
)
def gitlab_rate():
    gitlab(429, {"message": "Retry later"}, {"Retry-After": "14"})


def confluence(status, body):
    from atlassian import Confluence

    with answering(status, body) as url:
        Confluence(url=url, username="a", password="b", backoff_and_retry=False).create_page("SPACE", "title", "body")


@scenario(
    "atlassian.permission",
    lib="atlassian-python-api",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    raises="ApiPermissionError|HTTPError",
    reason="403: may not create pages there.",
)
def atlassian_permission():
    confluence(403, {"statusCode": 403, "message": "User not permitted to create content in space"})


def tweet(status, body, headers=None):
    import tweepy

    class Loopback(tweepy.Client):
        def request(self, method, route, **kwargs):
            import requests

            with answering(status, body, headers) as url:
                response = requests.request(method, url)
            kinds = {
                400: tweepy.BadRequest,
                401: tweepy.Unauthorized,
                403: tweepy.Forbidden,
                404: tweepy.NotFound,
                429: tweepy.TooManyRequests,
            }
            raise kinds.get(status, tweepy.TwitterServerError)(response)

    Loopback("x").create_tweet(text="hi")


@scenario(
    "tweepy.rate",
    lib="tweepy",
    category="rate_limited",
    retryable_read=True,
    side_effect_state="none",
    http_status=429,
    constructed=True,
    raises="TooManyRequests",
    reason="429; the client's own dispatch is rebuilt around a real response.",
)
def tweepy_rate():
    tweet(429, {"title": "Too Many Requests", "detail": "Too Many Requests", "type": "about:blank", "status": 429})


@scenario(
    "tweepy.duplicate",
    lib="tweepy",
    category="permission|validation",
    retryable_read=False,
    side_effect_state="none",
    http_status=403,
    constructed=True,
    raises="Forbidden",
    reason="403: the tweet is a duplicate.",
)
def tweepy_duplicate():
    tweet(
        403,
        {
            "detail": "You are not allowed to create a Tweet with duplicate content.",
            "type": "about:blank",
            "title": "Forbidden",
            "status": 403,
        },
    )


def telegram(status, body):
    import asyncio

    from telegram import Bot

    async def send():
        with answering(status, body) as url:
            async with Bot("1:x", base_url=url + "/bot") as bot:
                await bot.send_message(1, "hi")

    return asyncio.run(send())


@scenario(
    "telegram.flood",
    lib="python-telegram-bot",
    category="rate_limited",
    retryable_read=True,
    side_effect_state="none",
    retry_after_s=17.0,
    raises="RetryAfter",
    reason="Flood control: .retry_after says how long.",
)
def telegram_flood():
    telegram(
        429,
        {
            "ok": False,
            "error_code": 429,
            "description": "Too Many Requests: retry after 17",
            "parameters": {"retry_after": 17},
        },
    )


@scenario(
    "telegram.blocked",
    lib="python-telegram-bot",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    raises="Forbidden",
    reason="The bot was blocked by the user.",
)
def telegram_blocked():
    telegram(403, {"ok": False, "error_code": 403, "description": "Forbidden: bot was blocked by the user"})


@scenario(
    "telegram.no_chat",
    lib="python-telegram-bot",
    category="not_found|validation",
    retryable_read=False,
    side_effect_state="none",
    raises="BadRequest",
    reason="Chat not found; a NetworkError by type.",
)
def telegram_no_chat():
    telegram(400, {"ok": False, "error_code": 400, "description": "Bad Request: chat not found"})


def minio(status, code, message):
    import io

    from minio import Minio

    xml = f"<Error><Code>{code}</Code><Message>{message}</Message><Resource>/b/k</Resource><RequestId>1</RequestId><HostId>h</HostId></Error>"
    import urllib3

    with answering(status, xml, {"Content-Type": "application/xml"}) as url:
        pool = urllib3.PoolManager(retries=False)
        Minio(
            endpoint=url.removeprefix("http://"),
            access_key="a",
            secret_key="b",
            secure=False,
            region="us-east-1",
            http_client=pool,
        ).put_object(bucket_name="box", object_name="k", data=io.BytesIO(b"x"), length=1)


@scenario(
    "minio.no_bucket",
    lib="minio",
    category="not_found",
    retryable_read=False,
    side_effect_state="none",
    raises="S3Error",
    reason="NoSuchBucket.",
)
def minio_no_bucket():
    minio(404, "NoSuchBucket", "The specified bucket does not exist")


@scenario(
    "minio.slow_down",
    lib="minio",
    category="rate_limited",
    retryable_read=True,
    side_effect_state="none|unknown",
    raises="S3Error",
    reason="SlowDown.",
)
def minio_slow_down():
    minio(503, "SlowDown", "Please reduce your request rate.")


@scenario(
    "minio.quota",
    lib="minio",
    category="permanent|validation|permission",
    retryable_read=False,
    side_effect_state="none",
    raises="S3Error",
    reason="The bucket's quota is used up.",
)
def minio_quota():
    minio(400, "XMinioAdminBucketQuotaExceeded", "Bucket quota exceeded")


def influx(status, body, headers=None):
    from influxdb_client import InfluxDBClient
    from influxdb_client.client.write_api import SYNCHRONOUS

    with answering(status, body, headers) as url:
        InfluxDBClient(url=url, token="t", org="o").write_api(write_options=SYNCHRONOUS).write("b", "o", "m v=1")


@scenario(
    "influxdb.unauthorized",
    lib="influxdb-client",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    http_status=401,
    raises="ApiException",
    reason="401.",
)
def influx_unauthorized():
    influx(401, {"code": "unauthorized", "message": "unauthorized access"})


@scenario(
    "influxdb.field_conflict",
    lib="influxdb-client",
    category="validation",
    retryable_read=False,
    side_effect_state="none|unknown",
    http_status=422,
    raises="ApiException",
    reason="A field of another type.",
)
def influx_conflict():
    influx(
        422,
        {
            "code": "unprocessable entity",
            "message": "failure writing points to database: partial write: field type conflict",
        },
    )


@scenario(
    "qdrant.missing",
    lib="qdrant-client",
    category="not_found",
    retryable_read=False,
    side_effect_state="none",
    raises="UnexpectedResponse",
    http_status=404,
    reason="No such collection.",
)
def qdrant_missing():
    from qdrant_client import QdrantClient

    with answering(404, {"status": {"error": "Not found: Collection `docs` doesn't exist!"}, "time": 0.1}) as url:
        QdrantClient(url=url, check_compatibility=False).get_collection("docs")


@scenario(
    "qdrant.refused",
    lib="qdrant-client",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="ResponseHandlingException",
    reason="Refused: the source of the exception says so.",
)
def qdrant_refused():
    from qdrant_client import QdrantClient

    QdrantClient(url=closed_url(), check_compatibility=False).delete_collection("docs")


def opensearch(**kwargs):
    from opensearchpy import OpenSearch

    return OpenSearch(max_retries=0, timeout=0.4, **kwargs)


@scenario(
    "opensearch.refused",
    lib="opensearch-py",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="ConnectionError",
    reason="Refused; opensearchpy's own ConnectionError.",
)
def opensearch_refused():
    opensearch(hosts=[closed_url()]).index(index="a", body={})


@scenario(
    "opensearch.timeout",
    lib="opensearch-py",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="ConnectionTimeout",
    reason="The document was sent and not answered.",
)
def opensearch_timeout():
    with silent() as url:
        opensearch(hosts=[url]).index(index="a", body={})


@scenario(
    "opensearch.rejected",
    lib="opensearch-py",
    category="rate_limited|transient",
    retryable_read=True,
    side_effect_state="none",
    raises="TransportError",
    http_status=429,
    reason="The write queue is full.",
)
def opensearch_rejected():
    with answering(
        429,
        {
            "error": {"type": "rejected_execution_exception", "reason": "rejected execution of coordinating operation"},
            "status": 429,
        },
    ) as url:
        opensearch(hosts=[url]).index(index="a", body={})


@scenario(
    "opensearch.version",
    lib="opensearch-py",
    category="validation|transient",
    retryable_read=False,
    side_effect_state="none",
    raises="ConflictError",
    http_status=409,
    reason="Version conflict: read again first.",
)
def opensearch_version():
    body = {
        "error": {
            "type": "version_conflict_engine_exception",
            "reason": "[1]: version conflict, current version [2] is different than the one provided [1]",
        },
        "status": 409,
    }
    with answering(409, body) as url:
        opensearch(hosts=[url]).index(index="a", body={})


@scenario(
    "meilisearch.no_index",
    lib="meilisearch",
    category="not_found",
    retryable_read=False,
    side_effect_state="none",
    http_status=404,
    raises="MeilisearchApiError",
    reason="index_not_found.",
)
def meili_no_index():
    import meilisearch

    with answering(
        404,
        {
            "message": "Index `a` not found.",
            "code": "index_not_found",
            "type": "invalid_request",
            "link": "https://docs.meilisearch.com/errors#index_not_found",
        },
    ) as url:
        meilisearch.Client(url).get_index("a")


@scenario(
    "meilisearch.refused",
    lib="meilisearch",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="MeilisearchCommunicationError",
    reason="Refused: nothing was sent.",
)
def meili_refused():
    import meilisearch

    meilisearch.Client(closed_url()).index("a").add_documents([{"id": 1}])


@scenario(
    "tavily.bad_key",
    lib="tavily",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    raises="InvalidAPIKeyError",
    reason="The key is wrong.",
)
def tavily_bad_key():
    from tavily import TavilyClient

    with answering(401, {"detail": {"error": "Unauthorized: missing or invalid API key."}}) as url:
        TavilyClient("tvly-x", api_base_url=url).search("a")


@scenario(
    "tavily.usage",
    lib="tavily",
    category="permanent|rate_limited",
    retryable_read=EITHER,
    side_effect_state="none",
    raises="UsageLimitExceededError",
    reason="429: the plan's limit, or too fast; the class stands for both.",
)
def tavily_usage():
    from tavily import TavilyClient

    with answering(
        429,
        {
            "detail": {
                "error": "Your request has been blocked due to excessive requests. Please reduce rate of requests."
            }
        },
    ) as url:
        TavilyClient("tvly-x", api_base_url=url).search("a")


def supabase(status, body):
    from postgrest import SyncPostgrestClient

    with answering(status, body) as url:
        SyncPostgrestClient(url).table("t").insert({"a": 1}).execute()


@scenario(
    "postgrest.duplicate",
    lib="postgrest",
    category="validation",
    retryable_read=False,
    side_effect_state="none",
    raises="APIError",
    reason="SQLSTATE 23505 in .code.",
)
def postgrest_duplicate():
    supabase(
        409,
        {
            "code": "23505",
            "message": 'duplicate key value violates unique constraint "t_pkey"',
            "details": "Key (id)=(1) already exists.",
            "hint": None,
        },
    )


@scenario(
    "postgrest.rls",
    lib="postgrest",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    raises="APIError",
    reason="SQLSTATE 42501: row-level security.",
)
def postgrest_rls():
    supabase(
        403,
        {
            "code": "42501",
            "message": 'new row violates row-level security policy for table "t"',
            "details": None,
            "hint": None,
        },
    )


@scenario(
    "postgrest.no_table",
    lib="postgrest",
    category="not_found",
    retryable_read=False,
    side_effect_state="none",
    raises="APIError",
    reason="PGRST205: no such table in the schema cache.",
)
def postgrest_no_table():
    supabase(
        404,
        {
            "code": "PGRST205",
            "message": "Could not find the table 'public.t' in the schema cache",
            "details": None,
            "hint": None,
        },
    )


def salesforce(status, code, message):
    from simple_salesforce import Salesforce

    with answering(status, [{"message": message, "errorCode": code}]) as url:
        client = Salesforce(instance_url=url, session_id="x")
        client.base_url = url + "/"
        client._call_salesforce("POST", url + "/sobjects/Account")


@scenario(
    "salesforce.expired",
    lib="simple-salesforce",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    raises="SalesforceExpiredSession",
    reason="INVALID_SESSION_ID.",
)
def salesforce_expired():
    salesforce(401, "INVALID_SESSION_ID", "Session expired or invalid")


@scenario(
    "salesforce.limit",
    lib="simple-salesforce",
    category="permanent|rate_limited",
    retryable_read=EITHER,
    side_effect_state="none",
    raises="SalesforceRefusedRequest",
    reason="REQUEST_LIMIT_EXCEEDED: the day's API calls are used up, with status 403.",
)
def salesforce_limit():
    salesforce(403, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.")


@scenario(
    "salesforce.locked_row",
    lib="simple-salesforce",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="SalesforceMalformedRequest",
    reason="UNABLE_TO_LOCK_ROW: another transaction holds it; with status 400.",
)
def salesforce_locked_row():
    salesforce(400, "UNABLE_TO_LOCK_ROW", "unable to obtain exclusive access to this record")


@scenario(
    "pyairtable.bad_field",
    lib="pyairtable",
    category="validation",
    retryable_read=False,
    side_effect_state="none",
    http_status=422,
    raises="HTTPError",
    reason="UNKNOWN_FIELD_NAME.",
)
def airtable_bad_field():
    from pyairtable import Api

    with answering(422, {"error": {"type": "UNKNOWN_FIELD_NAME", "message": 'Unknown field name: "Nme"'}}) as url:
        Api("x", endpoint_url=url).table("app", "t").create({"Nme": 1})


@scenario(
    "hubspot.rate",
    lib="hubspot",
    category="rate_limited",
    retryable_read=True,
    side_effect_state="none",
    http_status=429,
    raises="ApiException|TooManyRequestsException",
    reason="The ten-second limit.",
)
def hubspot_rate():
    from hubspot.crm.contacts import ApiClient, BasicApi, Configuration

    with answering(
        429,
        {
            "status": "error",
            "message": "You have reached your ten_secondly_rolling limit.",
            "errorType": "RATE_LIMIT",
            "policyName": "TEN_SECONDLY_ROLLING",
        },
    ) as url:
        configuration = Configuration(host=url)
        configuration.retries = False
        BasicApi(ApiClient(configuration)).get_page()


@scenario(
    "clickhouse.no_table",
    lib="clickhouse-connect",
    category="not_found",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="DatabaseError",
    reason="Code 60, UNKNOWN_TABLE, with status 404.",
)
def clickhouse_no_table():
    clickhouse(404, "Code: 60. DB::Exception: Table default.t does not exist. (UNKNOWN_TABLE) (version 26.1.1)", "60")


@scenario(
    "clickhouse.syntax",
    lib="clickhouse-connect",
    category="validation",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="DatabaseError",
    reason="Code 62, SYNTAX_ERROR, with status 400.",
)
def clickhouse_syntax():
    clickhouse(
        400,
        "Code: 62. DB::Exception: Syntax error: failed at position 1 ('SELEC'). (SYNTAX_ERROR) (version 26.1.1)",
        "62",
    )


@scenario(
    "clickhouse.too_many",
    lib="clickhouse-connect",
    category="transient|rate_limited",
    retryable_read=True,
    side_effect_state="none|unknown",
    raises="DatabaseError|OperationalError",
    reason="Code 202, TOO_MANY_SIMULTANEOUS_QUERIES, with status 503.",
)
def clickhouse_too_many():
    clickhouse(
        503,
        "Code: 202. DB::Exception: Too many simultaneous queries. Maximum: 100. (TOO_MANY_SIMULTANEOUS_QUERIES)",
        "202",
    )


@scenario(
    "clickhouse.refused",
    lib="clickhouse-connect",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="OperationalError",
    reason="Refused: nothing was sent.",
)
def clickhouse_refused():
    import clickhouse_connect

    clickhouse_connect.get_client(host=HOST, port=closed_port(), query_retries=0)


def clickhouse(status, text, code):
    import clickhouse_connect

    with answering(status, text, {"X-ClickHouse-Exception-Code": code}) as url:
        clickhouse_connect.get_client(host=HOST, port=int(url.rpartition(":")[2]), query_retries=0)


# ---------------------------------------------------------------- stdlib, SOAP


@scenario(
    "xmlrpc.fault",
    lib="stdlib.xmlrpc",
    category="unknown|bug",
    retryable_read=EITHER,
    side_effect_state="unknown",
    raises="Fault",
    reason="A fault whose number only the server understands.",
)
def xmlrpc_fault():
    import xmlrpc.client

    body = xmlrpc.client.dumps(xmlrpc.client.Fault(7, "operation failed"))
    with answering(200, body, {"Content-Type": "text/xml"}) as url:
        xmlrpc.client.ServerProxy(url).book()


@scenario(
    "xmlrpc.503",
    lib="stdlib.xmlrpc",
    category="transient",
    retryable_read=True,
    side_effect_state="none|unknown",
    raises="ProtocolError",
    reason="The HTTP status is in .errcode.",
)
def xmlrpc_503():
    import xmlrpc.client

    with answering(503) as url:
        xmlrpc.client.ServerProxy(url).book()


@scenario(
    "zeep.client_fault",
    lib="zeep",
    category="validation|unknown",
    retryable_read=False,
    side_effect_state="none|unknown",
    constructed=True,
    raises="Fault",
    reason="soap:Client: the message is wrong.",
)
def zeep_client_fault():
    from zeep.exceptions import Fault

    raise Fault("Invalid order number", code="soap:Client")


@scenario(
    "zeep.server_fault",
    lib="zeep",
    category="transient|unknown|bug",
    retryable_read=EITHER,
    side_effect_state="unknown",
    constructed=True,
    raises="Fault",
    reason="soap:Server: the server failed.",
)
def zeep_server_fault():
    from zeep.exceptions import Fault

    raise Fault("Object reference not set", code="soap:Server")


@scenario(
    "zeep.transport",
    lib="zeep",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    constructed=True,
    raises="TransportError",
    reason="The status is in .status_code.",
)
def zeep_transport():
    from zeep.exceptions import TransportError

    raise TransportError("Server returned HTTP status 502 (no content available)", status_code=502)
