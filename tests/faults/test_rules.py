import pytest

from otel_toolerrors.faults import Rule, RuleError, RuleSet, classify, default_rules, load_rules
from otel_toolerrors.faults.patterns import check_pattern, compiled, required, triggers
from otel_toolerrors.faults.rule_checks import check_rules


def write(tmp_path, text):
    """A file of rules."""
    path = tmp_path / "rules.toml"
    path.write_text(text)
    return path


def test_a_rule_of_the_users_decides_before_ours(tmp_path):
    """It wins over every signal, and the fault says so."""
    path = write(
        tmp_path,
        '[[rule]]\ncode = "ledger.closed"\ncategory = "permanent"\npassing = false\n'
        "message = 'period \\d+ is closed'\n"
        '[[rule]]\ncode = "crm.busy"\ncategory = "transient"\npassing = true\nside_effects = "none"\nstatus = [409]\n',
    )
    rules = RuleSet((*load_rules(path), *default_rules()))

    class HTTPError(Exception):
        status_code = 409

    assert "ledger.closed" == classify(TimeoutError("period 12 is closed"), rules=rules).code
    fault = classify(HTTPError("conflict"), rules=rules, effects="write")
    assert ("crm.busy", "rule", True) == (fault.code, fault.signal, fault.retryable)
    assert "http.409" == classify(HTTPError("conflict")).code


def test_rules_may_be_given_as_python_and_name_a_class_as_it_is_written():
    """A class name with capitals is matched as it is, one in words as it is read aloud."""

    class LedgerFrozen(Exception):  # noqa: N818 - a tool author's own name
        pass

    exact = Rule(code="ledger.frozen", category="permanent", passing=False, types=("LedgerFrozen",))
    spoken = Rule(code="ledger.frozen", category="permanent", passing=False, names=("ledger frozen",))

    assert ["ledger.frozen"] * 2 == [classify(LedgerFrozen(), rules=(rule,)).code for rule in (exact, spoken)]


HEAD = '[[rule]]\ncode = "a.b"\ncategory = "transient"\npassing = true\n'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            '[[rule]]\ncode = "a"\ncategory = "tranisent"\npassing = true\nstatus = [409]\n',
            r"rules\.toml: rule 1 \(a\): unknown category 'tranisent'",
        ),
        ('[[rule]]\ncode = "A B"\ncategory = "bug"\npassing = true\nstatus = [409]\n', "dotted lower-case words"),
        ('[[rule]]\ncategory = "bug"\npassing = true\n', "rule 1.*code"),
        (HEAD, "matches nothing"),
        (HEAD + 'sideeffects = "none"\n', "unknown key 'sideeffects'"),
        (HEAD + 'side_effects = "maybe"\nstatus = [1]\n', "unknown side_effects 'maybe'"),
        (HEAD + "status = [1000]\n", "1000 is no HTTP status"),
        (HEAD + 'errno = ["ECONRESET"]\n', "'ECONRESET' is no errno"),
        (HEAD + "message = '(unclosed'\n", "does not compile"),
        (HEAD + "message = '(a+)+b'\n", "exponential"),
        (HEAD + "message = '(?:a|ab)*c'\n", "exponential"),
        (HEAD + "message = 'a.*b.*c.*d'\n", "too many unbounded repeats"),
        (HEAD + "message = 'x*'\n", "matches the empty text"),
        (HEAD + r"message = '(\w)\1'" + "\n", "refers back"),
        (HEAD + "status = [409]\n" + HEAD + "status = [409]\n", r"rule 2.*status 409 never matches.*rule 1"),
        (HEAD + 'names = ["time*"]\n' + HEAD + 'names = ["timeout read"]\n', r"rule 2.*never matches.*rule 1"),
        ("[[rule]\n", r"rules\.toml"),
    ],
)
def test_a_rule_that_cannot_work_is_refused_with_its_place(tmp_path, text, complaint):
    """The file, the rule and what is wrong are named."""
    with pytest.raises(RuleError, match=complaint):
        load_rules(write(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path):
    """The path stands in the error."""
    with pytest.raises(RuleError, match=r"nowhere\.toml"):
        load_rules(tmp_path / "nowhere.toml")


def test_our_own_rules_can_work():
    """Every default rule passes the checks, shadows aside: ours overlap on purpose, from telling to vague."""
    for rule in default_rules():
        check_rules([rule])
        assert rule.why, rule.code


def test_a_pattern_is_tried_wherever_it_could_match():
    """What decides whether a pattern is tried is in everything that it matches: letters that begin a word, a part."""
    texts = {
        "rate[- ]?limit exceeded": "the Rate-limit exceeded",
        r"\btimed[ -]?out\b": "it timed out",
        "^busy\\b": "BUSY now",
        r"\b(?:is|are) overloaded\b": "it is overloaded",
        "(?:has|had) gone": "it had gone",
        "colou?r": "color",
        r"no (?:\w+ ){1,3}found": "no such thing found",
        r"ab{0,2}c \d{3} gone+": "ac 123 gonee",
        r"in-progress\.$": "In-Progress.",
        "either|or": "or",
    }
    for pattern, text in texts.items():
        check_pattern(pattern)
        assert compiled(pattern).search(text)
        words = text.lower().replace("-", " ").split()
        assert not triggers(pattern) or any(word.startswith(triggers(pattern)) for word in words)
        assert required(pattern) in text.lower()
