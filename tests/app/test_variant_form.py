"""The form is a list of variants: what can be done with them, by cards, sweeps and links."""

from __future__ import annotations

import json

import pytest

from labseq_core.data.uploads import store_upload
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice
from labseq_core.experiments.plan.config import MAX_METHODS
from labseq_core.learners.registry import METHODS
from pages.ui.choices import url
from pages.ui.choices.variant_names import card_name, short_names
from pages.ui.train.sweep import _names, _worth_trying, swept
from pages.ui.train.variants import USUAL
from tests.app.conftest import problems, text
from tests.app.form import act, cards, choose, command, given, open_card, remove
from tests.experiments.runs import trained_here

GP = "GP sequence classification"
THREE = ["crf:l2=0.1", "hmsvm", "gps"]
MANY = [f"crf:l2={number}" for number in range(2, MAX_METHODS + 2)]


def start_button(app):
    return next(button for button in app.button if button.label == "Start training")


def add(app, method: str):
    return app.selectbox(key="variants.add").set_value(method).run()


def test_variants_are_added_moved_copied_and_removed(open_page):
    app = open_page("train", dataset="toy-pos")
    assert cards(app) == ["CRF", "HM-SVM", GP]
    assert given(app) == [], "what is usual is not in the link"
    add(app, "hmm")
    assert app.selectbox(key="variants.add").value is None, "ready for the next"
    assert given(app) == [*USUAL, "hmm"]
    act(app, 3, "Move up")
    act(app, 0, "Move down")
    assert given(app) == ["hmsvm", "crf", "hmm", "gps"]
    remove(app, 0)
    assert cards(app) == ["CRF", "HMM", GP]
    act(app, 1, "Duplicate")
    (told,) = problems(app)
    assert told.startswith("Variant 3 is the same as variant 2. Change an option")
    assert start_button(app).disabled
    choose(app, 2, "smoothing", "0.001")  # the copy is open already
    assert problems(app) == []
    assert cards(app) == ["CRF", "HMM", "HMM · smoothing 0.001", GP]
    assert "--methods crf,hmm,hmm:smoothing=0.001,gps " in command(app)
    for _ in range(4):
        remove(app, 0)
    assert "Choose a method below to add one" in app.info[0].value
    assert start_button(app).disabled
    assert app.query_params["variant"] == ""
    assert cards(open_page("train", variant="")) == [], "none is a choice too"
    for method in USUAL:
        add(app, method)
    assert "variant" not in app.query_params
    assert not start_button(app).disabled


def test_what_cannot_be_done_is_not_offered(open_page):
    app = open_page("train", variant=THREE)
    for place, (up, down) in enumerate([(True, False), (False, False), (False, True)]):
        open_card(app, place)
        disabled = [
            app.button(key=f"variant.{place}.{name}").disabled for name in ("Move up", "Move down", "Duplicate")
        ]
        assert disabled == [up, down, False]
    full = open_page("train", dataset="toy-pos", variant=[*MANY, "hmm", *USUAL])
    assert len(cards(full)) == MAX_METHODS + 1
    assert any(f"choose 1 to {MAX_METHODS}" in told for told in problems(full))
    remove(full, MAX_METHODS)
    assert problems(full) == []
    open_card(full, 0)
    assert full.button(key="variant.0.Duplicate").disabled
    assert full.selectbox(key="variants.add").disabled


def test_every_choice_of_a_variant_is_on_its_card_and_in_the_link(open_page):
    app = open_card(open_page("train", dataset="pitch-accent", features="prosody", variant="crf"), 0)
    for name, value in (
        ("l2", "0.1"), ("decode", "posterior"), ("start_stop", True), ("sequences", 50), ("noise", 0.1), ("features", "S3"),
        ("window", "5"), ("bins", "7"), ("columns", ["pos"]), ("joint", True), ("search", []), ("max_iter", 77),
    ):  # fmt: skip
        choose(app, 0, name, value)
        assert problems(app) == []
    said = "crf:l2=0.1:max_iter=77:start_stop=true:decode=posterior:features=S3:window=5:bins=7:columns=pos:joint=true"
    assert given(app) == [f"{said}:sequences=50:noise=0.1"]
    own = "S3 (window 5, 7 bins, joint codes, columns pos)"
    card = f"CRF · l2 0.1 · max_iter 77 · start_stop true · posterior · {own} · 50 training sequences · label noise 0.1"
    assert cards(app) == [card]
    choose(app, 0, "features", "custom")
    assert given(app) == [
        "crf:l2=0.1:max_iter=77:start_stop=true:decode=posterior:features=custom:columns=token:sequences=50:noise=0.1"
    ]
    choose(app, 0, "features", "as for all variants")
    choose(app, 0, "method", "hmsvm")
    assert given(app) == ["hmsvm:max_iter=77:sequences=50:noise=0.1"], "what the other method has no option for is gone"
    choose(app, 0, "text", "hmm:smoothing=0.5")
    assert cards(app) == ["HMM · smoothing 0.5"]
    choose(app, 0, "smoothing", "0.1")
    assert given(app) == ["hmm"], "what is usual is not said"


def test_only_the_open_card_has_widgets(open_page):
    app = open_page("train", dataset="toy-pos", variant=MANY[:12])
    closed = len(app.main.selectbox)
    assert not [box for box in app.selectbox if (box.key or "").startswith("variant.")]
    open_card(app, 11)
    places = {box.key.split(".")[1] for box in app.selectbox if (box.key or "").startswith("variant.")}
    assert places == {"11"}
    assert len(app.main.selectbox) > closed


@pytest.mark.parametrize(
    ("wrong", "name", "value", "mended"),
    [
        ("crf:l2=much", "l2", "0.5", "crf:l2=0.5"),
        ("nonsense:l2=0.5", "method", "crf", "crf:l2=0.5"),
        ("crf:colour=red", "text", "crf:l2=0.5", "crf:l2=0.5"),
    ],
)
def test_a_wrong_variant_is_told_and_can_be_mended(open_page, wrong, name, value, mended):
    app = open_page("train", dataset="toy-pos", variant=["hmm", wrong, "hmsvm"])
    (told,) = problems(app)
    assert told.startswith("Variant 2: ")
    assert len(cards(app)) == 3
    assert start_button(app).disabled
    open_card(app, 1)
    choose(app, 1, name, value)
    assert problems(app) == []
    assert given(app) == ["hmm", mended, "hmsvm"]
    assert not start_button(app).disabled


@pytest.mark.parametrize(
    "wrong", ["crf:max_iter=many", "crf:constraints=none at all", "crf:features=S9", "hmsvm:decode=posterior"]
)
def test_what_its_widget_cannot_have_is_left_out_when_the_card_is_opened(open_page, wrong):
    app = open_page("train", dataset="toy-pos", variant=["hmm", wrong])
    assert len(problems(app)) == 1
    open_card(app, 1)
    assert problems(app) == []
    assert given(app) == ["hmm", wrong.partition(":")[0]]


def test_a_sweep_makes_a_variant_for_each_value(open_page):
    app = open_page("train", dataset="toy-pos", features="S1", variant=["gps:l2=0.1", "hmsvm"])
    _sweep(app, "kernel", ["linear", "poly:2", "poly:3"], variants=[0])
    assert cards(app) == [f"{GP} · linear · l2 0.1", f"{GP} · l2 0.1", f"{GP} · poly:3 · l2 0.1", "HM-SVM"]
    sweep = _sweep(app, "decode", ["viterbi", "posterior"])
    assert sweep == [0, 1, 2], "HM-SVM has one decoding only"
    assert problems(app) == []
    kernels = ("kernel=linear:", "", "kernel=poly:3:")
    assert given(app) == [
        *(f"gps:{kernel}l2=0.1{decode}" for kernel in kernels for decode in ("", ":decode=posterior")), "hmsvm",
    ]  # fmt: skip
    _sweep(app, "noise", ["0", "0.2"], variants=[6])
    assert given(app)[-2:] == ["hmsvm", "hmsvm:noise=0.2"]
    _sweep(app, "features", ["S2", "S3"], variants=[6])
    _sweep(app, "sequences", ["10", "20"], variants=[6])
    assert given(app)[6:8] == ["hmsvm:features=S2:sequences=10", "hmsvm:features=S2:sequences=20"]
    assert problems(app) == []


def _sweep(app, name: str, values: list[str], variants: list[int] | None = None) -> list[int]:
    """Gives the variants that have the option."""
    app.session_state["sweep"] = True
    app.run().session_state["sweep"] = True
    app.selectbox(key="sweep.option").set_value(name).run().session_state["sweep"] = True
    offered = list(app.multiselect(key=f"sweep.{name}.variants").value)
    app.multiselect(key=f"sweep.{name}.variants").set_value(offered if variants is None else variants)
    app.multiselect(key=f"sweep.{name}.values").set_value(values).run()
    next(button for button in app.button if button.label.startswith("Make ")).click().run()
    return offered


def test_a_sweep_of_wrong_or_too_many_values_is_told(open_page):
    app = open_page("train", variant=["crf", "hmm"])
    app.session_state["sweep"] = True
    app.run()
    for values, told in ((["0.1", "much"], "l2 is 'much'"), ([str(n) for n in range(70)], "That is 71 variants")):
        app.session_state["sweep"] = True
        app.multiselect(key="sweep.l2.values").set_value(values).run()
        (problem,) = problems(app)
        assert told in problem
    assert next(button for button in app.button if button.label.startswith("Make ")).disabled
    assert given(app) == ["crf", "hmm"]
    empty = open_page("train", variant="")
    empty.session_state["sweep"] = True
    assert "add a variant first" in text(empty.run())


@pytest.mark.parametrize("method", METHODS)
def test_all_that_a_sweep_offers_can_be_swept(method):
    choice = MethodChoice(method)
    for name in _names([choice]):
        values = _worth_trying(method, name) if name != "decode" or METHODS[method].probabilistic else []
        made = swept(choice, name, values)
        assert len({MethodChoice.parse(text).label for text in made}) == len(made)
        assert not values or len(made) > 1, name


def test_tune_is_one_switch_for_all_variants(open_page):
    app = open_page("train", dataset="toy-pos", variant=["crf", "hmm:smoothing=0.1|1", "crf:l2=0.5"])
    app.toggle(key="tune").set_value(True).run()
    assert problems(app) == []
    assert cards(app) == ["CRF · tuned", "HMM · smoothing of 0.1, 1", "CRF · l2 0.5 · tuned"]
    assert app.query_params["tune"] == "true"
    assert "--methods 'crf:search=tune,hmm:smoothing=0.1|1,crf:l2=0.5:search=tune' " in command(app)
    assert "search: tune" in text(app)
    assert "6 trainings" in app.toggle(key="tune").help
    app.toggle(key="tune").set_value(False).run()
    open_card(app, 0)
    choose(app, 0, "tune", True)
    assert given(app) == ["crf:search=tune", "hmm:smoothing=0.1|1", "crf:l2=0.5"]
    choose(app, 0, "tune", False)
    assert given(app)[0] == "crf"


def test_names_say_what_differs():
    gps = [MethodChoice("gps", decode=decode, noise=noise) for decode in ("", "posterior") for noise in (0.0, 0.1)]
    assert list(short_names(gps).values()) == [
        "viterbi", "viterbi, label noise 0.1", "posterior", "posterior, label noise 0.1",
    ]  # fmt: skip
    others = [
        MethodChoice("crf", search="tune"), MethodChoice("crf", {}, {"l2": [0.1, 1.0]}), MethodChoice("crf", sequences=9),
    ]  # fmt: skip
    assert list(short_names(others).values()) == [
        "tuned", "l2 of 0.1, 1", "l2=1, 9 training sequences",
    ]  # fmt: skip
    assert card_name(MethodChoice("hmsvm", {"kernel": "poly:2", "C": 3.0})) == "HM-SVM · C 3 · poly:2"


def test_a_run_is_shown_by_what_its_variants_differ_in(open_page):
    variants = (MethodChoice("hmm"), MethodChoice("hmm", sequences=20))
    run_id = trained_here(ExperimentConfig("toy-pos", variants, FeatureChoice("S1")))
    app = open_page("train", job=run_id)
    names = ["HMM", "HMM (20 training sequences)"]
    (chart,) = app.get("plotly_chart")
    assert [trace["name"] for trace in json.loads(chart.proto.spec)["data"] if trace.get("name")] == names
    assert app.table[0].value.index.tolist() == names
    assert [bar.proto.text for bar in app.get("progress")] == [f"{name}: finished" for name in names]


OLD = [
    ({"methods": ["CRF", "HMM"], "crf.l2": "0.5", "crf.max_iter": "33"}, ["crf:l2=0.5:max_iter=33", "hmm"]),
    ({"crf.l2": "much"}, ["crf:l2=much", "hmsvm", "gps"]),
    (
        {"methods": [GP], "gps.kernel": "poly", "gps.kernel.degree": "3", "gps.kernel.constant": "0.5"},
        ["gps:kernel=poly:3:0.5"],
    ),
    ({"methods": [GP], "gps.kernel": "rbf:2+linear"}, ["gps:kernel=rbf:2+linear"]),
    (
        {"methods": ["HM-SVM"], "hmsvm.kernel": "token", "hmsvm.kernel.attribute": "part of speech"},
        ["hmsvm:kernel=token:part%20of%20speech"],
    ),
    (
        {"methods": [GP], "gps.search": ["kernel", "l2"], "gps.search.l2": "0.25 1", "gps.l2": "3"},
        ["gps:kernel=linear|poly:2|poly:3:l2=0.25|1"],
    ),
    ({"methods": ""}, [""]),
    ({"methods": ["Nonsense", "HMM"]}, ["hmm"]),
]


@pytest.mark.parametrize(("old", "expected"), OLD)
def test_links_of_version_0_1_still_open(open_page, old, expected):
    app = open_page("train", dataset="toy-pos", seed="7", **old)
    assert given(app) == expected
    assert set(app.query_params) == {"dataset", "seed", "variant"}, "the address is of today"


def test_columns_of_old_links_are_those_of_the_features(open_page):
    app = open_page(
        "train", dataset="pitch-accent", features="custom", **{"custom.columns": ["pos"], "S3.columns": ["x"]}
    )
    assert app.multiselect(key="columns").value == ["pos"]
    assert not [name for name in app.query_params if "." in name]


def test_an_address_that_is_late_takes_no_variant_back(open_page, monkeypatch):
    """A number is typed, and a click elsewhere ends it: both go out at once, with the address of before."""
    app = open_page("train", variant=["crf", "hmm"])
    before = dict(app.query_params)
    add(app, "maxent")
    app.query_params.clear()
    app.query_params.update(before)
    add(app, "naive-bayes")
    assert given(app) == ["crf", "hmm", "maxent", "naive-bayes"]
    monkeypatch.setattr(url, "UNDER_WAY", 0.0)
    app.query_params.clear()
    app.query_params.update(before)
    app.run()
    assert given(app) == ["crf", "hmm"], "later it is the Back button"


def test_a_click_on_a_card_that_the_back_button_took_away_does_nothing(open_page, monkeypatch):
    app = open_card(open_page("train", variant=["crf", "hmm"]), 1)
    monkeypatch.setattr(url, "UNDER_WAY", 0.0)
    app.query_params["variant"] = "crf"
    choose(app, 1, "smoothing", "0.001")
    assert problems(app) == []
    assert given(app) == ["crf"]


def test_odd_names_and_values_of_a_search_break_nothing(open_page):
    app = open_card(open_page("train", variant=["crf:l2=0.1|1", "crf:self=1|2"]), 1)
    choose(app, 1, "search", [])
    assert given(app)[1] == "crf"
    open_card(app, 0)
    choose(app, 0, "l2.values", "  ")
    assert given(app)[0] == "crf:l2=0.1|1|10", "no values are the usual ones"


def test_another_corpus_for_testing_must_have_the_same_labels(open_page):
    lines = [b"Ana\tA\neats\tB\n\n", b"Eva\tA\nruns\tB\n\n", b"Leo\tA\nsings\tB\n\n"]
    first, second = (store_upload(b"".join(lines * times), f"{times}.conll") for times in (3, 4))
    app = open_page("train", dataset=first, test_dataset=second, variant="hmm")
    assert problems(app) == []
    assert f"test_dataset: {second}" in text(app)
    app.selectbox(key="test_dataset").set_value("").run()
    assert "test_dataset" not in app.query_params
    other = open_page("train", dataset="toy-pos", test_dataset="spanish-ner")
    (told,) = problems(other)
    assert "spanish-ner does not have the labels of toy-pos" in told
    assert "test_dataset" not in text(other)
    unknown = open_page("train", dataset="toy-pos", test_dataset="nonsense")
    (told,) = problems(unknown)
    assert "nonsense" in told
    within_folds = open_page("train", dataset=first, test_dataset=second, folds="2")
    assert problems(within_folds) == []
    assert "test_dataset" not in [box.key for box in within_folds.selectbox]
