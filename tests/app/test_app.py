"""The frame around the pages."""

from __future__ import annotations

import subprocess
import sys

from streamlit.testing.v1 import AppTest

from labseq_core.dashboard_settings import STREAMLIT_SETTINGS, app_path
from tests.app.conftest import SECONDS_PER_RUN, problems


def test_a_first_visit_by_a_link_to_a_page_goes_through_the_app():
    # Until st.navigation has been called, Streamlit runs the files of a folder `pages` by themselves.
    app = AppTest.from_file(str(app_path()), default_timeout=SECONDS_PER_RUN)
    app.switch_page("pages/data.py").run()
    assert problems(app) == []
    assert app.title[0].value == "Data"
    assert "LabSeq" in app.sidebar.caption[0].value


def test_streamlit_knows_every_setting():
    from streamlit import config

    known = config.get_config_options()
    assert [name for name in STREAMLIT_SETTINGS if name not in known] == []


def test_settings_are_read_without_streamlit():
    code = "import sys, labseq_core.dashboard_settings; print('streamlit' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=app_path().parent
    )
    assert done.stdout.strip() == "False"
