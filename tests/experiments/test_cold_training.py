"""A training on a machine that has not compiled everything yet."""

import os
import shutil

from labseq_core.compiling import code_cache
from labseq_core.experiments import MethodChoice, result, submit
from labseq_core.experiments.service import close_engines
from labseq_core.warm_up import ahead
from tests.experiments.runs import finished, quick, wait

MISSING = "chain.recursions.batch.k_best_batch"


def test_it_says_what_it_waits_for_and_trains_as_soon_as_that_is_there(tmp_path, monkeypatch):
    ahead.prepare()
    code = code_cache.code_directory()
    there = tmp_path / "cache" / code.name
    there.mkdir(parents=True)
    for path in code.glob("*.code"):  # no marks, and one routine is missing
        if not path.name.startswith(MISSING):
            os.link(path, there / path.name) if path.stat().st_dev == there.stat().st_dev else shutil.copy(path, there)
    close_engines()  # the worker that comes is new
    monkeypatch.setenv("LABSEQ_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))

    run_id = submit(quick(methods=(MethodChoice("hmm"),), folds=0))
    seen = wait(run_id, finished)
    close_engines()
    assert seen[-1].state == "done"
    messages = list(dict.fromkeys(now.message for now in seen))
    assert "compiling inference on chains, first start only" in messages
    assert list(there.glob(f"{MISSING}-*.code"))
    assert {path.name.split("-")[0] for path in there.glob("*.ready")} == {"chain", "features", "hmm"}  # only its own
    assert result(run_id).rows[0]["train_seconds"] < 0.5, "compiling is no training"
