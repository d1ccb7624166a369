"""What a run will cost, in words that do not promise more than is known."""

from __future__ import annotations

from math import floor, log10

from labseq_core.experiments.plan.cost import Cost

HELP = (
    "From the size of the corpus and the options, by constants that were measured; routines that were never compiled on this "
    "machine, and runs that wait before this one, come on top. Expect it to be wrong by a factor of two, sometimes four."
)
_WORTH_TELLING = 1000.0  # megabytes
_MOSTLY = 0.6  # the share of one method that is worth telling


def expected(cost: Cost) -> str:
    """One line: how long, through what, and how much memory if that is much."""
    text = f"Expected: {duration(cost.seconds)}"
    trained = sum(cost.by_label.values())
    label, seconds = max(cost.by_label.items(), key=lambda pair: pair[1])
    if len(cost.by_label) > 1 and seconds > _MOSTLY * trained and seconds > cost.seconds / 2:
        text += f", most of it {label}"
    if cost.megabytes > _WORTH_TELLING:
        text += f"; may need {cost.megabytes / 1000:.1f} GB of memory"
    return f"{text}."


def duration(seconds: float) -> str:
    """About how long: one figure that counts, in the unit that people would use."""
    for unit, length, limit in (("s", 1.0, 90.0), ("minutes", 60.0, 90.0), ("hours", 3600.0, 36.0)):
        if seconds < limit * length:
            return f"about {_rounded(seconds / length)} {unit}"
    return f"about {_rounded(seconds / 86400)} days"


def _rounded(value: float) -> str:
    """3.4 is 3, 47 is 50."""
    if value < 10:
        return str(max(1, round(value)))
    step = 10 ** floor(log10(value))
    return str(int(round(value / step) * step))
