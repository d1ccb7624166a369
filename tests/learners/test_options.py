"""Options: what is allowed, what is refused, what a user may type."""

import numpy as np
import pytest

from labseq_core import CRF, HMM, LabSeqError, StructuredPerceptron
from labseq_core.kernels import RBF, Linear, Polynomial
from labseq_core.kernels.registry import KERNELS
from labseq_core.learners import make_learner
from labseq_core.learners.options import Option

NUMBER = Option("l2", "float", 1.0, "help", low=0.0, high=10.0)
COUNT = Option("epochs", "int", 5, "help", low=1, high=9)
SWITCH = Option("averaged", "bool", True, "help")
CHOICE = Option("loss", "choice", "log", "help", choices=("log", "exp"))
KERNEL = Option("kernel", "kernel", Linear(), "help")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        (NUMBER, 0), (NUMBER, 10.0), (NUMBER, np.float32(0.5)), (NUMBER, np.int64(3)), (COUNT, 1), (COUNT, np.int32(9)),
        (SWITCH, False), (SWITCH, np.True_), (CHOICE, "exp"), (KERNEL, RBF(2.0)), (KERNEL, Linear() + Polynomial(2)),
    ],
)  # fmt: skip
def test_allowed_values(option, value):
    option.check(value)


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        (NUMBER, -0.1, "a number from 0 to 10"),
        (NUMBER, 10.1, "a number from 0 to 10"),
        (NUMBER, float("nan"), "a number from 0 to 10"),
        (NUMBER, float("inf"), "a number from 0 to 10"),
        (NUMBER, "1", "a number from 0 to 10"),
        (NUMBER, True, "a number from 0 to 10"),
        (NUMBER, None, "a number from 0 to 10"),
        (COUNT, 2.0, "a whole number from 1 to 9"),
        (COUNT, 0, "a whole number from 1 to 9"),
        (COUNT, np.True_, "a whole number from 1 to 9"),
        (SWITCH, 1, "True or False"),
        (CHOICE, "hinge", "log, exp"),
        (CHOICE, ["log"], "log, exp"),
    ],
)
def test_refused_values_are_named_with_what_is_allowed(option, value, allowed):
    with pytest.raises(LabSeqError) as caught:
        option.check(value)
    assert str(caught.value) == f"{option.name} is {value!r}; allowed: {allowed}"


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        (NUMBER, " 1e-1 ", 0.1),
        (COUNT, "7", 7),
        (SWITCH, "False", False),
        (SWITCH, "true", True),
        (CHOICE, "exp", "exp"),
        (KERNEL, "poly:3", Polynomial(3)),
    ],
)
def test_typed_values(option, text, value):
    assert option.parse(text) == value
    assert type(option.parse(text)) is type(value)


@pytest.mark.parametrize(
    ("option", "text"),
    [(NUMBER, "one"), (NUMBER, "99"), (COUNT, "2.5"), (SWITCH, "1"), (CHOICE, ""), (KERNEL, "cosine")],
)
def test_mistyped_values(option, text):
    with pytest.raises(LabSeqError, match=f"{option.name} is .*; (allowed: |write linear, poly:2)"):
        option.parse(text)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (CRF(l2=-1.0), "l2 is -1.0; allowed: a number from 0"),
        (CRF(max_iter=0), "max_iter is 0"),
        (CRF(tol="tight"), "tol is 'tight'"),
        (CRF(start_stop="yes"), "start_stop is 'yes'; allowed: True or False"),
        (HMM(smoothing=0.0), "smoothing is 0.0"),
        (StructuredPerceptron(epochs=1.5), "epochs is 1.5; allowed: a whole number"),
        (StructuredPerceptron(seed=-1), "seed is -1"),
    ],
)
def test_the_constructor_stores_and_fit_checks(learner, message):
    with pytest.raises(LabSeqError, match=message):
        learner.fit([["a"]], [["A"]])
    assert not hasattr(learner, "classes_")


def test_a_kernel_has_a_plain_form():
    assert KERNEL.plain(Polynomial(2)) == "poly:2"
    assert KERNEL.read("poly:2") == KERNEL.read(Polynomial(2)) == Polynomial(2)
    assert NUMBER.plain(0.5) == NUMBER.read(0.5) == 0.5
    assert make_learner("dual-perceptron", kernel="rbf:2").kernel == RBF(2.0)
    with pytest.raises(LabSeqError, match="kernel is 3; allowed: a kernel such as Polynomial"):
        make_learner("dual-perceptron", kernel=3)


def test_what_a_form_asks_for_is_what_each_kernel_has():
    for name, kernel in KERNELS.items():
        usual = kernel()
        parameters = kernel.parameters()
        for parameter in parameters:
            assert parameter.help, f"{name}: what {parameter.name} means"
            assert getattr(usual, parameter.name) == parameter.default
            for bound in {parameter.low, parameter.high} - {None}:
                assert getattr(kernel(**{parameter.name: parameter.kind(bound)}), parameter.name) == bound
            if parameter.above is not None:
                with pytest.raises(LabSeqError, match=f"give {parameter.allowed}"):
                    kernel(**{parameter.name: parameter.above})
        text = ":".join([name, *(parameter.text(parameter.default) for parameter in parameters)])
        assert KERNEL.parse(text) == usual
        assert text in KERNEL.allowed
