"""Cloud SDKs and LLM SDKs."""

from __future__ import annotations

from _loopback import answering, closed_url, silent
from registry import EITHER, scenario

# ---------------------------------------------------------------------- Azure


def blob(url):
    from azure.storage.blob import BlobClient

    return BlobClient(
        f"{url}/account", "box", "key", credential="YQ==", retry_total=0, connection_timeout=0.5, read_timeout=0.4
    )


def azure(name, status, code, category, retry, state, reason, *, raises, after=None, headers=None):
    @scenario(
        f"azure.{name}",
        lib="azure-storage-blob",
        category=category,
        retryable_read=retry,
        side_effect_state=state,
        http_status=status,
        retry_after_s=after,
        raises=raises,
        reason=reason,
    )
    def run():
        xml = f'<?xml version="1.0" encoding="utf-8"?><Error><Code>{code}</Code><Message>{code} happened.</Message></Error>'
        with answering(
            status, xml, {"Content-Type": "application/xml", "x-ms-error-code": code, **(headers or {})}
        ) as url:
            blob(url).upload_blob(b"x")


azure(
    "exists",
    409,
    "BlobAlreadyExists",
    "validation",
    False,
    "none",
    "The blob is there already.",
    raises="ResourceExistsError",
)
azure(
    "lease",
    412,
    "LeaseIdMissing",
    "validation|permission|transient",
    False,
    "none",
    "The blob is leased and the request does not name the lease.",
    raises="HttpResponseError|ResourceModifiedError",
)
azure(
    "auth",
    403,
    "AuthenticationFailed",
    "permission",
    False,
    "none",
    "Wrong key.",
    raises="ClientAuthenticationError|HttpResponseError",
)
azure(
    "busy",
    503,
    "ServerBusy",
    "rate_limited|transient",
    True,
    "none|unknown",
    "Azure throttles with 503 ServerBusy.",
    raises="HttpResponseError",
    headers={"Retry-After": "9"},
    after=9.0,
)
azure(
    "timeout",
    500,
    "OperationTimedOut",
    "transient",
    True,
    "unknown",
    "The operation may or may not have succeeded, say the docs.",
    raises="HttpResponseError",
)
azure(
    "disabled",
    403,
    "AccountIsDisabled",
    "permission|permanent",
    False,
    "none",
    "The account is disabled.",
    raises="HttpResponseError|ClientAuthenticationError",
)


@scenario(
    "azure.refused",
    lib="azure-storage-blob",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="ServiceRequestError",
    reason="Refused: nothing was sent.",
)
def azure_refused():
    blob(closed_url()).upload_blob(b"x")


@scenario(
    "azure.read_timeout",
    lib="azure-storage-blob",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="ServiceResponseTimeoutError|ServiceResponseError",
    reason="Sent and not answered.",
)
def azure_read_timeout():
    with silent() as url:
        blob(url).upload_blob(b"x")


@scenario(
    "azure.no_identity",
    lib="azure-identity",
    category="permission|bug",
    retryable_read=False,
    side_effect_state="none",
    raises="CredentialUnavailableError",
    reason="The environment holds no credentials.",
)
def azure_no_identity():
    from azure.identity import EnvironmentCredential

    EnvironmentCredential().get_token("https://management.azure.com/.default")


# --------------------------------------------------------------------- Google


def bucket(url):
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import storage

    return storage.Client("p", AnonymousCredentials(), client_options={"api_endpoint": url}).bucket("b")


def gcs(name, status, reason_code, message, category, retry, state, reason, *, raises, after=None, headers=None):
    @scenario(
        f"gcs.{name}",
        lib="google-cloud-storage",
        category=category,
        retryable_read=retry,
        side_effect_state=state,
        http_status=status,
        retry_after_s=after,
        raises=raises,
        reason=reason,
    )
    def run():
        body = {
            "error": {
                "code": status,
                "message": message,
                "errors": [{"message": message, "domain": "global", "reason": reason_code}],
            }
        }
        with answering(status, body, headers) as url:
            bucket(url).blob("k").upload_from_string("x", retry=None)


gcs(
    "missing",
    404,
    "notFound",
    "The specified bucket does not exist.",
    "not_found",
    False,
    "none",
    "No such bucket.",
    raises="NotFound",
)
gcs(
    "forbidden",
    403,
    "forbidden",
    "x does not have storage.objects.create access.",
    "permission",
    False,
    "none",
    "Not allowed.",
    raises="Forbidden",
)
gcs(
    "rate",
    429,
    "rateLimitExceeded",
    "The object exceeded the rate limit for object mutation operations.",
    "rate_limited",
    True,
    "none",
    "One write a second for one object.",
    raises="TooManyRequests",
)
gcs(
    "backend",
    503,
    "backendError",
    "We encountered an internal error. Please try again.",
    "transient",
    True,
    "none|unknown",
    "backendError.",
    raises="ServiceUnavailable",
)
gcs(
    "precondition",
    412,
    "conditionNotMet",
    "At least one of the pre-conditions you specified did not hold.",
    "validation",
    False,
    "none",
    "The generation does not match.",
    raises="PreconditionFailed",
)


@scenario(
    "gcs.refused",
    lib="google-cloud-storage",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="ConnectionError|RetryError",
    reason="Refused: nothing was sent.",
)
def gcs_refused():
    bucket(closed_url()).blob("k").upload_from_string("x", retry=None)


def sheets(name, status, reason_code, message, category, retry, state, reason, *, code_status=None):
    @scenario(
        f"googleapi.{name}",
        lib="google-api-python-client",
        category=category,
        retryable_read=retry,
        side_effect_state=state,
        http_status=status,
        raises="HttpError",
        reason=reason,
    )
    def run():
        import httplib2
        from googleapiclient.http import HttpRequest

        body = {
            "error": {
                "code": status,
                "message": message,
                "errors": [{"message": message, "domain": "usageLimits", "reason": reason_code}],
                **({"status": code_status} if code_status else {}),
            }
        }
        with answering(status, body) as url:
            HttpRequest(httplib2.Http(), lambda response, content: content, url, method="POST", body="{}").execute()


sheets(
    "user_rate",
    403,
    "userRateLimitExceeded",
    "User Rate Limit Exceeded",
    "rate_limited",
    True,
    "none",
    "Google's per-user rate limit comes as 403.",
)
sheets(
    "daily",
    403,
    "dailyLimitExceeded",
    "Daily Limit Exceeded",
    "permanent|rate_limited",
    False,
    "none",
    "The day's quota is used up: retrying within the turn is futile.",
)
sheets(
    "insufficient",
    403,
    "insufficientPermissions",
    "Insufficient Permission",
    "permission",
    False,
    "none",
    "The scope is missing.",
    code_status="PERMISSION_DENIED",
)
sheets(
    "not_enabled",
    403,
    "accessNotConfigured",
    "Sheets API has not been used in project 1 before or it is disabled.",
    "permission|bug|permanent",
    False,
    "none",
    "The API is not enabled.",
    code_status="PERMISSION_DENIED",
)
sheets(
    "bad_range",
    400,
    "badRequest",
    "Unable to parse range: A:",
    "validation",
    False,
    "none",
    "A range that does not parse.",
    code_status="INVALID_ARGUMENT",
)


def gemini(name, status, code_status, message, category, retry, state, reason, *, raises, after=None, details=()):
    @scenario(
        f"genai.{name}",
        lib="google-genai",
        category=category,
        retryable_read=retry,
        side_effect_state=state,
        http_status=status,
        retry_after_s=after,
        raises=raises,
        reason=reason,
    )
    def run():
        from google import genai

        with answering(
            status, {"error": {"code": status, "message": message, "status": code_status, "details": list(details)}}
        ) as url:
            client = genai.Client(api_key="x", http_options={"base_url": url})
            client.models.generate_content(model="gemini", contents="hi")


gemini(
    "quota",
    429,
    "RESOURCE_EXHAUSTED",
    "You exceeded your current quota, please check your plan and billing details.",
    "permanent|rate_limited",
    EITHER,
    "none",
    "Google says this of per-minute limits as well.",
    raises="ClientError",
)
gemini(
    "overloaded",
    503,
    "UNAVAILABLE",
    "The model is overloaded. Please try again later.",
    "transient|rate_limited",
    True,
    "none|unknown",
    "Overloaded.",
    raises="ServerError",
)
gemini(
    "bad_key",
    400,
    "INVALID_ARGUMENT",
    "API key not valid. Please pass a valid API key.",
    "permission",
    False,
    "none",
    "A wrong key comes as 400 INVALID_ARGUMENT.",
    raises="ClientError",
    details=[
        {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
    ],
)
gemini(
    "overflow",
    400,
    "INVALID_ARGUMENT",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "validation",
    False,
    "none",
    "Too long for the model.",
    raises="ClientError",
)


# ----------------------------------------------------------- LLM and embedding


def groq(name, status, body, category, retry, state, reason, *, raises, headers=None, after=None):
    @scenario(
        f"groq.{name}",
        lib="groq",
        category=category,
        retryable_read=retry,
        side_effect_state=state,
        http_status=status,
        retry_after_s=after,
        raises=raises,
        reason=reason,
    )
    def run():
        import groq

        with answering(status, {"error": body}, headers) as url:
            groq.Groq(api_key="x", base_url=url, max_retries=0).chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hi"}]
            )


groq(
    "rate",
    429,
    {
        "message": "Rate limit reached for model `m` on tokens per minute (TPM): Limit 6000, Used 5900. Please try again in 1.2s.",
        "type": "tokens",
        "code": "rate_limit_exceeded",
    },
    "rate_limited",
    True,
    "none",
    "Tokens per minute.",
    raises="RateLimitError",
    headers={"retry-after": "2"},
    after=2.0,
)
groq(
    "too_large",
    413,
    {
        "message": "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.",
        "type": "tokens",
        "code": "rate_limit_exceeded",
    },
    "validation|rate_limited",
    False,
    "none",
    "One request over the whole minute's limit never fits, whatever its code says.",
    raises="APIStatusError",
)
groq(
    "decommissioned",
    400,
    {
        "message": "The model `m` has been decommissioned and is no longer supported.",
        "type": "invalid_request_error",
        "code": "model_decommissioned",
    },
    "permanent|not_found|validation",
    False,
    "none",
    "The model was withdrawn.",
    raises="BadRequestError",
)


@scenario(
    "groq.refused",
    lib="groq",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="APIConnectionError",
    reason="Refused; only the cause says so.",
)
def groq_refused():
    import groq

    groq.Groq(api_key="x", base_url=closed_url(), max_retries=0).models.list()


@scenario(
    "groq.timeout",
    lib="groq",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="APITimeoutError",
    reason="Sent and not answered.",
)
def groq_timeout():
    import groq

    with silent() as url:
        groq.Groq(api_key="x", base_url=url, max_retries=0, timeout=0.3).models.list()


def cohere(name, status, body, category, retry, state, reason, *, raises):
    @scenario(
        f"cohere.{name}",
        lib="cohere",
        category=category,
        retryable_read=retry,
        side_effect_state=state,
        http_status=status,
        raises=raises,
        reason=reason,
    )
    def run():
        import cohere

        with answering(status, body) as url:
            cohere.ClientV2(api_key="x", base_url=url).chat(
                model="m", messages=[{"role": "user", "content": "hi"}], request_options={"max_retries": 0}
            )


cohere(
    "rate",
    429,
    {"message": "You are using a Trial key, which is limited to 10 API calls / minute."},
    "rate_limited|permanent",
    True,
    "none",
    "The trial key's minute limit.",
    raises="TooManyRequestsError",
)
cohere("token", 401, {"message": "invalid api token"}, "permission", False, "none", "401.", raises="UnauthorizedError")
cohere(
    "model",
    404,
    {"message": "model 'm' not found, make sure the correct model ID was used"},
    "not_found",
    False,
    "none",
    "No such model.",
    raises="NotFoundError",
)


def mistral(name, status, body, category, retry, state, reason, *, raises):
    @scenario(
        f"mistral.{name}",
        lib="mistralai",
        category=category,
        retryable_read=retry,
        side_effect_state=state,
        http_status=status,
        raises=raises,
        reason=reason,
    )
    def run():
        try:
            from mistralai import Mistral
        except ImportError:
            from mistralai.client import Mistral

        with answering(status, body) as url:
            Mistral(api_key="x", server_url=url).chat.complete(model="m", messages=[{"role": "user", "content": "hi"}])


mistral(
    "rate",
    429,
    {"object": "error", "message": "Requests rate limit exceeded", "type": "rate_limited", "code": "1300"},
    "rate_limited",
    True,
    "none",
    "Requests a second.",
    raises="SDKError",
)
mistral(
    "422",
    422,
    {"detail": [{"type": "missing", "loc": ["body", "messages"], "msg": "Field required", "input": {}}]},
    "validation",
    False,
    "none",
    "A field is missing.",
    raises="HTTPValidationError|SDKError",
)
mistral(
    "500",
    500,
    {"object": "error", "message": "Service unavailable.", "type": "internal_server_error", "code": "1000"},
    "transient|unknown",
    True,
    "unknown",
    "The server failed.",
    raises="SDKError",
)


@scenario(
    "mistral.refused",
    lib="mistralai",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="ConnectError",
    reason="Refused.",
)
def mistral_refused():
    try:
        from mistralai import Mistral
    except ImportError:
        from mistralai.client import Mistral

    Mistral(api_key="x", server_url=closed_url()).models.list()


# ------------------------------------------------------------ returned values


@scenario(
    "msal.invalid_grant",
    lib="msal",
    category="permission",
    retryable_read=False,
    side_effect_state="none|unknown",
    returns=True,
    tags="returned",
    reason="MSAL returns its errors: the refresh token has expired.",
)
def msal_invalid_grant():
    return {
        "error": "invalid_grant",
        "error_description": "AADSTS700082: The refresh token has expired due to inactivity.",
        "error_codes": [700082],
        "correlation_id": "1",
        "suberror": "bad_token",
    }


@scenario(
    "msal.interaction",
    lib="msal",
    category="permission",
    retryable_read=False,
    side_effect_state="none|unknown",
    returns=True,
    tags="returned",
    reason="A person must sign in again.",
)
def msal_interaction():
    return {
        "error": "interaction_required",
        "error_description": "AADSTS50076: Due to a configuration change made by your administrator, you must use multi-factor authentication",
        "suberror": "basic_action",
    }


@scenario(
    "bedrock.tool_status",
    lib="returned",
    category="transient",
    retryable_read=True,
    side_effect_state="none|unknown",
    returns=True,
    tags="returned",
    reason="A tool result with status error, in AWS's shape.",
)
def bedrock_tool_status():
    return {
        "toolUseId": "1",
        "status": "error",
        "content": [{"text": "Connection timed out while calling the billing service"}],
    }


@scenario(
    "problem_json",
    lib="returned",
    category="permanent|permission",
    retryable_read=False,
    side_effect_state="none",
    returns=True,
    tags="returned",
    reason="RFC 9457: out of credit.",
)
def problem_json():
    return {
        "type": "https://example.com/probs/out-of-credit",
        "title": "You do not have enough credit.",
        "status": 403,
        "detail": "Your current balance is 30, but that costs 50.",
    }


@scenario(
    "ok.status_field",
    lib="returned",
    category="ok",
    retryable_read=False,
    side_effect_state="committed",
    returns=True,
    tags="returned negative",
    reason="An order whose status is 'failed' would be news; this one is 'open'. Its error field is empty.",
)
def ok_status_field():
    return {"order": 7, "status": "open", "error": "", "errors": None}


@scenario(
    "ok.percent",
    lib="returned",
    category="ok",
    retryable_read=False,
    side_effect_state="committed",
    returns=True,
    tags="returned negative",
    reason="A regression's standard error is no error.",
)
def ok_percent():
    return {"estimate": 4.2, "error": 0.0, "n": 200, "code": 3}


@scenario(
    "ok.status_number",
    lib="returned",
    category="ok",
    retryable_read=False,
    side_effect_state="committed",
    returns=True,
    tags="returned negative",
    reason="A monitoring tool's answer: the status it saw is its content.",
)
def ok_status_number():
    return [{"url": "https://example.org", "status": 503, "checked": "12:00"}]
