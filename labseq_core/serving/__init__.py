"""The dashboard's server: the only part of the core that knows streamlit, by `streamlit_inside`."""
