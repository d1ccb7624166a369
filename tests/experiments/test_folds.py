"""Each fold of a run learns from all sequences but its own, and is scored on these."""

from labseq_core.data.catalogue import load_dataset
from labseq_core.data.splitting import k_folds
from labseq_core.evaluation import token_accuracy
from labseq_core.experiments import MethodChoice, Predictions
from labseq_core.features import FeatureTemplate
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
