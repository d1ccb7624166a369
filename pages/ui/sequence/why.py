"""One sequence: what the decision at a position is made of."""

from __future__ import annotations

import streamlit as st

from labseq_core.explain import Contributions
from pages.ui.choices.registry import OneSequence
from pages.ui.drawing import charts
from pages.ui.drawing.plain_text import in_html, shortened
from pages.ui.sequence import cached as data
from pages.ui.sequence import charts as pictures
from pages.ui.sequence import words
from pages.ui.sequence.scene import Scene

_BARS = 12
_VOICES = 8
_COLUMNS = ("kind", "position", "name", "value", "chosen", "rival", "difference")
_AROUND = 6  # words of a training sentence on either side


def decision(scene: Scene) -> None:
    """The label that the model gives a position against another one: by scores or probabilities, as it is decoded."""
    st.header("Why this label?")
    reading, position = scene.reading, scene.position
    usual = reading.rival_at(position)
    if usual is None:
        st.info("No other label is possible at this position, so there is nothing to compare.", icon=":material/info:")
        return
    others = [label for label in reading.possible_at(position) if label != reading.labels[position]]
    rival = OneSequence.against.choose(
        "Against", others, usual, shortened, width=300, help="The label that it could have been."
    )
    why = data.why(scene.asked, scene.label, position, rival)
    if reading.by_posterior:
        st.html(words.odds(why, reading, scene.name, position, scene.word))
    else:
        st.html(words.compared(why, scene.name, position, scene.word))
    _bars(scene, why)
    if observations := why.observations_at(position + 1, _VOICES):
        _voices(scene, observations)
    scene.save("All parts as CSV", lambda: [{name: row[name] for name in _COLUMNS} for row in why.rows], "why")


def _bars(scene: Scene, why: Contributions) -> None:
    several, rows = len(why.positions) > 1, why.together(_BARS)
    names = [f"{row['name']} @{row['position']}" if several and row["position"] else row["name"] for row in rows]
    differences = [row["difference"] for row in rows]
    listed = ", ".join(f"{name} {value:+.2f}" for name, value in zip(names, differences))
    charts.draw(pictures.part_bars(names, differences), "why", f"Parts of the decision, largest first: {listed}")
    if several:
        st.caption("@ is the position of the word that a part belongs to.")
    scene.save("These bars as CSV", lambda: [{name: row[name] for name in _COLUMNS} for row in rows], "bars")


def _voices(scene: Scene, rows: list[dict]) -> None:
    """The training words that decided most at the position, in their sentences."""
    st.subheader(f"The training words that decided most at position {scene.position + 1}")
    st.markdown(words.VOICES)
    numbers = tuple(row["observation"] for row in rows if row["kind"] == "observation")
    voices = data.voices(scene.run, scene.label, numbers)
    lines = [_voice(row, each) for row, each in zip(rows, voices)]
    lines += [
        f"<li><b>{words.vote(row['difference'])}</b> all other {row['value']:,.0f} training observations together</li>"
        for row in rows[len(lines) :]
    ]
    st.html(f'<ul class="ls-voices">{"".join(lines)}</ul>')


def _voice(row: dict, voice: dict) -> str:
    """One training observation: its vote, how alike it is, and where it stands."""
    vote = f"<b>{words.vote(row['difference'])}</b> <small>k = {row['value']:.3f}</small>"
    place = voice["places"][0]
    more = f" <small>and {voice['count'] - 1:,} more like it</small>" if voice["count"] > 1 else ""
    return f"<li>{vote} {_in_sentence(place)} <small>training sentence {place['sequence']}</small>{more}</li>"


def _in_sentence(place: dict) -> str:
    """A part of a training sentence around the word, which is marked; HTML."""
    tokens, t = place["tokens"], place["position"]
    begin, end = max(0, t - _AROUND), t + _AROUND + 1
    before, after = (" ".join(map(in_html, some))
                     for some in (tokens[begin:t], tokens[t + 1 : end]))  # fmt: skip
    word = f"<mark>{in_html(tokens[t])}</mark> <small>[{in_html(place['label'])}]</small>"
    return f"{'… ' if begin else ''}{before} {word} {after}{' …' if end < len(tokens) else ''}"
