"""Two runs side by side: in what they differ, and what came of it."""

from __future__ import annotations

from collections import Counter

from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.variant import MethodChoice, shown_value
from labseq_core.experiments.results.run_results import RunResult
from labseq_core.learners.options import SEED
from labseq_core.learners.registry import find_method, method_options

NOTHING = "–"


def config_entries(config: ExperimentConfig) -> dict[str, str]:
    """Everything that was chosen, options that kept their defaults included, as short texts."""
    features = config.features
    entries = {
        "corpus": config.dataset,
        "training sequences": str(config.sequences) if config.sequences else "all",
        "split": f"{config.folds} folds" if config.folds else "training and test set",
        "tested on": config.test_dataset or config.dataset,
        "seed": str(config.seed),
        "temperature from development data": shown_value(config.calibrate),
        "features": features.template,
        "features: window": str(features.window),
        "features: columns": ", ".join(features.columns) if features.columns else NOTHING,
        "features: bins": NOTHING if features.bins is None else str(features.bins),
        "features: joint codes": shown_value(features.joint),
    }
    seen: Counter[str] = Counter()
    for choice in config.methods:
        title = find_method(choice.method).title
        seen[title] += 1
        name = title if seen[title] == 1 else f"{title} ({seen[title]})"
        entries[name] = choice.label.removeprefix(title).removeprefix(" (").removesuffix(")") or "as usual"
        entries |= {f"{name}: {option}": value for option, value in _options(choice, config.seed).items()}
    return entries


def _options(choice: MethodChoice, seed: int) -> dict[str, str]:
    values = {"decoding": choice.decoding, "features": choice.features.label if choice.features else "those of the run"}
    values |= {"sequences": str(choice.sequences or "all"), "noise": shown_value(choice.noise)}
    for name, option in method_options(choice.method).items():
        if name in choice.tried:
            values[name] = "best of " + ", ".join(map(shown_value, choice.tried[name]))
        else:
            usual = seed if name == SEED.name else option.plain(option.default)
            values[name] = shown_value(choice.options.get(name, usual))
    return values


def side_by_side(first: dict[str, str], second: dict[str, str]) -> list[dict]:
    """A row for each entry of either: entry, first, second, differs. A method that only one has is told in one row."""
    rows = []
    for name in dict.fromkeys([*first, *second]):
        of = name.partition(": ")[0]
        if of != name and (of in first) != (of in second):
            continue
        pair = first.get(name, NOTHING), second.get(name, NOTHING)
        rows.append({"entry": name, "first": pair[0], "second": pair[1], "differs": pair[0] != pair[1]})
    return rows


def score_contrast(first: RunResult, second: RunResult, metrics: tuple[str, ...]) -> list[dict]:
    """A row for each method and metric that either has: means over folds, and second minus first."""
    summaries = [{row["label"]: row for row in found.summary()} for found in (first, second)]
    rows = []
    for label in dict.fromkeys([*summaries[0], *summaries[1]]):
        for metric in metrics:
            means = [summary.get(label, {}).get(f"{metric}_mean") for summary in summaries]
            if means == [None, None]:
                continue
            change = None if None in means else means[1] - means[0]
            rows.append({"method": label, "score": metric, "first": means[0], "second": means[1], "change": change})
    return rows
