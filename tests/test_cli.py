"""The command line as a user calls it: real processes, real files; every error is one line and exit code 2."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import labseq_core
from labseq_core import CRF, FeatureTemplate, load_model, read_conll
from labseq_core.cli import main
from labseq_core.data.formats.registry import FORMATS
from labseq_core.evaluation.registry import METRICS
from labseq_core.features import TEMPLATES
from tests.conftest import REPOSITORY

TRAIN = "Ana B-PER\nvive O\nen O\nLima B-LOC\n\nLima B-LOC\nduerme O\n\nAna B-PER\nduerme O\n\n"


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    (tmp_path / "train.conll").write_text(TRAIN, encoding="utf-8")
    (tmp_path / "plain.conll").write_text("Ana\nduerme\n\nLima\n", encoding="utf-8")
    return tmp_path


def labseq(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "labseq_core.cli", *words], capture_output=True, text=True)


def test_train_predict_evaluate(corpus, capsys):
    assert main(["train", "train.conll", "--model", "m.npz", "--method", "crf:l2=0.01", "--features", "S2"]) == 0
    assert "wrote m.npz: CRF (l2=0.01), 3 labels, 3 sequences" in capsys.readouterr().out
    expected = CRF(l2=0.01).fit(
        FeatureTemplate("S2").encode(read_conll("train.conll")), read_conll("train.conll").labels
    )
    assert load_model("m.npz").predict([["Ana", "duerme"]]) == expected.predict([["Ana", "duerme"]])

    assert main(["predict", "m.npz", "plain.conll", "--unlabelled", "--output", "out.conll"]) == 0
    assert (corpus / "out.conll").read_text() == "Ana B-PER\nduerme O\n\nLima B-LOC\n\n"
    assert main(["predict", "m.npz", "train.conll", "--output", "out.csv"]) == 0
    rows = list(csv.DictReader((corpus / "out.csv").read_text().splitlines()))
    assert rows[0] == {"sequence": "1", "token": "Ana", "label": "B-PER", "predicted": "B-PER"}

    capsys.readouterr()
    assert main(["evaluate", "m.npz", "train.conll", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["accuracy"] == 1.0
    assert scores["span_f1"] == 1.0


def test_predictions_go_to_standard_output(corpus):
    assert labseq("train", "train.conll", "--model", "m.npz", "--method", "hmm").returncode == 0
    done = labseq("predict", "m.npz", "plain.conll", "--unlabelled")
    assert done.stdout == "Ana B-PER\nduerme O\n\nLima B-LOC\n\n"


def test_compare_writes_a_table(corpus):
    words = (
        "compare --dataset spanish-ner --methods hmm,perceptron:epochs=2 --features S2 --folds 2 --seed 4 --csv out.csv"
    )
    done = labseq(*words.split())
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((corpus / "out.csv").read_text().splitlines()))
    assert [(row["label"], row["fold"]) for row in rows] == [
        ("HMM", "0"), ("Averaged perceptron (epochs=2)", "0"), ("HMM", "1"), ("Averaged perceptron (epochs=2)", "1"),
    ]  # fmt: skip
    mean = sum(float(row["accuracy"]) for row in rows if row["label"] == "HMM") / 2
    assert f"{100 * mean:.2f} ±" in done.stdout
    assert "100 %" in done.stderr
    # The same from a configuration file, answered from the store.
    (corpus / "config.yaml").write_text(
        "dataset: spanish-ner\nmethods: [hmm, {method: perceptron, options: {epochs: 2}}]\n"
        "features: S2\nfolds: 2\nseed: 4\n"
    )
    assert labseq("compare", "config.yaml", "--csv", "again.csv").returncode == 0
    assert (corpus / "again.csv").read_bytes() == (corpus / "out.csv").read_bytes()


def test_datasets_are_listed_and_described(corpus, capsys):
    assert main(["datasets", "list", "--json"]) == 0
    listed = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert listed["spanish-ner"]["bundled"]
    assert "conll2002-es" in listed
    assert main(["datasets", "info", "spanish-ner"]) == 0
    assert "licence" in capsys.readouterr().out
    assert main(["datasets", "fetch", "spanish-ner"]) == 0
    assert main(["datasets", "list"]) == 0


ERRORS = {
    "evaluate missing.npz train.conll": "there is no file missing.npz",
    "evaluate train.conll train.conll": "train.conll is not a LabSeq model file",
    "train missing.conll --model m.npz": "missing.conll",
    "train plain.conll --model m.npz": "plain.conll",
    "train train.conll --model m.npz --method svm": "no method 'svm'; choose from",
    "train train.conll --model m.npz --method crf:l2=x": "l2 is 'x'; allowed: a number",
    "train train.conll --model m.npz --method crf:l2": "'l2' is not an option of crf",
    "train train.conll --model m.npz --window 2": "window is 2",
    "train train.conll --model m.npz --label word": "--label is 'word'",
    "train train.conll --model no/such/folder/m.npz": "m.npz",
    "compare --dataset spanish-ner": "name a corpus with --dataset and methods with --methods",
    "compare --dataset nonsense --methods hmm": "nonsense",
    "compare missing.yaml": "missing.yaml",
    "compare --dataset spanish-ner --methods hmm --folds 1": "folds is 1",
    "datasets info nonsense": "nonsense",
    "datasets": "labseq datasets",
    "bench": "labseq bench",
    "bench nonsense": "invalid choice",
    "bench crf --sentences 0": "'0' is not a whole number of at least 1",
    "bench crf --dataset nonsense": "nonsense",
    "bench results": "--output",
    "bench results --output train.conll": "train.conll is not a table",
    "bench results --output out.csv --only nonsense": "--only has 'nonsense'",
    "nonsense": "invalid choice",
    "compare --folds many": "invalid int value",
}


def error_of(command: str, capsys) -> str:
    """What a command that cannot be carried out says: one line."""
    try:
        code = main(command.split())
    except SystemExit as leaving:
        code = leaving.code
    shown = capsys.readouterr().err
    assert code == 2
    assert len(shown.strip().splitlines()) == 1, shown
    assert "Traceback" not in shown
    return shown


@pytest.mark.parametrize("command", ERRORS)
def test_every_error_is_one_line(corpus, capsys, command):
    shown = error_of(command, capsys)
    assert ERRORS[command] in shown
    assert str(corpus) not in shown


def test_benchmarks_that_are_not_installed_are_missed_in_one_line(tmp_path):
    core = Path(labseq_core.__file__).parent
    shutil.copytree(core, tmp_path / "labseq_core", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "labseq_core.cli", "bench", "crf"]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": ""}, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "labseq: benchmarks are not part of an installed package; run this in a copy of the source tree\n"
    )


NOT_INSTALLED = """
import sys

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)

sys.meta_path.insert(0, NotInstalled())
"""


def without(packages: tuple[str, ...], command: list[str], folder: Path) -> subprocess.CompletedProcess:
    """The command in a Python that does not have these packages."""
    (folder / "sitecustomize.py").write_text(NOT_INSTALLED.replace("{missing}", repr(packages)))
    here = str(Path(labseq_core.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), here])}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("missing", [("streamlit",), ("plotly",), ("streamlit", "plotly")])
def test_app_without_the_dashboard_says_what_to_install(tmp_path, missing):
    done = without(missing, ["-m", "labseq_core.cli", "app", "--no-browser"], tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f'labseq: the dashboard needs {" and ".join(missing)}; install with: python -m pip install "labseq[app]"\n'
    )


def test_the_library_works_without_the_dashboard(tmp_path):
    (tmp_path / "train.conll").write_text(TRAIN, encoding="utf-8")
    words = ["train", "train.conll", "--model", "m.npz", "--method", "hmm"]
    done = without(("streamlit", "plotly"), ["-m", "labseq_core.cli", *words], tmp_path)
    assert done.returncode == 0, done.stderr
    everything = (
        "import importlib, pkgutil, labseq_core\n"
        "for module in pkgutil.walk_packages(labseq_core.__path__, 'labseq_core.'):\n"
        "    importlib.import_module(module.name)\n"
    )
    done = without(("streamlit", "plotly"), ["-c", everything], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_benchmark_is_a_module_and_the_other_way_round():
    from labseq_core.cli import BENCHMARKS

    folder = Path(labseq_core.__file__).parents[1] / "benchmarks"
    runnable = {
        path.stem for path in folder.glob("*.py") if "def main(" in path.read_text() and "prog=" in path.read_text()
    }
    assert set(BENCHMARKS) == runnable


@pytest.mark.parametrize("words", [[], ["compare"], ["runs"], ["runs", "list"], ["bench"], ["reproduce"], ["datasets"]])
def test_every_command_has_help(words, capsys):
    with pytest.raises(SystemExit) as leaving:
        main([*words, "--help"])
    assert leaving.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: labseq")
    assert "%%" not in shown


@pytest.mark.parametrize("command", ["compare", "train"])
def test_help_names_what_there_is(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert f"feature template: {', '.join(TEMPLATES)} (default S3)" in shown
    assert command != "compare" or ", ".join(METRICS) in shown
    assert command != "train" or f"{{{','.join(FORMATS)}}}" in shown


def test_the_command_line_loads_nothing_that_it_does_not_need():
    code = "import sys; from labseq_core.cli import _parser; _parser(); print({'numba', 'scipy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def test_type_checkers_see_the_same_names():
    stub = Path(labseq_core.__file__).with_suffix(".pyi").read_text()
    assert set(re.findall(r" as (\w+)$", stub, re.MULTILINE)) == set(labseq_core.__all__)


def test_the_package_offers_its_names():
    assert set(labseq_core.__all__) == set(dir(labseq_core))
    assert all(getattr(labseq_core, name) for name in labseq_core.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = labseq_core.nothing


def test_a_closed_pipe_is_no_error(corpus):
    done = subprocess.run(
        f"{sys.executable} -m labseq_core.cli datasets list | head -1", shell=True, capture_output=True, text=True
    )
    assert done.stderr == ""


def test_whom_a_cluster_trusts_is_told_where_one_is_named(capsys):
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    for command in ("compare", "app", "reproduce", "runs resume"):
        with pytest.raises(SystemExit):
            main([*command.split(), "--help"])
        told = " ".join(capsys.readouterr().out.split())
        for words in ("tls://HOST:PORT with certificates", "can run any code on its machines"):
            assert words in told
    for words in ("can run any code there", "--scheduler tls://HOST:8786", "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY"):
        assert words in readme
