"""A run that came from a file is marked wherever it is shown, and nothing that the file says is markup."""

from __future__ import annotations

import pytest

from labseq_core.experiments import MethodChoice, model
from labseq_core.experiments.results.predictions import archive_bytes
from labseq_core.experiments.results.run_results import IMPORTED
from labseq_core.experiments.store.run_store import RunStore
from tests.app.conftest import problems
from tests.experiments.runs import quick, trained_here

MARK, MARKUP = "**Imported, not recomputed.**", "![](http://host/x)"
METHODS = (
    MethodChoice("crf", {"max_iter": 3}),
    MethodChoice("hmsvm", {"max_iter": 3}),
    MethodChoice("boost", {"rounds": 3}),
)
VIEWS = {
    "compare": [{}, {"view": "Labels"}], "abstain": [{}], "sequence": [{}],
    "inside": [{"tab": "Weights"}, {"tab": "HM-SVM"}, {"tab": "Boosting"}, {"tab": "Margins"}],
}  # fmt: skip


@pytest.fixture
def run_id(monkeypatch, tmp_path) -> str:
    """As a stranger might have it."""
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    run_id = trained_here(quick(folds=0, sequences=30, methods=METHODS))
    store = RunStore()
    metrics = store.get(run_id)["metrics"] | {"failures": [{"label": "HMM", "fold": 0, "error": MARKUP}]}
    learner = model(run_id, METHODS[1].label)
    learner.stop_reason_ = MARKUP
    changed = {"model.1": archive_bytes(learner.save)}
    store.update(run_id, {}, changed, imported=1, metrics=metrics, versions={"core": MARKUP, "[a](b)": "1"})
    return run_id


def written(app) -> str:
    """All that is Markdown."""
    kinds = app.header, app.subheader, app.markdown, app.caption, app.info, app.warning
    return "\n".join(str(each.value) for kind in kinds for each in kind)


def test_every_page_marks_it_and_takes_nothing_for_markup(run_id, open_page):
    opened = {page: [open_page(page, run=run_id, **choices) for choices in views] for page, views in VIEWS.items()}
    opened["train"], opened["history"] = [open_page("train", job=run_id)], [open_page("history", runs=run_id)]
    for page, apps in opened.items():
        for app in apps:
            assert problems(app) == []
            shown = written(app)
            assert MARK in shown, page
            assert MARKUP not in shown, page
            pickers = [option for each in app.selectbox for option in each.options if run_id in option]
            assert all(option.endswith(f", {IMPORTED}") for option in pickers), page
            assert bool(pickers) == (page in VIEWS)
    assert "http" in written(opened["inside"][1]), "what it says is shown, as text"


def test_lists_and_files_mark_it(run_id, open_page):
    other = trained_here(quick(folds=0, sequences=30, methods=METHODS[:1]))
    app = open_page("history", runs=f"{run_id},{other}")
    states = dict(zip(app.dataframe[0].value["run"], app.dataframe[0].value["state"]))
    assert states[run_id] == f"finished, {IMPORTED}"
    assert states[other] == "finished"
    assert any(each.value.startswith("First: ") and each.value.endswith(IMPORTED) for each in app.caption)
    recent = open_page("train").dataframe[0].value
    assert dict(zip(recent["run"], recent["state"])) == {run_id: f"done, {IMPORTED}", other: "done"}
    assert MARK not in written(open_page("compare", run=other))
