"""Fixtures for tests of rules: a world with a scheduler, in memory."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.harness import SessionWorld

# No property fails because the machine is slow. The gate tries the same situations each time, so that it says
# something about the change; a developer's runs and `make fuzz` look for new ones.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("gate", settings.get_profile("house"), derandomize=True)
settings.load_profile("gate" if os.environ.get("CI") else "house")

pytest_plugins = ["tests.cases.reporting"]  # options and summary of the recorded cases


@pytest.fixture
def world() -> SessionWorld:
    """A cluster with the queue `default` and the default configuration."""
    return SessionWorld()
