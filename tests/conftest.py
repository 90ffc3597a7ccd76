"""Fixtures for tests of rules: a world with a scheduler, in memory."""

from __future__ import annotations

import pytest

from tests.harness import SessionWorld

pytest_plugins = ["tests.cases.reporting"]  # options and summary of the recorded cases


@pytest.fixture
def world() -> SessionWorld:
    """A cluster with the queue `default` and the default configuration."""
    return SessionWorld()
