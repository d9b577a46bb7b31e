"""Conditions of includes are evaluated as Spack evaluates them, and nothing else is run."""

import os
from collections.abc import Mapping

import pytest

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.machine import PLATFORM, this_os, this_target
from spackscope.model.sources.conditions import is_met

HOST = os.uname().nodename
ENVIRON: Mapping[str, str] = {"HOME": "/home/ada", "EMPTY": ""}

# As docs/environments.rst of Spack has them, and public sites; spack.spec.eval_conditional of 1.2
# gives the same results.
TRUE = [
    f"os == '{this_os()}'",
    f"target == '{this_target()}' and platform == '{PLATFORM}'",
    f"target in ('zen3', '{this_target()}')",
    f"{HOST[:2]!r} in hostname",
    f"hostname.split('.')[0] == {HOST.split('.')[0]!r}",
    f"hostname[:1] == {HOST[:1]!r} and hostname[-1] == {HOST[-1]!r}",
    f"re.match({HOST[:2]!r}, hostname)",
    "re.search(string=hostname, pattern='.')",
    "re.match(r'^no|.*$', hostname) is not None",
    "re.match('a+(b)?(?:c|d)$', 'AABC', flags=re.I).group(1) == 'B'",
    # Not a raw string, which Python warns about.
    "re.search('\\S', hostname)",
    "env['HOME'] != ''",
    "env.get('NOT_SET') is None and env.get('NOT_SET', 'x') == 'x'",
    "'HOME' in env and 'NOT_SET' not in env",
    "not env['EMPTY'] or env['NOT_SET']",
    f"arch.satisfies('platform={PLATFORM} target={this_target()}:')",
    f"'os={this_os()}' in arch and 'target=' in str(arch)",
    " True",
    # Only the first part is evaluated.
    "'a' == 'a' or env['NOT_SET']",
    "(os ==\n  os)",
    "'a' < 'b' < 'c'",
    "len(hostname.strip()) > 0 if platform else False",
]


@pytest.mark.parametrize("condition", TRUE)
def test_a_condition_is_evaluated(condition: str) -> None:
    assert is_met(condition, ENVIRON)
    assert not is_met(f"not ({condition.strip()})", ENVIRON)


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("env['NOT_SET'] != ''", "'NOT_SET' is not set"),
        ("true", "true is not known"),
        ("platform = 'linux'", "invalid syntax"),
        ("hostname.nope()", "only comparisons"),
        ("__import__('os').getcwd()", "only comparisons"),
        ("().__class__.__bases__[0]", "only comparisons"),
        ("[x for x in env]", "only comparisons"),
        ("9**9**9", "only comparisons"),
        ("hostname[99_999]", "it raises IndexError"),
        ("arch == 'linux'", "it raises TypeError"),
        ("arch.satisfies('%gcc')", "it raises TypeError"),
        ("re.match('(a+)+$', 'a')", "its regular expression may take long"),
        ("re.match('(?x)(a+) +$', 'a')", "its regular expression may take long"),
        (f"re.match('{'.*' * 20}x', env['HOME'])", "its regular expression may take long"),
        (f"re.match('{'(a|a)' * 40}x', 'a')", "its regular expression may take long"),
        ("re.match('a', 'a', 128)", "flags of its regular expression are not understood"),
        ("re.match('(', 'a')", "its regular expression is wrong: "),
        ("(" * 400, "too many nested parentheses"),
        ("0 or " * 400, "it has more than 1,000 characters"),
    ],
)
def test_what_is_not_understood_is_refused_with_a_reason(condition: str, reason: str) -> None:
    with pytest.raises(Unreadable) as raised:
        is_met(condition, ENVIRON)
    assert reason in str(raised.value)
