"""Links of version 0.1, in which a method stood once and each of its options was a parameter: said as variants."""

from __future__ import annotations

import streamlit as st

from labseq_core.experiments.plan.variant_text import VariantText, listed
from labseq_core.kernels import KERNELS
from labseq_core.learners.registry import METHODS, Method
from pages.ui.choices.choice import Choice
from pages.ui.choices.registry import Train
from pages.ui.train import variants
from pages.ui.train.variant_options import usual_values

_METHODS = "methods"  # by their titles
Old = dict[str, list[str]]  # the texts of each parameter


def translate() -> None:
    """Once, when such a link is opened; afterwards the address is that of the variants."""
    old = {name: st.query_params.get_all(name) for name in st.query_params if name == _METHODS or "." in name}
    if not old:
        return
    if Train.variants.name not in st.query_params:
        titles = old.get(_METHODS) or [METHODS[method].title for method in variants.USUAL]
        ids = {method.title: name for name, method in METHODS.items()}
        chosen = [METHODS[ids[title]] for title in titles if title in ids]
        variants.put([variants.without_defaults(str(_variant(method, old))) for method in chosen])
    for template in [name for name in old if name.endswith(".columns")]:
        if template == f"{Train.features.text or 'S3'}.columns":
            Train.columns.change(*old[template])
    for name in old:
        parameter = Choice(name)
        parameter.declared_on("train")
        parameter.forget()


def _variant(method: Method, old: Old) -> VariantText:
    given = {}
    tried = old.get(f"{method.id}.search", [])
    for option in method.options:
        name = f"{method.id}.{option.name}"
        if option.name in tried:
            values = (old.get(f"{method.id}.search.{option.name}") or [usual_values(option)])[-1].split()
            given[option.name] = listed(values) if values else ""
        elif name in old:
            given[option.name] = _kernel(name, old) if option.kind == "kernel" else old[name][-1]
    return VariantText(method.id, {name: text for name, text in given.items() if text})


def _kernel(name: str, old: Old) -> str:
    """A simple kernel stood there by its kind, and each of its parameters by itself."""
    kind = old[name][-1]
    parameters = KERNELS[kind].parameters() if kind in KERNELS else ()
    given = [old.get(f"{name}.{each.name}", [str(each.default)])[-1] for each in parameters]
    quoted = [each.text(text) if each.kind is str else text for each, text in zip(parameters, given)]
    return ":".join([kind, *quoted])
