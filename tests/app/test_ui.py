"""What the pages draw with: looks that can be told apart, text that is never markup, sizes a browser can take."""

from __future__ import annotations

import ast
import re

import plotly.graph_objects as go
import pytest

from labseq_core.data.catalogue import dataset_info
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice
from labseq_core.learners.options import Option
from labseq_core.serving.palette import BACKGROUNDS, COLOURS
from pages.ui import cached as caching
from pages.ui.choices.variant_names import short_names
from pages.ui.compare import charts as compare_charts
from pages.ui.compare import confusion
from pages.ui.drawing import charts, metrics, tokens
from pages.ui.drawing import plain_text as plain
from pages.ui.drawing.colours import label_styles, look, style_variables
from pages.ui.frame.navigation import _HERE
from pages.ui.inside.boosting import charts as boosting_charts
from pages.ui.train.variant_options import powers_of_ten

SUMMARY = {
    "sequence_accuracy_mean": 0.5,
    "sequence_accuracy_se": None,
    "span_f1_mean": None,
    "span_f1_se": None,
    "folds": 5,
}


def row(label: str, accuracy: float, error: float | None) -> dict:
    return {**SUMMARY, "label": label, "accuracy_mean": accuracy, "accuracy_se": error}


def test_methods_differ_in_more_than_colour():
    looks = [look(place) for place in range(len(COLOURS))]
    assert len({each.pattern for each in looks}) == len({each.marker for each in looks}) == len(COLOURS)


def test_a_chart_of_the_same_data_is_made_once():
    rows = [row("CRF", 0.5, 0.01)]
    made = charts.score_bars(rows)
    assert charts.score_bars([row("CRF", 0.5, 0.01)]) is made
    assert charts.score_bars(rows, {"viterbi": 0.9}) is not made
    assert charts.score_bars([row("CRF", 0.6, 0.01)]) is not made
    for number in range(charts._MOST_KEPT):
        charts.score_bars([row("CRF", number / 1000, None)])
    assert len(charts._kept) == charts._MOST_KEPT
    assert charts.score_bars(rows) is not made, "the oldest has gone"


def test_shares_of_a_confusion_matrix_are_of_the_true_label():
    assert confusion.row_shares([[3, 1], [0, 0], [0, 5]]) == [[0.75, 0.25], [0.0, 0.0], [0.0, 1.0]]


def test_a_click_on_a_confusion_opens_the_cell_that_is_seen_there():
    counts = [[5, 2], [0, 1]]
    _, marks = confusion.heat_map(["A", "B"], counts, confusion.Cell("A", "B", 2)).data
    seen = list(zip(marks.y, marks.x, marks.customdata))
    assert seen == [("A", "A", "A → A"), ("A", "B", "A → B"), ("B", "B", "B → B")]


def test_short_names_say_only_what_differs():
    boosted = [MethodChoice("boost", {"bound": bound, "rounds": 9}) for bound in ("loose", "exact")]
    assert list(short_names(boosted).values()) == ["loose", "exact"]
    more = [*boosted, MethodChoice("boost", {"smoothing": 0.01}), MethodChoice("crf", {"l2": 0.1})]
    names = [
        "Sequence boosting (loose, rounds=9, smoothing=0.0001)",
        "Sequence boosting (exact, rounds=9, smoothing=0.0001)",
    ]
    assert list(short_names(more).values()) == [*names, "Sequence boosting (exact, rounds=500, smoothing=0.01)", "CRF"]
    assert list(short_names(more)) == [choice.label for choice in more]
    kernels = [MethodChoice("dual-perceptron", {"kernel": kernel}) for kernel in ("linear", "poly:2", "token:Lemma")]
    assert list(short_names(kernels).values()) == ["linear", "poly:2", "token:Lemma"]
    constrained = [MethodChoice("crf"), MethodChoice("crf", {"constraints": "bio"})]
    assert list(short_names(constrained).values()) == ["constraints=none", "constraints=bio"]


def test_the_line_of_the_truth_is_decoded_as_what_stands_beside_it():
    marginal = MethodChoice("crf-marginal")
    for methods, lines in [
        ((MethodChoice("crf"),), ["viterbi"]), ((marginal,), ["posterior"]),
        ((marginal, MethodChoice("crf")), ["viterbi", "posterior"]),
    ]:  # fmt: skip
        config = ExperimentConfig("pitch-accent", methods)
        known = dataset_info("pitch-accent").bayes_test_accuracy
        bayes = caching.bayes_accuracies(config)
        assert bayes == {decoding: known[decoding] for decoding in lines}
        figure = charts.score_bars([row("CRF", 0.5, None)], bayes)
        assert [shape.y0 for shape in figure.layout.shapes] == list(bayes.values())
        (named,) = figure.layout.annotations
        said = metrics.bayes_words(bayes)
        for decoding in lines:
            title = {"viterbi": "Viterbi", "posterior": "posterior"}[decoding]
            assert f"Bayes, {title} {known[decoding]:.3f}" in named.text
            assert f"by {title} ({known[decoding]:.1%})" in said
            assert f"decoded by {title}: {known[decoding]:.3f}" in charts.score_text([row("CRF", 0.5, None)], bayes)
    assert known["viterbi"] != known["posterior"]
    assert caching.bayes_accuracies(ExperimentConfig("conll2002-es", (marginal,))) == {}
    assert metrics.bayes_words({}) == ""


def test_short_names_tell_variants_apart_whatever_they_differ_in():
    crf = [
        MethodChoice("crf"), MethodChoice("crf", decode="posterior"), MethodChoice("crf", {}, "tune"),
        MethodChoice("crf", {}, {"l2": [0.1, 1.0]}), MethodChoice("crf", {"l2": 0.1}),
        MethodChoice("crf", features=FeatureChoice("S2")), MethodChoice("crf", sequences=20), MethodChoice("crf", noise=0.1),
    ]  # fmt: skip
    assert list(short_names(crf[:2]).values()) == ["viterbi", "posterior"]
    assert list(short_names([crf[0], crf[2]]).values()) == ["l2=1", "tuned"]
    assert list(short_names([crf[2], crf[4]]).values()) == ["tuned", "l2=0.1"]
    assert list(short_names([crf[0], crf[5], crf[6]]).values()) == ["CRF", "CRF (S2)", "CRF (20 training sequences)"]
    for more in ([], [MethodChoice("crf-marginal")], [MethodChoice("hmm"), MethodChoice("hmm", noise=0.1)]):
        names = short_names([*crf, *more])
        assert len(set(names.values())) == len(names) == len(crf) + len(more)


def test_curves_of_very_many_rounds_are_thinned():
    rows = [
        {"round": n, "kind": "attribute", "step": 1.0, "feature": f"f{n}", "log_loss": -float(n)}
        for n in range(1, 50_001)
    ]
    for number in (1, 20_000, 50_000):
        done, later = boosting_charts.steps_by_round(rows, number).data[:2]
        assert len(done.x) + len(later.x) <= 2002
        assert done.x[-1] == number
    (line,) = boosting_charts.loss_curves({"m": boosting_charts.thinned(rows)}).data
    assert len(line.x) <= 2002
    assert line.x[-1] == 50_000


def test_labels_of_one_kind_share_a_colour_and_others_do_not():
    styles = label_styles(["O", "B-PER", "I-PER", "B-LOC"])
    assert styles["B-PER"] == styles["I-PER"] != styles["B-LOC"]
    assert len(set(label_styles([f"L{number}" for number in range(30)]).values())) == 30


def test_words_and_labels_are_never_markup():
    evil = '<img src=x onerror="alert(1)">'
    shown = tokens.sentences([[evil]], [[evil]], [evil]) + tokens.legend({evil: 1}, [evil])
    shown += tokens.labellings([evil], [evil], {evil: [evil]}, [evil])
    for threshold in (0.0, 1.0):
        shown += tokens.withheld([1], [[evil]], [[evil]], [["O"]], [[0.5]], threshold, True, [evil, "O"])
        shown += tokens.withheld([1], [[evil]], [["O"]], [[evil]], [[0.5]], threshold, False, [evil, "O"])
    assert "<img" not in shown


def test_what_is_withheld_never_looks_as_sure_as_the_threshold():
    shown = tokens.withheld([1], [["w"]], [["A"]], [["A"]], [[0.6999]], 0.7, True, ["A"])
    assert "<small><bdi>A</bdi> 0.69</small>" in shown
    assert "ls-withheld" in shown
    assert "ls-withheld" not in tokens.withheld([1], [["w"]], [["A"]], [["A"]], [[0.7]], 0.7, True, ["A"])
    assert "gap 0.0123" in tokens.withheld([1], [["w"]], [["A"]], [["A"]], [[0.01234]], 0.7, False, ["A"])


def test_what_nobody_would_see_is_written_by_its_number():
    assert plain.visible("a\u202eb\u200b\0\n") == "a⟨U+202E⟩b⟨U+200B⟩⟨U+0000⟩⟨U+000A⟩"
    assert plain.visible("👩‍👩‍👧 الكتاب é ٣ \u200c") == "👩‍👩‍👧 الكتاب é ٣ \u200c", "what scripts and emoji need stays"
    assert plain.shortened("w" * 10_000) == "w" * 60 + "… (10,000 letters)"
    assert len(plain.shortened("\u202e" * 10_000)) < 90


def test_text_of_data_is_no_markup_to_a_chart():
    assert plain.in_chart("<b>%{x}</b>") == "&lt;b&gt;%&#123;x}&lt;/b&gt;"
    long = ["l" * 100, "l" * 101, "l" * 102, "m"]
    names = plain.names_in_chart(long)
    assert len(set(names)) == 4, "an axis tells places by their names"
    assert max(map(len, names)) < 50
    labels, counts = ["<b>x</b>", "%{x}<br>", *long], [[1] * 6] * 6
    rows = [{"label": label, "precision": 1, "recall": 1, "f1": 1, "support": 1} for label in labels]
    for figure in (
        charts.label_bars(dict.fromkeys(labels, 1)),
        charts.transition_heat_map(labels, counts),
        charts.weight_bars([{"attribute": label, "weight": 1.0} for label in labels]),
        confusion.heat_map(labels, counts, confusion.Cell(labels[0], labels[1], 1)),
        compare_charts.label_dots({"m": rows}, {"m": "m"}),
    ):
        figure = go.Figure(figure)  # that of the memory is everybody's
        figure.for_each_trace(lambda trace: trace.update(customdata=None))  # told to the server, not drawn
        drawn = figure.to_json().encode().decode("unicode_escape")
        assert "<b>x" not in drawn
        assert "%{x}<br>" not in drawn
        places = next(len(set(trace.y)) for trace in figure.data if trace.y is not None)
        assert places == len(labels)


@pytest.mark.parametrize(
    "text",
    ["*a* _b_ `c` ~~d~~ [e](f) ![g](h) <i> # | $j$ \\ a@b.cd http://k.l www.m.n", ":red[x]", ":material/delete:", ":smile:",
     "- x", "+ x", "# x", "> x"],
)  # fmt: skip
def test_text_of_data_is_no_markup_to_markdown(text):
    escaped = plain.in_markdown(text)
    read = re.sub(r"\\(.)", r"\1", escaped).replace("\u2060", "")
    assert read == text, "nothing is lost"
    bare = re.sub(r"\\.", "", escaped)
    assert not re.search(r"[*`\[\]<>#|$~@]|:\w+[:/\[]|://|www\.|^[-+]|\b_|_\b", bare)


def test_words_with_an_underscore_stay_readable():
    assert plain.in_markdown("set LABSEQ_STORE; did you mean toy-pos?") == "set LABSEQ_STORE; did you mean toy-pos?"


def test_very_long_sentences_and_very_many_labels_are_cut():
    words = ["w"] * 100_000
    assert len(tokens.sentences([words], [words], ["w"])) < 100_000
    assert "99,800 more tokens" in tokens.sentences([words], [words], ["w"])
    assert "99,800 more tokens" in tokens.labellings(words, words, {"m": words}, ["w"])
    unsure = tokens.withheld([1], [words], [words], [words], [[0.5] * len(words)], 0.7, True, ["w"])
    assert "99,800 more tokens" in unsure
    assert len(unsure) < 100_000
    labels = {f"L{number}": 1 for number in range(5000)}
    assert "4,940 more labels" in tokens.legend(labels, list(labels))
    assert charts.label_bars(labels).layout.height < 2000


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row("A", 0.9, 0.01), row("B", 0.8, 0.01)], "**A** is ahead."),
        ([row("A", 0.9, 0.1), row("B", 0.8, 0.1)], "No method is clearly ahead."),
        ([row("A", 0.9, 0.01), row("B", 0.89, 0.01), row("C", 0.5, 0.01)], "**A** and **B** are ahead, about equal."),
        ([row("A", 0.9, None), row("B", 0.8, None)], "**A** is ahead."),
    ],
)
def test_who_leads_respects_standard_errors(rows, expected):
    assert metrics.who_leads(rows) == expected


def test_error_bars_only_where_there_are_errors():
    assert charts.score_bars([row("A", 0.9, None)]).data[0].error_y.array is None
    with_errors = [{**row("A", 0.9, 0.01), "sequence_accuracy_se": 0.02}]
    assert list(charts.score_bars(with_errors).data[0].error_y.array) == [0.01, 0.02]


def test_long_names_of_methods_are_whole_in_a_legend():
    name = "Sparse GP sequence classification (fraction=0.15, kernel=rbf:5, l2=0.1, refit=all, select=best)"
    lines = charts.in_lines(name).split("<br>")
    assert "".join(lines) == name
    assert len(lines) > 1
    assert max(map(len, lines)) <= 44
    assert charts.in_lines("Averaged perceptron (epochs=2)") == "Averaged perceptron (epochs=2)"
    few, many = (charts.score_bars([row(label, 0.9, None)]) for label in ("CRF", name))
    assert many.layout.height > few.layout.height == 400


@pytest.mark.parametrize(
    ("default", "low", "high"), [(1.0, 0.0, 1e6), (0.0, 0.0, 1e6), (0.1, 1e-9, 1e3), (1e-3, 0.0, 1.0)]
)
def test_powers_of_ten_hold_the_default_and_keep_the_limits(default, low, high):
    option = Option("x", "float", default, "help", low=low, high=high, log_scale=True)
    offered = powers_of_ten(option)
    assert f"{default:g}" in offered
    assert len(set(offered)) == len(offered)
    assert [value for value in offered if not low <= option.parse(value) <= high] == []


def test_the_style_sheet_has_its_colours_from_the_theme():
    sheet = (_HERE / "style.css").read_text(encoding="utf-8")
    assert not re.findall(r"#[0-9A-Fa-f]{3,8}\b", sheet), "a colour that the theme or the palette declares too"
    named = set(re.findall(r"var\((--ls-[a-z-]+)\)", sheet))
    assert named == set(re.findall(r"(--ls-[a-z-]+):", style_variables()))
    assert f"light-dark({BACKGROUNDS['light']}, {BACKGROUNDS['dark']})" in style_variables()


def test_colours_are_written_down_once():
    """With the theme and beside the looks of methods; everywhere else they have names."""
    places = [path for path in _HERE.parents[1].rglob("*.py") if path.name != "colours.py"]
    assert {str(path) for path in places if re.search(r"#[0-9A-Fa-f]{6}\b", path.read_text(encoding="utf-8"))} == set()


def test_no_constant_of_the_pages_is_declared_twice():
    """What has one value under one name in several files belongs into one of them."""
    declared: dict[tuple[str, str], list[str]] = {}
    for path in _HERE.parents[1].rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper():
                key = node.targets[0].id.lstrip("_"), ast.unparse(node.value)
                declared.setdefault(key, []).append(path.name)
    assert {key: files for key, files in declared.items() if len(files) > 1} == {}
