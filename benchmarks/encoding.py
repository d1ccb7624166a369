"""Encoding speed: S3 from raw tokens, beside the usual way of a Python function per token.

    python benchmarks/encoding.py

Both give the same attributes (checked first). The usual way is what tutorials of sklearn-crfsuite do: a function of
(sentence, position) that looks at the word and its neighbours and lists the attributes. It stops at strings; the
template goes on to numbers and arrays, so a second line adds that step to the usual way.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from labseq_core import FeatureTemplate, load_dataset
from labseq_core.features import encode_attributes

REPEATS = 3


def word_attributes(word: str, mark: str, first: bool) -> list[str]:
    """The spelling attributes of one word of the window; `mark` says where in the window it is."""
    capital, digit = word[:1].isupper(), any(map(str.isdigit, word))
    dot, hyphen, dot_end = "." in word, "-" in word, word.endswith(".")
    if capital:
        kind = "upper"
    elif word[:1].isalpha():
        kind = "lower"
    else:
        kind = "digit" if word[:1].isdigit() else "other"
    found = [f"word{mark}={word}", f"first{mark}={kind}", f"last{mark}={word[-1:]}"]
    if first:
        found.append(f"sent_ini{mark}")
    if word.isupper():
        found.append(f"all_caps{mark}")
    if capital:
        found.append(f"cap_ini{mark}")
        if first:
            found.append(f"cap_ini+sent_ini{mark}")
        if dot_end:
            found.append(f"cap_ini+dot_end{mark}")
        if dot:
            found.append(f"cap_ini+contains_dot{mark}")
        if hyphen:
            found.append(f"cap_ini+contains_hyphen{mark}")
        if digit:
            found.append(f"cap_ini+contains_digit{mark}")
    if digit:
        found.append(f"contains_digit{mark}")
        if dot:
            found.append(f"contains_dot+contains_digit{mark}")
        if hyphen:
            found.append(f"contains_digit+contains_hyphen{mark}")
    if dot_end:
        found.append(f"dot_end{mark}")
    if dot and hyphen:
        found.append(f"contains_dot+contains_hyphen{mark}")
    return found


def token_attributes(sentence: list[str], t: int) -> list[str]:
    """All S3 attributes of the word at t."""
    found = word_attributes(sentence[t], "", t == 0)
    if t > 0:
        found += word_attributes(sentence[t - 1], "[-1]", t == 1)
    if t < len(sentence) - 1:
        found += word_attributes(sentence[t + 1], "[+1]", False)
    return found


def usual_way(sentences: list[list[str]]) -> list[list[list[str]]]:
    return [[token_attributes(sentence, t) for t in range(len(sentence))] for sentence in sentences]


def require_same_attributes(sentences: list[list[str]]) -> None:
    ours = FeatureTemplate("S3").encode(sentences).attributes()
    for number, (one, other) in enumerate(zip(ours, usual_way(sentences), strict=True)):
        if [sorted(names) for names in one] != [sorted(names) for names in other]:
            raise SystemExit(f"the attributes of sentence {number} differ; a comparison would mean nothing")


def best_seconds(ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least time of each way; they take turns, so that a busy moment does not fall on one alone."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(REPEATS):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            best[name] = min(best[name], time.perf_counter() - started)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description="Tokens per second of S3 from raw tokens, beside the usual way.")
    parser.add_argument("--dataset", default="conll2002-es")
    train = load_dataset(parser.parse_args().dataset).train
    sentences = train.tokens
    require_same_attributes(sentences)
    print(f"{len(sentences)} sentences, {train.n_tokens} tokens; attributes are the same; best of {REPEATS}")
    ways = {
        "template, a split to arrays": lambda: FeatureTemplate("S3").encode(train),
        "template, token lists to arrays": lambda: FeatureTemplate("S3").encode(sentences),
        "usual way, to strings": lambda: usual_way(sentences),
        "usual way, to arrays": lambda: encode_attributes(usual_way(sentences)),
    }
    seconds = best_seconds(ways)
    template = seconds["template, a split to arrays"]
    for name, taken in seconds.items():
        ratio = taken / template
        print(f"{name:32} {taken:6.3f} s {train.n_tokens / taken:10,.0f} tokens/s {ratio:6.1f} x the first line's time")


if __name__ == "__main__":
    main()
