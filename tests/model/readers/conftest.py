"""PyYAML is read with as it is built in two ways."""

import pytest
import yaml


@pytest.fixture(params=["libyaml", "pure Python"])
def yaml_loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read YAML as a PyYAML with libyaml does, and as one that was built without it."""
    if request.param == "pure Python":
        monkeypatch.delattr(yaml, "CBaseLoader", raising=False)
