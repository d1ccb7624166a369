"""All numbers of the library and of the pages, as hashes: what a change of the house must leave as it is.

    python -m tests.house.numbers > before.json
    python -m tests.house.numbers --against before.json

Methods are trained with their defaults on the bundled corpora; of a page its tables, charts, texts and files count. What
follows from sources, dates and clocks (run ids, versions, seconds, megabytes) is left out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import streamlit as st
from streamlit.testing.v1 import AppTest

from labseq_core import FeatureTemplate, load_dataset
from labseq_core.learners.registry import METHODS, make_learner
from tests.app.views import VIEWS

CORPORA = {"pitch-accent": "prosody", "spanish-ner": "S3", "toy-pos": "S2", "parity": "S1"}
TRAINED, LABELLED = 40, 20  # sequences
ROOT = Path(__file__).resolve().parents[2]
# Versions and their hash, and what a clock or the system has said.
_PASSING = re.compile(
    r"core [0-9a-f]{12}|[0-9a-f]{12}-[0-9a-f]{6}|[\d.,]+ ?(s|ms|MB|min|minutes|seconds)\b|\d{4}-\d\d-\d\d \d\d:\d\d"
)


def digest(what: object) -> str:
    text = json.dumps(what, sort_keys=True, default=str)
    return hashlib.sha256(_PASSING.sub("", text).encode()).hexdigest()[:16]


def methods() -> dict[str, str]:
    found = {}
    for corpus, template in CORPORA.items():
        data = load_dataset(corpus)
        train, test = data.train.select(range(TRAINED)), data.test.select(range(LABELLED))
        features = FeatureTemplate(template)
        for method in METHODS:
            learner = make_learner(method).fit(features.encode(train), train.labels)
            scores = [
                part.tobytes() for one in learner.potentials(test) for part in (one.start, one.node, one.edge, one.stop)
            ]
            said = [learner.predict(test), learner.k_best(test.select(range(3)), 2), len(learner.history_)]
            found[f"{method} on {corpus}"] = digest([hashlib.sha256(b"".join(scores)).hexdigest(), said])
            print(f"{method} on {corpus}", file=sys.stderr)
    return found


def pages() -> dict[str, str]:
    found, offered = {}, st.download_button
    for page, choices in VIEWS:
        files = {}

        def offer(label, data, file_name, *more, _files=files, **named):
            _files[file_name] = data
            return offered(label, data, file_name, *more, **named)

        st.download_button = offer
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        app.session_state["in app"] = True
        for name, value in choices.items():
            app.query_params[name] = value
        app.switch_page(f"pages/{page}.py").run()
        st.download_button = offered
        name = f"{page} {' '.join(choices.values())}"
        print(name, file=sys.stderr)
        shown = {
            "tables": [table.value.to_csv() for table in (*app.table, *app.dataframe)],
            "charts": [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")],
            "texts": [str(each.value) for kind in (app.title, app.header, app.markdown, app.caption) for each in kind],
            "files": {
                each: data() if callable(data) else data for each, data in files.items() if each.endswith(".csv")
            },
            "problems": [*(error.value for error in app.error), *(each.message for each in app.exception)],
        }
        found.update({f"{name}: {kind}": digest(value) for kind, value in shown.items()})
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.house.numbers", description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="what another tree has printed: say what differs")
    options = parser.parse_args()
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as place:
        os.environ["LABSEQ_STORE"] = str(Path(place) / "runs.sqlite")
        found = {**methods(), **pages()}
    if options.against is None:
        print(json.dumps(found, indent=1))
        return 0
    before = json.loads(options.against.read_text())
    differs = [name for name in {**before, **found} if before.get(name) != found.get(name)]
    print(f"{len(found)} hashes, {len(differs)} differ", *differs, sep="\n")
    return int(bool(differs))


if __name__ == "__main__":
    sys.exit(main())
