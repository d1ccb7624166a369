"""Learn: short lessons, each with a picture of real results and demonstrations one click away."""

import streamlit as st

from pages.ui.choices import links
from pages.ui.choices.registry import Learn
from pages.ui.frame import preparing
from pages.ui.frame.navigation import begin_page
from pages.ui.learn.lessons import LESSONS, Lesson
from pages.ui.learn.properties import COMPARED, PROPERTIES, Cell

TABLE = "properties"
_WIDTHS = [3, 2, 2, 2, 2]


def lesson(chosen: Lesson) -> None:
    text, picture = st.columns([4, 5], gap="large")
    with text:
        st.header(chosen.title)
        st.markdown(chosen.text)
        st.subheader("Try it")
        with st.container(horizontal=True):
            for link in chosen.links:
                kind = "primary" if link.icon == "visibility" else "secondary"
                if st.button(link.label, key=f"link.{link.label}", icon=f":material/{link.icon}:", type=kind):
                    leave(chosen.key, link.page, link.choices)
    with picture:
        st.header("What to see")
        with preparing.part_of_page():
            chosen.picture()
        st.info(chosen.question, icon=":material/help:")


def properties() -> None:
    """A grid of links; on narrow screens the cells of a property stand under it, each with its method."""
    st.header("What each method has")
    st.markdown("After thesis, Table 5.2. **Every cell is a link** to a place where it can be seen on real results.")
    with st.container(key="properties"):
        with st.container(key="properties-head"):
            for column, name in zip(st.columns(_WIDTHS), ("Property", *COMPARED), strict=True):
                column.markdown(f"**{name}**")
        for name, kept in PROPERTIES.items():
            first, *others = st.columns(_WIDTHS, vertical_alignment="center", border=False)
            first.markdown(f"**{name}**: {kept.meaning}")
            for column, method, cell in zip(others, COMPARED, kept.cells, strict=True):
                with column:
                    cell_link(name, method, cell)
    with st.expander("What each link shows", icon=":material/menu_book:"):
        for name, kept in PROPERTIES.items():
            lines = [f"- {method}, *{cell.says}*: {cell.look_for}" for method, cell in zip(COMPARED, kept.cells)]
            st.markdown(f"**{name}**\n" + "\n".join(lines))


def cell_link(name: str, method: str, cell: Cell) -> None:
    # The method is hidden from sight where the head of the table says it, but read aloud everywhere.
    label = f"**{method}:** {cell.says}"
    if st.button(label, key=f"cell.{name}.{method}", type="tertiary", help=cell.look_for):
        leave(TABLE, cell.page, cell.choices)


def leave(key: str, page: str, choices: dict[str, str | list[str]]) -> None:
    """Go to another page with these choices and no others; the lesson is kept for the way back."""
    Learn.lesson.change(key)
    links.open_page(page, choices, fresh=True)


def before_and_after(keys: list[str], key: str) -> None:
    """Buttons to the lessons before and after, in the order of the list."""
    place = keys.index(key)
    with st.container(horizontal=True, vertical_alignment="center"):
        for name, icon, other in (("Previous", "arrow_back", place - 1), ("Next", "arrow_forward", place + 1)):
            there = 0 <= other < len(keys)
            st.button(
                f"{name} lesson", icon=f":material/{icon}:", disabled=not there, on_click=Learn.lesson.change,
                args=(keys[other] if there else key,), help=titles[keys[other]] if there else None,
            )  # fmt: skip
        st.caption(f"Lesson {place + 1} of {len(keys)}")


begin_page("learn")
st.title("Learn")
titles = {key: chosen.title for key, chosen in LESSONS.items()} | {TABLE: "All methods in one table"}
key = Learn.lesson.choose("Lesson", list(titles), describe=titles.__getitem__)
before_and_after(list(titles), key)
if key == TABLE:
    properties()
else:
    lesson(LESSONS[key])
