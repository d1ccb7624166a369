"""One sequence: what the decision at a position is made of."""

from __future__ import annotations

from html import escape

import streamlit as st

from labseq_core.explain import Contributions
from pages.ui import charts, session
from pages.ui import sequence_charts as pictures
from pages.ui import sequence_data as data
from pages.ui import sequence_words as words
from pages.ui.sequence_choice import AGAINST
from pages.ui.sequence_scene import Scene
from pages.ui.tokens import shortened

_BARS = 12
_VOICES = 8
_AROUND = 6  # words of a training sentence on either side


def decision(scene: Scene) -> None:
    """The best labelling against the best one with another label at the position."""
    st.header("Why this label?")
    reading, position = scene.reading, scene.position
    usual = reading.rival_at(position)
    if usual is None:
        st.info("No other label is possible at this position, so there is nothing to compare.", icon=":material/info:")
        return
    others = [label for label in reading.possible_at(position) if label != reading.labels[position]]
    rival = session.choose("Against", AGAINST, others, str, usual, width=300, help="The label that it could have been.")
    why = data.why(scene.asked, scene.label, reading.labels, reading.labels_through(position, rival))
    st.html(words.compared(why, scene.name, position, scene.word))
    rows, others = why.largest(_BARS)
    spoken = _spoken(scene, rows)
    _bars(why, [_name(row, spoken) for row in rows], [row["difference"] for row in rows], others)
    if spoken:
        _voices(rows, spoken)
    names = ("kind", "position", "name", "value", "chosen", "rival", "difference")
    scene.save("All parts as CSV", lambda: [{name: row[name] for name in names} for row in why.rows], "why")


def _spoken(scene: Scene, rows: list[dict]) -> dict[int, dict]:
    """By number of the observation: where it stands in the training data; empty for methods that have none."""
    numbers = tuple(dict.fromkeys(row["observation"] for row in rows if "observation" in row))
    return dict(zip(numbers, data.voices(scene.found.run_id, scene.label, numbers))) if numbers else {}


def _name(row: dict, spoken: dict[int, dict]) -> str:
    """A training observation by its word and label, everything else as it is called."""
    place = _first_place(row, spoken)
    return row["name"] if place is None else f"{place['tokens'][place['position']]} [{place['label']}]"


def _first_place(row: dict, spoken: dict[int, dict]) -> dict | None:
    places = spoken[row["observation"]]["places"] if "observation" in row else []
    return places[0] if places else None


def _bars(why: Contributions, names: list[str], differences: list[float], others: float) -> None:
    several = len(why.positions) > 1
    if several:
        names = [f"{name} @{row['position']}" for name, row in zip(names, why.rows)]
    if len(why.rows) > len(names):
        differences = [*differences, others]
        names = [*names, f"{len(why.rows) - len(names)} smaller parts"]
    listed = ", ".join(f"{name} {value:+.2f}" for name, value in zip(names, differences))
    charts.draw(pictures.part_bars(names, differences), "why", f"Parts of the decision, largest first: {listed}")
    if several:
        st.caption("@ is the position of the word that a part belongs to.")


def _voices(rows: list[dict], spoken: dict[int, dict]) -> None:
    """The training words that decided most, in their sentences."""
    st.subheader("The training words that decided most")
    st.markdown(words.VOICES)
    lines = []
    for row in [row for row in rows if _first_place(row, spoken)][:_VOICES]:
        place, count = _first_place(row, spoken), spoken[row["observation"]]["count"]
        more = f" <small>and {count - 1:,} more like it</small>" if count > 1 else ""
        lines.append(
            f"<li><b>{words.vote(row['difference'])}</b> <small>k = {row['value']:.3f}</small> {_in_sentence(place)} "
            f"<small>training sentence {place['sequence']}</small>{more}</li>"
        )
    st.html(f'<ul class="ls-voices">{"".join(lines)}</ul>')


def _in_sentence(place: dict) -> str:
    """A part of a training sentence around the word, which is marked; HTML."""
    tokens, t = place["tokens"], place["position"]
    begin, end = max(0, t - _AROUND), t + _AROUND + 1
    before, after = (" ".join(f"<bdi>{escape(shortened(word))}</bdi>" for word in some)
                     for some in (tokens[begin:t], tokens[t + 1 : end]))  # fmt: skip
    word = f"<mark><bdi>{escape(shortened(tokens[t]))}</bdi></mark> <small>[{escape(place['label'])}]</small>"
    return f"{'… ' if begin else ''}{before} {word} {after}{' …' if end < len(tokens) else ''}"
