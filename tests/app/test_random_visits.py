"""Whatever a visitor chooses in whatever order, no page breaks."""

from __future__ import annotations

from random import Random

import pytest
from streamlit.testing.v1 import AppTest

from labseq_core.data.catalogue import list_datasets
from labseq_core.experiments import default_results
from pages.ui.compare_words import MEASURES
from tests.app.conftest import problems

CHOICES = 40
# Their options are shown by a text but chosen by an id.
IDS = {
    "dataset.choice": [info.name for info in list_datasets()],
    "metric.choice": list(MEASURES),
    "run.choice": [found.run_id for found in default_results().values()],
    "token.choice": [str(place) for place in range(1, 100)],
}

TEXTS = ["", "cap", "Ana vive en Lima", "<b>a</b> \u202e ![x](y) *", "x" * 1500, "a " * 300]


def widgets(app: AppTest) -> list:
    kinds = (
        app.selectbox,
        app.multiselect,
        app.segmented_control,
        app.number_input,
        app.toggle,
        app.slider,
        app.text_input,
    )
    return [widget for kind in kinds for widget in kind if not widget.disabled]


def change(widget, random: Random) -> None:
    kind = type(widget).__name__
    if widget.key in IDS:
        widget.set_value(
            random.choice([name for name in IDS[widget.key] if widget.format_func(name) in widget.options])
        )
    elif kind == "Toggle":
        widget.set_value(not widget.value)
    elif kind in ("NumberInput", "Slider"):
        low, high = widget.min or 0, min(50 if widget.max is None else widget.max, 50)
        number = int if widget.value is None else type(widget.value)
        widget.set_value(number(low + random.random() * (high - low)))
    elif kind == "TextInput":
        widget.set_value(random.choice(TEXTS))
    elif kind == "Multiselect":
        widget.set_value(random.sample(widget.options, random.randint(0, min(3, len(widget.options)))))
    elif kind == "Selectbox":
        widget.select_index(random.randrange(len(widget.options)))
    else:
        widget.set_value(random.choice(widget.options))


PAGES = {
    "start": {}, "data": {}, "train": {}, "compare": {}, "compare, significance": {"view": "Significance"},
    "compare, labels": {"view": "Labels"}, "compare, sentences": {"view": "Sentences"},
    "compare, learning": {"view": "Learning curve"}, "abstain": {}, "inside": {},
    "inside, boosting": {"tab": "Boosting"}, "inside, margins": {"tab": "Margins"}, "inside, gpsc": {"tab": "GPSC"},
    "history": {}, "history, one run": {"runs": "default:spanish-ner"},
    "history, two runs": {"runs": "default:boosting,default:parity"},
    "sequence": {}, "sequence, kernels": {"run": "default:abstention"},
}  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_random_choices_never_break_a_page(open_page, page, monkeypatch, tmp_path):
    monkeypatch.setenv("LABSEQ_DATA_MIRROR", str(tmp_path))  # real corpora would be read for long
    monkeypatch.setenv("LABSEQ_CACHE_DIR", str(tmp_path))
    random = Random(page)
    app = open_page(page.partition(",")[0], **PAGES[page])
    for _ in range(CHOICES):
        widget = random.choice(widgets(app))
        change(widget, random)
        app.run()
        assert not app.exception, (widget, problems(app))
        assert app.title
