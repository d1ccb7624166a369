"""A run as others can repeat it: link, configuration file, command and script."""

from __future__ import annotations

import streamlit as st

from labseq_core.experiments import ExperimentConfig
from labseq_core.experiments.plan.python_script import python_script


def recipe(config: ExperimentConfig, link: str) -> None:
    """Four ways to do the same again. The browser draws them when they are asked for."""
    with st.popover("Link, file, command and script", icon=":material/content_copy:"):
        by_link, by_yaml, by_command, by_script = st.tabs(["Link", "YAML", "Command", "Python"])
        with by_link:
            st.code(link, language=None, wrap_lines=True)
        with by_yaml:
            st.code(config.to_yaml(), language="yaml")
            st.download_button(
                "Save as YAML", config.to_yaml(), f"labseq-{config.hash}.yaml", "application/yaml", on_click="ignore",
                icon=":material/download:", help="`labseq compare FILE.yaml` runs it",
            )  # fmt: skip
        with by_command:
            st.code(config.cli_command(), language="bash", wrap_lines=True)
        with by_script:
            st.code(python_script(config), language="python")
