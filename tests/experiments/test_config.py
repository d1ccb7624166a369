"""The configuration: validated, frozen, the same after any round trip."""

import json
import shlex
from dataclasses import replace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.checks import LabSeqError
from labseq_core.evaluation.registry import METRICS
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice
from labseq_core.experiments.plan.python_script import python_script
from labseq_core.features import TEMPLATES, Template
from labseq_core.kernels import KERNELS, Linear, Polynomial
from labseq_core.registry import Source
from tests.experiments.runs import outcomes_here
from tests.kernels.strategies import kernels
from tests.outside import Laplace, added

CORPUS = "spanish-ner"


def config(**changes) -> ExperimentConfig:
    return ExperimentConfig(**{"dataset": CORPUS, "methods": (MethodChoice("crf"),), **changes})


configs = st.builds(
    ExperimentConfig,
    dataset=st.sampled_from([CORPUS, "toy-pos"]),
    methods=st.lists(
        st.one_of(
            st.builds(lambda l2: MethodChoice("crf", {"l2": l2}), st.floats(0, 100)),
            st.builds(lambda n, a: MethodChoice("perceptron", {"epochs": n, "averaged": a}), st.integers(1, 9), st.booleans()),
            st.builds(lambda decay: MethodChoice("exp", {"length_decay": decay}), st.floats(0.01, 1.0)),
            st.just(MethodChoice("hmm")),
            st.builds(
                lambda tried: MethodChoice("gps", {"eta": 2.0}, {"l2": tried, "kernel": ["poly:2", "rbf:1"]}),
                st.lists(st.floats(0.01, 100), min_size=2, max_size=3, unique=True),
            ),
            st.builds(lambda kernel: MethodChoice("dual-perceptron", {"kernel": kernel, "epochs": 3}), kernels),
        ),
        min_size=1, max_size=4, unique_by=lambda choice: choice.label,
    ),
    features=st.builds(
        FeatureChoice, st.sampled_from(["S1", "S2", "S3", "POS"]), st.sampled_from([None, 1, 5]), joint=st.booleans()
    ),
    folds=st.sampled_from([0, 2, 5]),
    seed=st.integers(0, 2**31),
    metrics=st.lists(st.sampled_from(list(METRICS)), max_size=3, unique=True),
    sequences=st.sampled_from([0, 50]),
)  # fmt: skip


@given(configs)
def test_round_trips_keep_everything(made):
    assert ExperimentConfig.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    again = ExperimentConfig.from_yaml(made.to_yaml())
    assert again == made == ExperimentConfig.from_yaml(made.to_json())
    assert again.hash == made.hash


@given(configs)
def test_the_command_line_says_the_same(made):
    words = shlex.split(made.cli_command())
    listed = words[words.index("--methods") + 1]
    shown = [MethodChoice.parse(text) for text in listed.split(",")]
    assert [choice.method for choice in shown] == [choice.method for choice in made.methods]
    assert shown == list(made.methods)


def test_a_search_is_part_of_the_choice():
    choice = MethodChoice("gps", {"eta": 2.0}, {"l2": [0.3, 1], "kernel": ["linear", Polynomial(2)]})
    assert choice.label == "GP sequence classification (eta=2; kernel of linear, poly:2; l2 of 0.3, 1)"
    assert choice.grid() == {"kernel": [Linear(), Polynomial(2)], "l2": [0.3, 1]}
    made = config(methods=[choice, MethodChoice("hmm")])
    assert "gps:eta=2:kernel=linear|poly:2:l2=0.3|1,hmm" in made.cli_command()
    assert made.hash != config(methods=[MethodChoice("gps", {"eta": 2.0}), MethodChoice("hmm")]).hash
    assert "search" not in config().to_dict()["methods"][0]
    compile(python_script(made), "snippet", "exec")
    for options, tried, said in (
        ({}, {"l2": [-1.0]}, "l2 is -1.0; allowed"),
        ({}, {"l2": 3.0}, "give a list of values"),
        ({}, {"nothing": [1]}, "has no option 'nothing'"),
        ({"l2": 2.0}, {"l2": [1.0]}, "both given and to be searched"),
        ({}, ["l2"], "search must be 'tune', or name options"),
        ({}, {"l2": []}, "no values of l2"),
    ):
        with pytest.raises(LabSeqError, match=said):
            MethodChoice("gps", options, tried)


def test_a_kernel_is_written_as_its_text_however_it_was_given():
    given = ["poly:2", "poly:2:1", " poly:2:1.0", Polynomial(2)]
    choices = [MethodChoice("dual-perceptron", {"kernel": kernel}) for kernel in given]
    assert {json.dumps(choice.options) for choice in choices} == {'{"kernel": "poly:2"}'}
    assert choices[0].label == "Dual perceptron (kernel=poly:2)"
    assert MethodChoice("dual-perceptron", {"kernel": "linear"}).options == {}
    made = config(methods=[choices[0], MethodChoice("dual-perceptron", {"kernel": "0.5*normalized(poly:3)+rbf:2"})])
    assert "kernel: poly:2\n" in made.to_yaml()
    assert "dual-perceptron:kernel=poly:2,dual-perceptron:kernel=0.5*normalized(poly:3)+rbf:2" in made.cli_command()
    snippet = python_script(made)
    assert "from labseq_core import DualPerceptron, Normalized, Polynomial, RBF\n" in snippet
    shown = "0.5 * Normalized(kernel=Polynomial(degree=3, constant=1.0)) + RBF(width=2.0)"
    assert f"DualPerceptron(kernel={shown}, seed=0)" in snippet
    text = "dual-perceptron:kernel=poly:2:0.5:epochs=3"
    assert MethodChoice.parse(text).options == {"epochs": 3, "kernel": "poly:2:0.5"}
    for wrong in ("kernel=poly:0", "kernel=pol:2", "epochs=3:2", "poly:2"):
        with pytest.raises(LabSeqError):
            MethodChoice.parse(f"dual-perceptron:{wrong}")


def test_equal_choices_have_equal_hashes():
    assert config().hash == config(methods=[MethodChoice("crf", {"l2": 1.0})], features=FeatureChoice(window=3)).hash
    assert config().hash != config(seed=1).hash
    assert config().hash == config(metrics=(), sequences=0, calibrate=False).hash
    assert config().hash != config(calibrate=True).hash
    assert config().hash != config(sequences=9).hash
    assert config().hash != config(methods=[MethodChoice("crf", {"l2": 2.0})]).hash


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataset": "no-such-corpus"}, "no-such-corpus"),
        ({"methods": ()}, "methods has 0 entries; choose 1 to 60"),
        ({"methods": (MethodChoice("hmm"), MethodChoice("hmm"))}, "the same method with the same options twice"),
        ({"folds": 1}, "folds is 1; choose 0"),
        ({"folds": True}, "folds is True"),
        ({"seed": -1}, "seed is -1"),
        ({"sequences": -5}, "sequences is -5"),
        ({"metrics": ("speed",)}, r"metrics has \['speed'\]; choose from accuracy"),
        ({"metrics": "accuracy"}, "give a list such as"),
        ({"calibrate": 1}, "calibrate is 1; choose true or false"),
        ({"calibrate": True, "folds": 2}, "folds must be 0"),
        (
            {"methods": (MethodChoice("crf", {}, {"l2": [i / 9 for i in range(100)]}),), "folds": 50},
            "that is 5050 trainings",
        ),
    ],
)
def test_bad_choices_are_named(change, message):
    with pytest.raises(LabSeqError, match=message):
        config(**change)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dataset: [", "not valid YAML in line"),
        ("just words", "must be a mapping"),
        ("dataset: toy-pos", "needs at least a dataset and methods"),
        ("dataset: toy-pos\nmethods: crf", "methods must be a list"),
        ("dataset: toy-pos\nmethods: [crf]\ncolour: red", "unknown entry 'colour'; known are dataset, methods"),
        ("dataset: toy-pos\nmethods: [crv]", "no method 'crv'; choose from"),
        ("dataset: toy-pos\nmethods:\n- method: crf\n  options: {l2: -1}", "l2 is -1; allowed: a number from 0"),
        ("dataset: toy-pos\nmethods:\n- method: crf\n  options: {l3: 1}", "no option 'l3'; it has l2, l1"),
        ("dataset: toy-pos\nmethods: [crf]\nfeatures: S9", "features is 'S9'; choose one of"),
        ("dataset: toy-pos\nmethods: [crf]\nfeatures: {template: S3, window: 2}", "window is 2; choose an odd number"),
    ],
)
def test_bad_files_are_named(text, message):
    with pytest.raises(LabSeqError, match=message):
        ExperimentConfig.from_yaml(text)


def test_short_forms_are_read():
    made = ExperimentConfig.from_yaml("dataset: toy-pos\nmethods: [hmm, crf]\nfeatures: POS")
    assert [choice.label for choice in made.methods] == ["HMM", "CRF"]
    assert made.features.window == 3


def test_labels_say_what_differs_from_the_default():
    assert MethodChoice("crf", {"l2": 1.0}).label == "CRF"
    assert MethodChoice("crf", {"l2": 0.1, "max_iter": 50}).label == "CRF (l2=0.1, max_iter=50)"
    assert MethodChoice("exp", {"length_decay": 0.1}).label == "Exponential CRF (length_decay=0.1)"


@pytest.mark.parametrize(
    "odd",
    ["dataset: [x]", "methods: [{method: [crf]}]", "methods: [{method: {a: 1}}]", "features: {template: [a]}",
     "metrics: [[a]]", "metrics: [{a: 1}]"],
)  # fmt: skip
def test_a_list_where_a_name_belongs_is_told(odd):
    usual = {"dataset": "toy-pos", "methods": ["hmm"]}
    with pytest.raises(LabSeqError, match=r"\[|\{"):
        ExperimentConfig.from_dict({**usual, **yaml.safe_load(odd)})


def test_snippet_and_command_load_what_comes_from_outside():
    chosen = (MethodChoice("crf"), MethodChoice("hmm"))
    assert "--with" not in config(methods=chosen).cli_command()
    with added(KERNELS, Laplace, Source("laplace.py", "1")), added(TEMPLATES, Template("S1 + shape", "shapes")):
        made = config(methods=(MethodChoice("gps", {"kernel": "2*laplace:3+rbf:1"}), *chosen))
        made = replace(made, features=FeatureChoice("S1 + shape"))
        command, lines = made.cli_command(), python_script(made).splitlines()
    assert command.startswith("labseq --with laplace.py --with own.py compare --dataset")
    assert "from labseq_core import CRF, GPSC, HMM, RBF" in lines
    assert f"from {Laplace.__module__} import Laplace" in lines
    assert "import own" in lines
    assert "# This script must lie beside laplace.py, own.py." in lines


@pytest.mark.parametrize("folds", [0, 3])
def test_the_snippet_runs_and_gives_the_numbers_of_the_run(folds, capsys):
    chosen = [("hmm", {}), ("perceptron", {"epochs": 2}), ("exp", {"length_decay": 0.1}), ("crf-marginal", {})]
    chosen += [("boost", {"rounds": 40, "patience": 5}), ("dual-perceptron", {"kernel": "2*token+rbf:1", "epochs": 2})]
    made = config(
        methods=(MethodChoice(*choice) for choice in chosen), features=FeatureChoice("S1"), folds=folds, seed=3
    )
    exec(compile(python_script(made), "snippet", "exec"), {})
    printed = [line.split("{", 1)[1] for line in capsys.readouterr().out.splitlines()]
    rows = [outcome.row for outcome in outcomes_here(made).values()]
    assert len(printed) == len(rows)
    for line, row in zip(printed, rows):
        assert f"'accuracy': {row['accuracy']}" in line
