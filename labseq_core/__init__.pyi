# The names of __init__.py, which loads them at first use, as type checkers and editors want them.
from labseq_core.checks import LabSeqError as LabSeqError
from labseq_core.data.catalogue import load_dataset as load_dataset
from labseq_core.data.formats.registry import read_conll as read_conll
from labseq_core.features import FeatureTemplate as FeatureTemplate
from labseq_core.kernels import RBF as RBF
from labseq_core.kernels import Linear as Linear
from labseq_core.kernels import Normalized as Normalized
from labseq_core.kernels import Polynomial as Polynomial
from labseq_core.kernels import TokenMatch as TokenMatch
from labseq_core.learners import CRF as CRF
from labseq_core.learners import GPSC as GPSC
from labseq_core.learners import HMM as HMM
from labseq_core.learners import HMSVM as HMSVM
from labseq_core.learners import AdaBoostMR as AdaBoostMR
from labseq_core.learners import DualPerceptron as DualPerceptron
from labseq_core.learners import LogitBoost as LogitBoost
from labseq_core.learners import MaxEnt as MaxEnt
from labseq_core.learners import NaiveBayes as NaiveBayes
from labseq_core.learners import SequenceBoost as SequenceBoost
from labseq_core.learners import SparseGPSC as SparseGPSC
from labseq_core.learners import StructuredPerceptron as StructuredPerceptron
from labseq_core.learners import ViterbiBoost as ViterbiBoost
from labseq_core.learners import load_model as load_model

__version__: str
