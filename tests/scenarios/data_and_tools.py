"""Parsers, validators, data frames, identity tokens, and how tools wrap errors."""

from __future__ import annotations

from _loopback import answering, closed_url, silent
from registry import EITHER, scenario

# ----------------------------------------------------------------- validators


@scenario(
    "marshmallow.invalid",
    lib="marshmallow",
    category="validation",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="ValidationError",
    reason="The arguments break the schema.",
)
def marshmallow_invalid():
    from marshmallow import Schema, fields

    Schema.from_dict({"limit": fields.Integer(required=True)})().load({"limit": "many"})


@scenario(
    "cattrs.invalid",
    lib="cattrs",
    category="validation",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="ClassValidationError|IterableValidationError",
    reason="A group of what is wrong with each attribute.",
)
def cattrs_invalid():
    import cattrs

    cattrs.structure(["1", "x"], list[int])


@scenario(
    "msgspec.invalid",
    lib="msgspec",
    category="validation",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="ValidationError",
    reason="Expected int, got str.",
)
def msgspec_invalid():
    import msgspec

    def tool(payload: bytes):
        return msgspec.json.decode(payload, type=list[int])

    tool(b'["a"]')


@scenario(
    "msgspec.malformed",
    lib="msgspec",
    category="validation",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="DecodeError",
    reason="The caller's argument is no JSON.",
)
def msgspec_malformed():
    import msgspec

    def tool(payload: bytes):
        return msgspec.json.decode(payload)

    tool(b"{oops")


@scenario(
    "graphql.syntax",
    lib="graphql-core",
    category="validation",
    retryable_read=False,
    side_effect_state="none",
    raises="GraphQLSyntaxError",
    reason="A query that does not parse.",
)
def graphql_syntax():
    import graphql

    graphql.parse("{ viewer ")


@scenario(
    "gql.query_error",
    lib="gql",
    category="validation|unknown",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="TransportQueryError",
    reason="The server's errors, with a code in extensions.",
)
def gql_query_error():
    from gql import Client, gql
    from gql.transport.httpx import HTTPXTransport

    with answering(
        200,
        {
            "errors": [
                {
                    "message": 'Cannot query field "nme" on type "User".',
                    "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
                }
            ]
        },
    ) as url:
        Client(transport=HTTPXTransport(url=url)).execute(gql("{ a }"))


@scenario(
    "gql.server_error",
    lib="gql",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="TransportServerError",
    reason="502; the status is in .code.",
)
def gql_server_error():
    from gql import Client, gql
    from gql.transport.httpx import HTTPXTransport

    with answering(502, "bad gateway") as url:
        Client(transport=HTTPXTransport(url=url)).execute(gql("{ a }"))


# ---------------------------------------------------------------------- frames


@scenario(
    "polars.no_column",
    lib="polars",
    category="not_found|validation",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="ColumnNotFoundError",
    reason="No such column.",
)
def polars_no_column():
    import polars

    polars.DataFrame({"a": [1]}).select("b")


@scenario(
    "polars.sql",
    lib="polars",
    category="validation",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="SQLSyntaxError|SQLInterfaceError|ComputeError",
    reason="SQL that does not parse.",
)
def polars_sql():
    import polars

    polars.DataFrame({"a": [1]}).sql("SELEC a FROM self")


@scenario(
    "polars.cast",
    lib="polars",
    category="validation|bug",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="InvalidOperationError",
    reason="Text that is no number.",
)
def polars_cast():
    import polars

    polars.Series(["x"]).cast(polars.Int64)


@scenario(
    "pyarrow.invalid",
    lib="pyarrow",
    category="validation|bug|permanent",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="ArrowInvalid",
    reason="The file is no Parquet.",
)
def pyarrow_invalid():
    import io

    import pyarrow.parquet

    pyarrow.parquet.read_table(io.BytesIO(b"not parquet at all"))


@scenario(
    "openpyxl.bad_file",
    lib="openpyxl",
    category="validation|permanent",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="InvalidFileException",
    reason="The file is no workbook.",
)
def openpyxl_bad_file():
    import tempfile

    import openpyxl

    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        openpyxl.load_workbook(file.name)


@scenario(
    "openpyxl.no_sheet",
    lib="openpyxl",
    category="not_found|validation",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="KeyError",
    reason="Worksheet does not exist: the library's own answer, as a KeyError.",
)
def openpyxl_no_sheet():
    import openpyxl

    def tool(sheet: str):
        return openpyxl.Workbook()[sheet]

    tool("Sales")


@scenario(
    "pypdf.bad_file",
    lib="pypdf",
    category="validation|permanent|bug",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="PdfStreamError|PdfReadError|EmptyFileError",
    reason="The file is no PDF.",
)
def pypdf_bad_file():
    import io

    from pypdf import PdfReader

    PdfReader(io.BytesIO(b"hello")).pages[0]


@scenario(
    "pillow.bad_image",
    lib="pillow",
    category="validation|permanent",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="UnidentifiedImageError",
    reason="The file is no image (an OSError by type).",
)
def pillow_bad_image():
    import io

    from PIL import Image

    Image.open(io.BytesIO(b"hello"))


@scenario(
    "lxml.syntax",
    lib="lxml",
    category="validation",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="XMLSyntaxError",
    reason="The argument is no XML.",
)
def lxml_syntax():
    from lxml import etree

    def tool(xml: str):
        return etree.fromstring(xml)

    tool("<a><b></a>")


@scenario(
    "zipfile.bad",
    lib="stdlib.zipfile",
    category="validation|permanent|bug",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="BadZipFile",
    reason="The file is no archive.",
)
def zip_bad():
    import io
    import zipfile

    zipfile.ZipFile(io.BytesIO(b"x" * 100))


@scenario(
    "configparser.missing",
    lib="stdlib.configparser",
    category="not_found|bug",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="NoSectionError",
    reason="No such section.",
)
def configparser_missing():
    import configparser

    configparser.ConfigParser().get("mail", "host")


@scenario(
    "sympy.parse",
    lib="sympy",
    category="validation",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="SympifyError|SyntaxError|TokenError",
    reason="An expression that does not parse.",
)
def sympy_parse():
    import sympy

    sympy.sympify("2 +* x")


@scenario(
    "shapely.wkt",
    lib="shapely",
    category="validation",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="GEOSException|WKTReadingError",
    reason="Well-known text that does not parse.",
)
def shapely_wkt():
    from shapely import wkt

    wkt.loads("POLYGO ((0 0))")


# ---------------------------------------------------------------------- tokens


@scenario(
    "jose.expired",
    lib="python-jose",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    raises="ExpiredSignatureError",
    reason="The token has expired.",
)
def jose_expired():
    from jose import jwt

    jwt.decode(jwt.encode({"exp": 1}, "k"), "k")


@scenario(
    "itsdangerous.bad",
    lib="itsdangerous",
    category="permission|validation",
    retryable_read=False,
    side_effect_state="none",
    raises="BadSignature",
    reason="The signature does not match.",
)
def itsdangerous_bad():
    from itsdangerous import Signer

    Signer("k").unsign("a.b")


@scenario(
    "authlib.invalid_grant",
    lib="authlib",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    raises="OAuthError",
    reason="The token endpoint answers invalid_grant.",
)
def authlib_invalid_grant():
    from authlib.integrations.httpx_client import OAuth2Client

    with answering(400, {"error": "invalid_grant", "error_description": "Token has been expired or revoked."}) as url:
        OAuth2Client("id", "secret").fetch_token(url, grant_type="refresh_token", refresh_token="r")


# ------------------------------------------------------------------ geography


def geocode(url, **kwargs):
    from geopy.geocoders import Nominatim

    geocoder = Nominatim(
        user_agent="scenario", domain=url.removeprefix("http://"), scheme="http", timeout=0.4, **kwargs
    )
    return geocoder.geocode("Oslo")


@scenario(
    "geopy.timeout",
    lib="geopy",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="GeocoderTimedOut|GeocoderUnavailable",
    reason="Sent and not answered.",
)
def geopy_timeout():
    with silent() as url:
        geocode(url)


@scenario(
    "geopy.refused",
    lib="geopy",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="GeocoderUnavailable|GeocoderServiceError",
    reason="Refused.",
)
def geopy_refused():
    geocode(closed_url())


@scenario(
    "geopy.rate",
    lib="geopy",
    category="rate_limited",
    retryable_read=True,
    side_effect_state="none",
    raises="GeocoderRateLimited",
    retry_after_s=(1.0, None),
    reason="429 with Retry-After.",
)
def geopy_rate():
    with answering(429, "slow down", {"Retry-After": "1"}) as url:
        geocode(url)


@scenario(
    "geopy.forbidden",
    lib="geopy",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    raises="GeocoderInsufficientPrivileges",
    reason="403.",
)
def geopy_forbidden():
    with answering(403, "no") as url:
        geocode(url)


@scenario(
    "arxiv.unavailable",
    lib="arxiv",
    category="transient",
    retryable_read=True,
    side_effect_state="none|unknown",
    raises="HTTPError",
    reason="503, from a retry loop of its own; the status is in .status.",
    constructed=True,
)
def arxiv_unavailable():
    from arxiv import HTTPError

    raise HTTPError("http://127.0.0.1/api", 3, 503)


# -------------------------------------------------- how tools wrap what they met


class BookingFailed(Exception):
    """A tool author's one exception for everything."""


@scenario(
    "tool.implicit_timeout",
    lib="wrapping",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="BookingFailed",
    reason="Raised in the except block without `from`: the context tells.",
)
def tool_implicit_timeout():
    import httpx

    with silent() as url:
        try:
            httpx.post(url, timeout=0.2)
        except httpx.HTTPError:
            raise BookingFailed("could not book")


@scenario(
    "tool.holds_error",
    lib="wrapping",
    category="transient",
    retryable_read=True,
    side_effect_state="none",
    raises="BookingFailed",
    reason="The cause is kept in an attribute, `from None`.",
)
def tool_holds_error():
    import httpx

    try:
        httpx.post(closed_url())
    except httpx.HTTPError as error:
        failure = BookingFailed("could not book")
        failure.original_error = error
        raise failure from None


@scenario(
    "tool.error_in_args",
    lib="wrapping",
    category="permission",
    retryable_read=False,
    side_effect_state="none",
    http_status=403,
    raises="BookingFailed",
    reason="The cause is an argument of the exception.",
)
def tool_error_in_args():
    import requests

    with answering(403) as url:
        try:
            requests.post(url).raise_for_status()
        except requests.HTTPError as error:
            failure = error
    raise BookingFailed("could not book", failure)


@scenario(
    "tool.second_attempt_refused",
    lib="wrapping",
    category="transient",
    retryable_read=True,
    side_effect_state="unknown",
    raises="ConnectError",
    reason="The first POST was sent and not answered, the second was refused: the first may have been carried out.",
)
def tool_second_attempt_refused():
    import httpx

    try:
        with silent() as url:
            httpx.post(url, timeout=0.2)
    except httpx.ReadTimeout:
        httpx.post(closed_url())


@scenario(
    "tool.status_in_text",
    lib="wrapping",
    category="rate_limited",
    retryable_read=True,
    side_effect_state="none|unknown",
    raises="BookingFailed",
    reason="Only the text has the status.",
)
def tool_status_in_text():
    raise BookingFailed("booking service answered HTTP 429: slow down")


@scenario(
    "tool.body_in_text",
    lib="wrapping",
    category="permission",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="BookingFailed",
    reason="The service's JSON is pasted into the text.",
)
def tool_body_in_text():
    raise BookingFailed('request failed: {"error": {"code": 401, "message": "Invalid API key provided"}}')


@scenario(
    "tool.lookup_answer",
    lib="stdlib.builtins",
    category="not_found",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="LookupError",
    reason="The tool itself answers with a LookupError.",
)
def tool_lookup_answer():
    def find(customer: int):
        raise LookupError(f"no customer {customer}")

    find(7)


@scenario(
    "tool.defect_after_send",
    lib="stdlib.builtins",
    category="bug",
    retryable_read=False,
    side_effect_state="unknown|committed",
    raises="AttributeError",
    reason="A defect after the POST had succeeded.",
)
def tool_defect_after_send():
    import httpx

    def book(seat: str):
        with answering(200, {"id": 1}) as url:
            return httpx.post(url).json().identifier

    book("12A")


@scenario(
    "tool.arguments_spread",
    lib="stdlib.builtins",
    category="validation",
    retryable_read=False,
    side_effect_state="none",
    raises="TypeError",
    reason="The model sent an argument the tool does not have.",
)
def tool_arguments_spread():
    def book(seat: str):
        return seat

    arguments = {"seat": "12A", "class": "first"}
    book(**arguments)


@scenario(
    "tool.bad_enum",
    lib="stdlib.builtins",
    category="validation",
    retryable_read=False,
    side_effect_state="none|unknown",
    raises="ValueError",
    reason="'premium' is not a valid member: the caller's argument.",
)
def tool_bad_enum():
    import enum

    class Fare(enum.Enum):
        BASIC = "basic"

    def book(fare: str):
        return Fare(fare)

    book("premium")


@scenario(
    "tool.stamina_gives_up",
    lib="stamina",
    category="transient",
    retryable_read=EITHER,
    side_effect_state="none",
    raises="ConnectError",
    reason="stamina raises the last error itself.",
)
def tool_stamina():
    import httpx
    import stamina

    @stamina.retry(on=httpx.HTTPError, attempts=2, wait_initial=0.01)
    def book():
        httpx.post(closed_url())

    book()


@scenario(
    "litellm.rate",
    lib="litellm",
    category="rate_limited",
    retryable_read=True,
    side_effect_state="none",
    http_status=429,
    raises="RateLimitError",
    reason="An OpenAI-compatible server's 429 through litellm.",
)
def litellm_rate():
    import litellm

    with answering(
        429, {"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}}
    ) as url:
        litellm.completion(
            "openai/m", messages=[{"role": "user", "content": "hi"}], api_base=url, api_key="x", max_retries=0
        )


@scenario(
    "litellm.overflow",
    lib="litellm",
    category="validation",
    retryable_read=False,
    side_effect_state="none",
    http_status=400,
    raises="ContextWindowExceededError|BadRequestError",
    reason="Too long for the model.",
)
def litellm_overflow():
    import litellm

    with answering(
        400,
        {
            "error": {
                "message": "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.",
                "type": "invalid_request_error",
                "code": "context_length_exceeded",
            }
        },
    ) as url:
        litellm.completion(
            "openai/m", messages=[{"role": "user", "content": "hi"}], api_base=url, api_key="x", max_retries=0
        )
