"""One sequence: the page says what the models say of the sentence, whatever is chosen or typed."""

from __future__ import annotations

import json
import math
import re
from html import escape

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, model, result
from labseq_core.experiments.run.one_task import scored_part
from labseq_core.explain import contributions, read_sequence, sentence_of
from pages.ui.drawing.plain_text import visible
from pages.ui.sequence import words
from tests.app.conftest import SECONDS_PER_RUN, problems, text
from tests.experiments.runs import trained_here

RUN, KERNELS = "default:spanish-ner", "default:abstention"
CRF, MARGIN, GP = "CRF", "HM-SVM", "GP sequence classification"
LABELS = {choice.label.partition(" (")[0]: choice.label for choice in result(RUN).config.methods}  # by short name
HOW_SURE, STEPS, WHY, WHAT_IF = "How sure", "Step by step", "Why this label", "What if"
NASTY = "<script>alert(1)</script> ![x](http://example.com/x.png) \u202eabc *b* $x$ <a href='http://example.com'>y</a> &amp;"


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Ask every model once: what that compiles the first time is not what a page has its seconds for."""
    for run_id in (RUN, KERNELS):
        for choice in result(run_id).config.methods:
            read(run_id, choice.label, 1)


@pytest.fixture
def no_runs(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


def charts(app) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def chart(app) -> dict:
    """The only one of the open view."""
    (found,) = charts(app)
    return found


def html(app, what: str) -> str:
    """The part of the page with this accessible name."""
    (found,) = [each.proto.body for each in app.get("html") if f'aria-label="{what}"' in each.proto.body]
    return found


def read(run_id: str, label: str, number: int, typed: list[str] | None = None, force: dict | None = None):
    one = sentence_of(scored_part(result(run_id).config), number - 1, typed)
    decoding = result(run_id).config.variant(label).decoding
    return read_sequence(model(run_id, label), one, force, decoding), one


@pytest.mark.usefixtures("no_runs")
def test_a_sentence_is_shown_without_a_choice(open_page):
    app = open_page("sequence")
    assert problems(app) == []
    assert app.selectbox(key="run").value == RUN
    number = app.number_input(key="n").value
    assert app.multiselect(key="beside").value == [CRF, MARGIN, GP]
    assert app.segmented_control(key="look").value == GP
    reading, one = read(RUN, LABELS[GP], number)
    assert one.flat_tokens == result(RUN).examples[number - 1]["tokens"], "numbered as on Compare"
    assert reading.labels == result(RUN).examples[number - 1]["predictions"][LABELS[GP]]
    assert app.text_input(key="words").value == " ".join(one.flat_tokens)
    assert app.slider(key="step").value == reading.least_sure + 1
    assert [header.value for header in app.header] == ["Labels side by side", "One model, one position"]
    assert app.segmented_control(key="show").value == HOW_SURE


@pytest.mark.parametrize("number", [1, 7, 80])
def test_labels_stand_beside_the_truth_with_their_confidence(open_page, number):
    app = open_page("sequence", run=RUN, n=str(number))
    assert problems(app) == []
    shown = html(app, "Labels of one sentence")
    for name, label in LABELS.items():
        reading, one = read(RUN, label, number)
        row = shown.split(f'<th scope="row">{name}</th>')[1].split("</tr>")[0]
        for predicted, true, sure in zip(reading.labels, one.flat_labels, reading.confidence):
            note = f"p {sure:.2f}" if reading.probabilistic else f"gap {sure:.2f}"
            assert f"{'' if predicted == true else '✗ '}{predicted}<small>{note}</small>" in row
    assert shown.split('<th scope="row">truth</th>')[1].count("<td") > len(one.flat_labels)


def test_methods_are_chosen_and_none_is_all(open_page):
    app = open_page("sequence", run=RUN)
    app.multiselect(key="beside").set_value([MARGIN]).run()
    assert problems(app) == []
    assert app.segmented_control(key="look").options == [MARGIN]
    assert '<th scope="row">CRF</th>' not in html(app, "Labels of one sentence")
    app.multiselect(key="beside").set_value([]).run()
    assert problems(app) == []
    assert app.segmented_control(key="look").options == [CRF, MARGIN, GP]


def test_scores_are_never_called_probabilities(open_page):
    app = open_page("sequence", run=RUN)
    app.segmented_control(key="look").set_value(MARGIN).run()
    assert problems(app) == []
    assert "not probabilities" in text(app)
    number = app.number_input(key="n").value
    reading, _ = read(RUN, LABELS[MARGIN], number)
    best = html(app, "The best labellings")
    assert f"1: score {reading.k_best(1)[0]['score']:.2f}" in best
    assert ": p " not in best
    assert max(max(value for value in row if value is not None) for row in chart(app)["data"][0]["z"]) == 0.0


def test_marginals_and_best_labellings_of_one_model(open_page):
    app = open_page("sequence", run=RUN, n="3", look=GP, step="2")
    assert problems(app) == []
    reading, _ = read(RUN, LABELS[GP], 3)
    drawn = chart(app)["data"][0]
    first = drawn["x"][0]
    for row, line in enumerate(drawn["z"]):
        assert line == pytest.approx(reading.lattice.marginals[first : first + len(line), row].tolist())
    best = html(app, "The best labellings")
    for row in reading.k_best(5):
        assert f"{row['rank']}: p {row['probability']:.3f}, score {words.number(row['score'])}" in best


@pytest.mark.parametrize("recursion", ["Forward", "Backward", "Viterbi"])
def test_the_trellis_is_stepped_through(open_page, recursion):
    app = open_page("sequence", run=RUN, n="2", step="1", show=STEPS, recursion=recursion, look=CRF)
    reading, one = read(RUN, LABELS[CRF], 2)
    values = reading.lattice.values(recursion.lower())
    for position in range(1, 4):
        assert problems(app) == []
        assert app.slider(key="step").value == position
        nodes = chart(app)["data"][-1]
        for (place, label), shown in zip(nodes["customdata"], nodes["text"]):
            done = place >= position if recursion == "Backward" else place <= position
            expected = words.number(values[place - 1, reading.classes.index(label)]) if done else ""
            assert shown == expected
        label = app.selectbox(key="node").value
        assert label == reading.labels[position - 1]
        step = reading.lattice.step(recursion.lower(), position - 1, reading.classes.index(label))
        assert f"<b>{words.number(step.value)}</b>" in text(app)
        symbol = {"Forward": "α", "Backward": "β", "Viterbi": "δ"}[recursion]
        assert f"{symbol}<sub>{position}</sub>(<bdi>{label}</bdi>) =" in text(app)
        next(button for button in app.button if button.label == "Next").click().run()
    next(button for button in app.button if button.label == "Previous").click().run()
    assert app.slider(key="step").value == 3
    app.selectbox(key="node").set_value("B-PER").run()
    assert f"{symbol}<sub>3</sub>(<bdi>B-PER</bdi>) =" in text(app)
    app.slider(key="step").set_value(len(one.flat_tokens)).run()
    assert problems(app) == []
    assert next(button for button in app.button if button.label == "Next").disabled
    assert app.selectbox(key="node").value == reading.labels[-1], "a node belongs to its position"


def test_the_parts_of_a_decision_are_drawn_and_add_up(open_page):
    app = open_page("sequence", run=RUN, n="2", step="3", show=WHY, against="B-LOC", look=CRF)
    assert problems(app) == []
    reading, one = read(RUN, LABELS[CRF], 2)
    expected = contributions(model(RUN, LABELS[CRF]), one, reading.labels, reading.labels_through(2, "B-LOC"))
    bars = chart(app)["data"][0]
    assert bars["x"][:-1] == [row["difference"] for row in expected.rows[: len(bars["x"]) - 1]]
    assert sum(bars["x"]) == pytest.approx(expected.difference)
    assert f"a difference of <b>{words.number(expected.difference, 3)}</b>" in text(app)
    app.selectbox(key="against").set_value("B-ORG").run()
    assert problems(app) == []
    assert "the best one with <b><bdi>B-ORG</bdi></b> there" in text(app)


@pytest.mark.usefixtures("no_runs")
def test_posterior_decoding_is_shown_and_explained_by_probabilities(open_page):
    crf = {"max_iter": 15}
    choices = (
        MethodChoice("crf", crf, decode="posterior"),
        MethodChoice("crf", crf),
        MethodChoice("crf-marginal", crf),
    )
    run_id = trained_here(ExperimentConfig("pitch-accent", choices, FeatureChoice("prosody"), sequences=60))
    posterior, best = (choice.label for choice in choices[:2])
    part = scored_part(result(run_id).config)
    given = [model(run_id, posterior).predict(part, decode) for decode in ("posterior", "viterbi")]
    number = next(n for n, (one, other) in enumerate(zip(*given), start=1) if one != other)
    place = next(t for t, (one, other) in enumerate(zip(*(labels[number - 1] for labels in given))) if one != other)
    app = open_page("sequence", run=run_id, n=str(number), look="CRF (posterior)", step=str(place + 1), show=WHY)
    assert problems(app) == []
    assert "Decoded by Viterbi; Marginal CRF, where the name says so: posterior." in text(app)
    rows = html(app, "Labels of one sentence").split('<th scope="row">')
    shown = {row.partition("</th>")[0]: re.findall(r"([^<> ]+)<small>p", row) for row in rows}
    assert [shown["CRF (posterior)"], shown["CRF (viterbi)"]] == [labels[number - 1] for labels in given]
    assert shown["Marginal CRF"] == model(run_id, choices[2].label).predict(part, "posterior")[number - 1]
    reading, one = read(run_id, posterior, number)
    probabilities = model(run_id, posterior).marginals(one)[0][place]
    assert (
        reading.labels[place] == reading.classes[probabilities.argmax()] != read(run_id, best, number)[0].labels[place]
    )
    own, rival = (probabilities[reading.classes.index(name)]
                  for name in (reading.labels[place], app.selectbox(key="against").value))  # fmt: skip
    assert sum(chart(app)["data"][0]["x"]) == pytest.approx(math.log(own / rival))
    assert f"that is {own:.3f} for <b>" in text(app)
    app.segmented_control(key="show").set_value(STEPS).run()
    assert problems(app) == []
    assert f"= <b>{own:.3f}</b>; the label given is" in text(app)
    app.segmented_control(key="show").set_value(HOW_SURE).run()
    assert '<th scope="row">given</th>' in html(app, "The best labellings")


@pytest.mark.parametrize("name", ["GP sequence classification", "Sparse GP sequence classification", "HM-SVM"])
def test_kernel_methods_show_the_training_words_that_decided(open_page, name):
    app = open_page("sequence", run=KERNELS, look=name, show=WHY)
    assert problems(app) == []
    number, position = app.number_input(key="n").value, app.slider(key="step").value - 1
    label = next(choice.label for choice in result(KERNELS).config.methods if choice.label.startswith(name))
    reading, one = read(KERNELS, label, number)
    rival = reading.labels_through(position, reading.rival_at(position))
    why = contributions(model(KERNELS, label), one, reading.labels, rival)
    best = why.observations_at(position + 1)[0]
    (shown,) = [each.proto.body for each in app.get("html") if "ls-voices" in each.proto.body]
    first = shown.split("</li>")[0]
    assert f"<b>{words.vote(best['difference'])}</b>" in first
    assert f"k = {best['value']:.3f}" in first
    assert "<mark>" in first
    assert sum(chart(app)["data"][0]["x"]) == pytest.approx(why.difference)
    assert "training observations together" in shown


def test_a_forced_label_changes_the_rest(open_page):
    app = open_page("sequence", run=RUN, show=WHAT_IF)
    number, position = app.number_input(key="n").value, app.slider(key="step").value - 1
    for forced in (app.selectbox(key="force").value, "B-PER"):
        app.selectbox(key="force").set_value(forced).run()
        assert problems(app) == []
        shown = html(app, "Labels after one was forced")
        for name in (GP, CRF):
            label = LABELS[name]
            free, _ = read(RUN, label, number)
            after, _ = read(RUN, label, number, force={position: forced})
            row = shown.split(f'<th scope="row">{name}</th>')[1].split("</tr>")[0]
            assert row.count("→ ") == sum(a != b for a, b in zip(free.labels, after.labels))
            for t, (new, old) in enumerate(zip(after.labels, free.labels)):
                note = "forced" if t == position else f"p {after.confidence[t]:.2f}"
                assert f"{'' if new == old else '→ '}{new}<small>{note}</small>" in row
            cost = free.cost_of(position, forced)
            assert f"<td>{words.number(cost['behind'], 3)}</td><td>{cost['probability']:.3f}</td>" in html(
                app, "What it costs"
            )


def test_typed_words_are_labelled_and_nobody_knows_the_truth(open_page):
    app = open_page("sequence", run=RUN, n="4", step="3")
    typed = ["Ana", "vive", "en", "Lima"]
    app.text_input(key="words").set_value("  Ana vive   en Lima ").run()
    assert problems(app) == []
    assert app.slider(key="step").max == 4
    shown = html(app, "Labels of one sentence")
    assert "truth" not in shown
    reading, _ = read(RUN, LABELS[CRF], 4, typed)
    row = shown.split('<th scope="row">CRF</th>')[1]
    for label, sure in zip(reading.labels, reading.confidence):
        assert f"{label}<small>p {sure:.2f}</small>" in row
    assert "nobody knows the true labels" in text(app)
    assert "columns" not in app.info[0].value
    next(button for button in app.button if button.label == "Back to its own words").click().run()
    assert problems(app) == []
    assert "truth" in html(app, "Labels of one sentence")
    app.text_input(key="words").set_value("Lima").run()
    assert problems(app) == [], "a sentence of one word has nothing to slide"
    assert not app.slider
    app.text_input(key="words").set_value("   ").run()
    assert "truth" in html(app, "Labels of one sentence"), "no words at all are its own words"
    app.text_input(key="words").set_value("Lima").run()
    app.number_input(key="n").set_value(5).run()
    assert problems(app) == []
    assert "truth" in html(app, "Labels of one sentence"), "another number drops typed words"


def test_changed_words_keep_the_columns_of_the_sentence(open_page):
    app = open_page("sequence", run=KERNELS, n="1", words="yeah she went " * 20)
    assert problems(app) == []
    assert "stay as in the sentence, position by position" in app.info[0].value
    assert "as if their cells were empty" in app.info[0].value
    reading, one = read(KERNELS, LABELS[CRF], 1, ("yeah she went " * 20).split())
    assert len(reading) == 60
    assert "duration" in app.info[0].value or any(f"`{name}`" in app.info[0].value for name in one.flat_columns)


@pytest.mark.parametrize(
    "typed", [NASTY, "x" * 1999, "<b>" * 600, "\u200f\u202e" * 50, "`" * 30 + " [a](b) :material/home: _"]
)
@pytest.mark.parametrize(("run", "view"), [(RUN, HOW_SURE), (KERNELS, WHY), ("default:toy-pos", STEPS), (RUN, WHAT_IF)])
def test_whatever_is_typed_is_text(open_page, typed, run, view):
    app = open_page("sequence", run=run, words=typed, show=view)
    assert problems(app) == []
    bodies = "".join(each.proto.body for each in app.get("html"))
    for word in typed.split()[:1]:
        assert escape(visible(word)[:60]) in bodies
    assert "<script" not in bodies
    assert "<b><b>" not in bodies
    assert "<a " not in bodies
    drawn = json.dumps(charts(app))
    assert "<script" not in drawn
    assert "<a href" not in drawn
    written = "".join(str(each.value) for kind in (app.markdown, app.caption, app.info) for each in kind)
    assert "example.com" not in written


def test_an_endless_sentence_in_the_url_is_cut_and_told(open_page):
    app = open_page("sequence", run=RUN, words="a b " * 2000)
    assert problems(app) == []
    assert "more than 2,000 characters are cut off" in text(app)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n", "0"), ("n", "81"), ("n", "nonsense"), ("n", "9" * 5000), ("step", "-1"), ("step", "99"), ("step", "²"),
     ("node", "Q"), ("against", "Q"), ("force", "Q"), ("look", "Q"), ("beside", "Q"), ("recursion", "Sideways"),
     ("show", "Everything")],
)  # fmt: skip
def test_nonsense_in_the_url_is_left_out(open_page, name, value):
    app = open_page("sequence", run=RUN, **{name: value})
    assert problems(app) == []
    assert app.query_params.get(name) != value
    assert "Labels of one sentence" in text(app)


def test_a_very_long_word_and_sentence_of_a_corpus(open_page, monkeypatch):
    from labseq_core.data.sequences import Sequences
    from pages.ui.sequence import cached as sequence_data

    words_, labels = ["x" * 10_000, *["de"] * 700], ["O"] * 701
    part = Sequences.from_lists([words_] * 80, [labels] * 80)
    monkeypatch.setattr(sequence_data, "part", lambda run_id: part)
    app = open_page("sequence", run=RUN, n="77")
    assert problems(app) == []
    assert app.text_input(key="words").value == ""
    shown = html(app, "Labels of one sentence")
    assert "(10,000 letters)" in shown
    assert "x" * 100 not in shown
    assert "… and 501 more tokens" in shown
    app.slider(key="step").set_value(650).run()
    assert problems(app) == []


@pytest.mark.usefixtures("no_runs")
def test_constraints_and_one_label_are_told(open_page):
    choices = (MethodChoice("crf", {"constraints": "bio"}), MethodChoice("perceptron", {"epochs": 1}))
    trained = trained_here(ExperimentConfig("spanish-ner", choices, FeatureChoice("S1")))
    app = open_page("sequence", run=trained, step="1", force="I-PER", look="CRF")
    assert problems(app) == []
    assert "its constraints forbid it here" in text(app)
    assert '<th scope="row">Averaged perceptron</th>' in html(app, "Labels after one was forced")
    app.selectbox(key="force").set_value("B-PER").run()
    assert "its constraints forbid it here" not in text(app)
    app.segmented_control(key="show").set_value(STEPS).run()
    assert "−∞" in json.dumps(charts(app), ensure_ascii=False), "what is forbidden is shown as such"


@pytest.mark.usefixtures("no_runs")
def test_an_unknown_run_is_told_and_another_shown(open_page, monkeypatch):
    app = open_page("sequence", run="nonsense")
    (message,) = problems(app)
    assert "there is no" in message
    assert len(charts(app)) == 1
    monkeypatch.setattr("pages.ui.cached.defaults", dict)
    app = open_page("sequence")
    assert problems(app) == []
    assert "no finished run to show" in text(app)


@pytest.mark.usefixtures("no_runs")
def test_a_run_whose_models_are_gone_says_so(open_page, monkeypatch):
    from labseq_core import LabSeqError

    def gone(run, label):
        raise LabSeqError(f"run {run.run_id} has no model {label!r}; run it again to get one")

    monkeypatch.setattr("pages.ui.cached.trained", gone)
    st.cache_data.clear()  # what another test has read of it
    st.cache_resource.clear()
    app = open_page("sequence", run="default:parity")
    (message,) = problems(app)
    assert "run it again to get one" in message


def test_a_link_to_another_sentence_begins_anew(open_page):
    app = open_page("sequence", run=RUN, n="2", step="2", node="B-PER", look=CRF)
    assert app.slider(key="step").value == 2
    app.switch_page("pages/compare.py").run()
    app.switch_page("pages/sequence.py").run()
    assert problems(app) == []
    assert (app.number_input(key="n").value, app.slider(key="step").value) == (2, 2), "it comes back"
    app.switch_page("pages/compare.py").run()
    app.query_params.clear()
    app.query_params["words"] = "Ana vive en Lima"
    app.switch_page("pages/sequence.py").run()
    reading, _ = read(RUN, LABELS[CRF], 2, ["Ana", "vive", "en", "Lima"])
    assert app.slider(key="step").value == reading.least_sure + 1


def box_page() -> None:
    from labseq_core.experiments import default_results
    from pages.ui.start.type_sentence import labelled_live

    labelled_live(default_results()["abstention"])


def test_the_box_of_the_start_page_labels_live():
    app = AppTest.from_function(box_page, default_timeout=SECONDS_PER_RUN).run()
    assert problems(app) == []
    shown = html(app, "Labels of one sentence")
    assert shown.count('<th scope="row">') == 2 + 3, "sentence, truth and three methods"
    app.text_input(key="typed").set_value("she <i>went</i>").run()
    assert problems(app) == []
    shown = html(app, "Labels of one sentence")
    assert "truth" not in shown
    assert "&lt;i&gt;went&lt;/i&gt;" in shown
    assert "columns" in text(app)
