"""How many examples a property test tries that needs more or fewer than others."""

from hypothesis import settings


def examples(count: int) -> settings:
    """Try `count` examples in a search, and as much fewer in other runs as other tests do."""
    return settings(max_examples=count * settings().max_examples // 100)
