"""Results printed in the documents, to stand beside ours: always marked as quoted, never as ours.

T: the thesis, train -> testa as here.   B: the boosting paper, Table 1 (NER) and Table 2 (POS), error in per cent.
Parts of speech there are Penn Treebank with attributes S2, pitch accents are Switchboard in 10 folds with window 5: other
corpora than the free ones used here, so those numbers say how far apart methods were, not how well ours should do.
"""

from __future__ import annotations

# (corpus, features) -> method -> text
QUOTED: dict[tuple[str, str], dict[str, str]] = {
    ("conll2002-es", "S1"): {
        "crf": "T F1 59.92; B error 6.60",
        "exp": "T F1 59.68; B error 6.95",
        "crf-marginal": "B error 6.73 (F^log)",
        "crf-marginal-exp": "B error 7.33 (F^exp)",
        "boost": "T F1 48.23; B error 8.05",
    },
    ("conll2002-es", "S2"): {
        "crf": "T F1 70.26; B error 6.72",
        "exp": "T F1 69.11; B error 7.03",
        "crf-marginal": "B error 6.67 (F^log)",
        "crf-marginal-exp": "B error 7.49 (F^exp)",
        "boost": "T F1 69.00; B error 6.93",
    },
    ("conll2002-es", "S3"): {
        "crf": "T F1 74.83; B error 6.15",
        "exp": "T F1 74.22; B error 5.84",
        "crf-marginal": "T F1 74.17; B error 5.90 (F^log)",
        "crf-marginal-exp": "B error 5.10 (F^exp)",
        "perceptron": "T F1 73.41",
        "boost": "T F1 73.88; B error 6.77",
        "hmm-attributes": "T F1 69.11 (3000 sentences, 5-fold)",
        "crf-unregularised": "T error 4.92, regularised 4.56 (1000 sentences, 5-fold)",
    },
    ("ud-english-ewt", "POS"): {
        "crf": "T accuracy 95.68; B error 4.37 (Penn)",
        "exp": "T accuracy 95.25; B error 4.74 (Penn)",
        "crf-marginal": "T accuracy 95.71; B error 4.71 (Penn)",
        "crf-marginal-exp": "B error 4.90 (Penn)",
        "perceptron": "T accuracy 95.91 (Penn)",
        "boost": "T accuracy 94.91; B error 5.09 (Penn)",
    },
    ("prosody", "prosody"): {
        "hmm-attributes": "T accuracy 68.62 (Switchboard)",
        "crf": "T accuracy 76.62 (Switchboard)",
        "crf-marginal": "T accuracy 76.40 (Switchboard)",
        "perceptron": "T accuracy 76.55 (Switchboard)",
    },
}  # fmt: skip
