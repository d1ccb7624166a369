"""The container of sequences: how many are how long."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.data.sequences import Sequences


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=60), st.integers(1, 40))
def test_lengths_in_bins(lengths, most):
    tokens = ["a"] * sum(lengths)
    bins = Sequences(tokens, np.cumsum([0, *lengths])).length_bins(most)
    assert len(bins) <= most + 1
    assert sum(each["sequences"] for each in bins) == len(lengths)
    assert bins[0]["sequences"] > 0 < bins[-1]["sequences"]
    widths = {each["to"] - each["from"] + 1 for each in bins}
    assert len(widths) == 1
    assert str(widths.pop()).rstrip("0") in ("1", "2", "5")
    for each, after in zip(bins, [*bins[1:], None], strict=True):
        assert each["sequences"] == sum(each["from"] <= length <= each["to"] for length in lengths)
        assert after is None or after["from"] == each["to"] + 1
