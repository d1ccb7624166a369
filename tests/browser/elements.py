"""The ids by which tests find what Streamlit draws; `test_streamlit_inside.py` checks that there are such."""

from __future__ import annotations

from enum import StrEnum

from labseq_core.serving.streamlit_inside import MULTISELECT as MULTISELECT_ID
from labseq_core.serving.streamlit_inside import by_id


class Element(StrEnum):
    ALERT = "stAlert"
    APP = "stApp"
    CHECKBOX = "stCheckbox"
    CODE = "stCode"
    DATA_FRAME = "stDataFrame"
    EXCEPTION = "stException"
    FILE_UPLOADER = "stFileUploader"
    HIDDEN_GRID = "data-grid-canvas"  # of a data frame, for screen readers
    MAIN = "stMain"
    MULTISELECT = MULTISELECT_ID
    NUMBER_INPUT = "stNumberInput"
    PROGRESS = "stProgress"
    SELECTBOX = "stSelectbox"
    SIDEBAR = "stSidebar"
    SIDEBAR_NAVIGATION = "stSidebarNav"
    SKELETON = "stSkeleton"
    TABLE = "stTable"
    TEXT_INPUT = "stTextInput"
    TOOLBAR = "stElementToolbar"

    @property
    def css(self) -> str:
        """Its selector."""
        return by_id(self)


CELL = "glide-cell-{column}-{row}"  # of a data frame
SCRIPT_STATE = "data-test-script-state"  # attribute of the app
AT_REST = "notRunning"
