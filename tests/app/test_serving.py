"""The server as a whole, without any visitor."""

from __future__ import annotations

from labseq_core.experiments import MethodChoice, status
from labseq_core.experiments.store.run_store import RunStore
from tests.app.conftest import planted
from tests.browser.server import running_dashboard
from tests.experiments.runs import quick, wait


def test_a_server_goes_on_with_what_was_interrupted_before_it_began(tmp_path, monkeypatch):
    with running_dashboard() as server:
        monkeypatch.setenv("LABSEQ_STORE", str(server.store))
        RunStore()
        server.stop()
        run_id = planted("running", quick(methods=(MethodChoice("hmm"),)), owner="gone")
        assert status(run_id).state == "dead"
        server.start()
        wait(run_id, lambda now: now.state == "done")
