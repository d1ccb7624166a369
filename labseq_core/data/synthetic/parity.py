"""A lamp on two-way switches: no single attribute tells anything about the label, pairs of attributes tell nearly all."""

from __future__ import annotations

from itertools import product

import numpy as np

from labseq_core.data.synthetic.corpus import SyntheticCorpus
from labseq_core.data.synthetic.emissions import Choice
from labseq_core.data.synthetic.hidden_chain import TOKEN, HiddenChain

LIT, DARK = "lit", "dark"
P_STAYS = 0.75  # the lamp is as it was a minute before
P_SWITCHES_WRONG = 0.1  # the pair of switches does not agree with the lamp
P_SENSOR_WRONG = 0.2
P_END = 1 / 12  # twelve minutes on average

SWITCH, SENSOR = ("up", "down"), ("high", "low")
WIRING = STRAIGHT, CROSSED = ("straight", "crossed")
READING = {LIT: "high", DARK: "low"}  # of a sensor with straight wires
ROOMS = "hall*3 stairs*3 landing*2 kitchen*2 study cellar attic porch"
WEATHER = "sun*2 cloud*3 rain*2 fog"


def _build_chain() -> HiddenChain:
    """States are (lamp, lower switch, wiring): then each visible value depends on the state alone.

    The lamp is lit where the switches differ; the sensor says "high" for a lit lamp, and the reverse if wires are crossed.
    """
    states = list(product((LIT, DARK), SWITCH, WIRING))
    lamps = [lamp for lamp, _, _ in states]
    # The two free bits of a state are fair coins, tossed anew each minute.
    start = np.full(len(states), 1 / len(states))
    moves = np.array([[P_STAYS if lamp == before else 1 - P_STAYS for lamp in lamps] for before in lamps]) / 4
    shown = {value: Choice(value) for value in (*SWITCH, *WIRING)}
    other_switch = {value: _mostly(value, SWITCH, P_SWITCHES_WRONG) for value in SWITCH}
    sensor = {value: _mostly(value, SENSOR, P_SENSOR_WRONG) for value in SENSOR}
    rooms, weather = Choice(ROOMS), Choice(WEATHER)
    emissions = {
        TOKEN: [rooms for _ in states],
        "lower_switch": [shown[switch] for _, switch, _ in states],
        "upper_switch": [other_switch[_swapped(switch, SWITCH, lamp == LIT)] for lamp, switch, _ in states],
        "wiring": [shown[wiring] for _, _, wiring in states],
        "sensor": [sensor[_swapped(READING[lamp], SENSOR, wiring == CROSSED)] for lamp, _, wiring in states],
        "weather": [weather for _ in states],
    }
    return HiddenChain(lamps, start, moves * (1 - P_END), np.full(len(states), P_END), emissions)


def _swapped(value: str, pair: tuple[str, str], swap: bool) -> str:
    return pair[1 - pair.index(value)] if swap else value


def _mostly(value: str, values: tuple[str, str], p_other: float) -> Choice:
    return Choice({each: 1 - p_other if each == value else p_other for each in values})


PARITY = SyntheticCorpus(
    name="parity",
    title="The lamp on two switches (parity)",
    task="token",
    description=(
        "A lamp is watched minute by minute: is it lit or dark? It is lit when its two switches differ, and a light "
        "sensor means the reverse when its wires are crossed; both are noisy. Every single attribute is independent of "
        "the label, so first-order features learn nothing; products of two attributes (degree 2) learn nearly all."
    ),
    columns=("lower_switch", "upper_switch", "wiring", "sensor", "weather"),
    build_chain=_build_chain,
)
