"""What every test in a browser relies on: that the page it looks at is the one it asked for."""

from __future__ import annotations

import os
import signal
from threading import Timer

import pytest

from tests.browser.server import settle

pytestmark = pytest.mark.browser

SECONDS_TO_ANSWER = 1.0  # of a busy machine: much longer than the quiet that ends the waiting


def test_a_server_that_answers_late_is_waited_for(visit, server):
    page = visit("/learn").page
    os.kill(server.process.pid, signal.SIGSTOP)
    go_on = Timer(SECONDS_TO_ANSWER, os.kill, (server.process.pid, signal.SIGCONT))
    go_on.start()
    page.get_by_role("button", name="Next lesson").click()
    settle(page)
    assert page.get_by_text("Lesson 2 of").count() == 1
    go_on.join()
