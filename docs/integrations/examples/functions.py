"""A function without a framework."""

import otel_toolerrors as te

layer = te.RecoveryLayer()
resets = iter([ConnectionResetError("connection reset"), None])


@layer.protect(effects="read", service="catalogue")
def search(query: str) -> str:
    if error := next(resets):
        raise error
    return f"one result for {query}"


@layer.protect  # effects="write": what may have happened is not done again
def order(item: str) -> None:
    raise TimeoutError("no answer")


print(search("lamps"))
try:
    order("lamp")
except TimeoutError as error:
    print(error, error.__notes__)
