"""Each fold of a run learns from all sequences but its own, and is scored on these."""

from labseq_core.data.catalogue import load_dataset
from labseq_core.data.splitting import k_folds
from labseq_core.evaluation import token_accuracy
from labseq_core.experiments import MethodChoice, Predictions
from labseq_core.features import FeatureTemplate
from labseq_core.learners import HMM
from labseq_core.learners.registry import make_learner
from tests.experiments.runs import outcomes_here, quick


def test_folds_are_those_of_the_split():
    config = quick(methods=(MethodChoice("hmm"),), folds=3, seed=5, sequences=60)
    outcomes, train = outcomes_here(config), load_dataset(config.dataset).train.select(range(60))
    for fold, (inside, outside) in enumerate(k_folds(60, 3, seed=5)):
        learned, scored = train.select(inside), train.select(outside)
        template = FeatureTemplate(config.features.template, config.features.window)
        predicted = make_learner("hmm").fit(template.encode(learned), learned.labels).predict(scored)
        said = Predictions.from_bytes(outcomes[fold].blobs["predictions"])
        assert said.labellings("truth") == scored.labels
        assert said.labellings("predicted") == predicted
        assert outcomes[fold].row["accuracy"] == token_accuracy(scored.labels, predicted)
        assert outcomes[fold].row["n_train_tokens"] == learned.n_tokens


def test_to_calibrate_scores_the_development_set_once(monkeypatch):
    """Of a kernel method, scores are the whole cost of testing."""
    scored, encoded = [], []
    potentials, encode = HMM._potentials_of, FeatureTemplate.encode
    monkeypatch.setattr(HMM, "_potentials_of", lambda self, X: scored.append(len(X)) or potentials(self, X))
    monkeypatch.setattr(
        FeatureTemplate, "encode", lambda self, X, *rest: encoded.append(len(X)) or encode(self, X, *rest)
    )
    config = quick(folds=0, calibrate=True, sequences=40, methods=(MethodChoice("hmm"),))
    (outcome,) = outcomes_here(config).values()
    data = load_dataset(config.dataset)
    assert sorted(encoded) == sorted([40, len(data.dev), len(data.test)])
    assert scored.count(len(data.dev)) == 1
    assert outcome.row["temperature"] > 0.0
