"""What a model may do in place of a reply to one of the plug-in's calls."""

from __future__ import annotations

import pytest

from tests.e2e.driver.replies import Fail, Hang, Say

TROUBLES = (
    pytest.param(Fail(500), id="fails"),
    pytest.param(Hang(60), id="hangs"),
    pytest.param(Say("I would rather sing."), id="rubbish"),
)
