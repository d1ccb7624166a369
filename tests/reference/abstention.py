"""Abstention and calibration by loops over tokens and thresholds, straight from their definitions."""

from __future__ import annotations

import math


def abstention_rows(right: list[bool], confidence: list[float]) -> list[dict]:
    """A row for each distinct confidence, highest first."""
    rows, wrong_of_all = [], sum(not good for good in right) / len(right)
    for threshold in sorted(set(confidence), reverse=True):
        answered = correct = 0
        for good, sure in zip(right, confidence):
            if sure >= threshold:
                answered += 1
                correct += good
        risk = (answered - correct) / answered
        rows.append(
            {
                "threshold": threshold, "answered": answered, "correct": correct, "coverage": answered / len(right),
                "precision": correct / answered, "recall": correct / len(right), "risk": risk,
                "error_reduction": (wrong_of_all - risk) / wrong_of_all if wrong_of_all else 0.0,
            }
        )  # fmt: skip
    return rows


def area_under_risk(right: list[bool], confidence: list[float]) -> float:
    """Mean over tokens of the risk of answering those that are as sure or surer."""
    total = 0.0
    for own in confidence:
        answered = [good for good, sure in zip(right, confidence) if sure >= own]
        total += sum(not good for good in answered) / len(answered)
    return total / len(right)


def log_loss(truth: list[str], probabilities: list[dict[str, float]]) -> float:
    given = [of_label.get(label, 0.0) for label, of_label in zip(truth, probabilities)]
    return math.inf if 0.0 in given else -sum(math.log(p) for p in given) / len(given)


def brier(truth: list[str], probabilities: list[dict[str, float]]) -> float:
    total = 0.0
    for label, of_label in zip(truth, probabilities):
        for name in {label, *of_label}:
            total += (of_label.get(name, 0.0) - (name == label)) ** 2
    return total / len(truth)


def reliability(right: list[bool], confidence: list[float], bins: int) -> list[tuple[int, float, float]]:
    """Per bin (low, high] the number of tokens, the sum of confidences, and the number of right ones."""
    found = []
    for number in range(bins):
        low, high = number / bins, (number + 1) / bins
        inside = [
            (good, sure) for good, sure in zip(right, confidence)
            if low < sure <= high or (number == 0 and sure == 0.0)
        ]  # fmt: skip
        found.append((len(inside), sum(sure for _, sure in inside), sum(good for good, _ in inside)))
    return found


def expected_calibration_error(right: list[bool], confidence: list[float], bins: int) -> float:
    total = 0.0
    for count, promised, kept in reliability(right, confidence, bins):
        if count:
            total += count / len(right) * abs(kept / count - promised / count)
    return total
