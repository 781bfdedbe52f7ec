"""An HTTP client whose transport recovers."""

import httpx

import otel_toolerrors as te
from otel_toolerrors.integrations.httpx import RecoveryTransport

layer = te.RecoveryLayer()
answers = iter([httpx.Response(503, headers={"retry-after-ms": "20"}), httpx.Response(200, text="one result")])
network = httpx.MockTransport(lambda request: next(answers))  # in place of httpx.HTTPTransport()

with httpx.Client(transport=RecoveryTransport(layer, network)) as client:
    print(client.get("https://catalogue.example/lamps").text)
