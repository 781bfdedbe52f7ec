import pytest

from otel_toolerrors.policy import Declaration, Policy, parse_policy, resolve


def test_what_is_not_declared_is_taken_strictly():
    """No effects, no fallback, no cache, not optional, no credential."""
    rules = resolve(Policy(), "pay", Declaration(), "main_agent")
    assert ("write", (), None, False, None) == (
        rules.effects,
        rules.fallback,
        rules.cache_ttl,
        rules.optional,
        rules.credential,
    )
    assert "pay" == rules.service


def test_code_declares_and_the_file_decides():
    """A tool's table in the policy wins over its decorator, key by key."""
    policy = parse_policy("[tools.search]\nservice = 'api'\noptional = false\n")
    declared = Declaration(effects="read", service="own", optional=True, cache_ttl=60, fallback=("b",))
    rules = resolve(policy, "search", declared, "main_agent")
    assert ("read", "api", False, 60) == (rules.effects, rules.service, rules.optional, rules.cache_ttl)
    assert ["b"] == [fallback.tool for fallback in rules.fallback]


@pytest.mark.parametrize("effects", ["idempotent", "write", "destructive"])
def test_only_reads_are_cached(effects):
    """Anything that acts is done, not remembered."""
    assert resolve(Policy(), "t", Declaration(effects=effects, cache_ttl=60), "main_agent").cache_ttl is None


@pytest.mark.parametrize(
    ("source", "foreground"),
    [("main_agent", True), ("user_request", True), ("coordinator_task", True), ("title", False)],
)
def test_only_listed_sources_are_in_the_foreground(source, foreground):
    """Everything that is not on the list fails fast."""
    assert foreground == resolve(Policy(), "t", Declaration(), source).foreground
