"""Encoding speed: S3 from raw tokens, beside the usual way of a Python function per token.

    labseq bench encoding

Both give the same attributes (checked first). The usual way is what tutorials of sklearn-crfsuite do: a function of
(sentence, position) that looks at the word and its neighbours and lists the attributes. It stops at strings; the
template goes on to numbers and arrays, so a second line adds that step to the usual way.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.measuring import best_seconds
from benchmarks.usual_features import usual_way
from labseq_core import FeatureTemplate, LabSeqError, load_dataset
from labseq_core.cli import OneLineParser
from labseq_core.features import encode_attributes


def require_same_attributes(sentences: list[list[str]]) -> None:
    ours = FeatureTemplate("S3").encode(sentences).attributes()
    for number, (one, other) in enumerate(zip(ours, usual_way(sentences), strict=True)):
        if [sorted(names) for names in one] != [sorted(names) for names in other]:
            raise LabSeqError(f"the attributes of sentence {number} differ; a comparison would mean nothing")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = OneLineParser(
        prog="labseq bench encoding", description="Tokens per second of S3 from raw tokens, beside the usual way."
    )
    parser.add_argument("--dataset", default="conll2002-es")
    data = load_dataset(parser.parse_args(arguments).dataset)
    train = data.train
    sentences = train.tokens
    require_same_attributes(sentences)
    print(f"{len(sentences)} sentences, {train.n_tokens} tokens; attributes are the same; best of 3")
    ways = {
        "template, a split to arrays": lambda: FeatureTemplate("S3").encode(train),
        "template, token lists to arrays": lambda: FeatureTemplate("S3").encode(sentences),
        "usual way, to strings": lambda: usual_way(sentences),
        "usual way, to arrays": lambda: encode_attributes(usual_way(sentences)),
    }
    seconds = best_seconds(ways, repeats=3)
    template = seconds["template, a split to arrays"]
    for name, taken in seconds.items():
        show(name, train.n_tokens, taken, f"{taken / template:6.1f} x the first line's time")
    dev, model_template = data.dev, FeatureTemplate("S3")
    vocabulary = model_template.encode(train).vocabulary
    tagging = "template, dev in the numbers of train"
    taken = best_seconds({tagging: lambda: model_template.encode(dev, vocabulary)}, repeats=3)[tagging]
    show(tagging, dev.n_tokens, taken, f"as for tagging; {dev.n_tokens} tokens")


def show(name: str, n_tokens: int, taken: float, remark: str) -> None:
    print(f"{name:38} {taken:6.3f} s {n_tokens / taken:10,.0f} tokens/s {remark}")


if __name__ == "__main__":
    main()
