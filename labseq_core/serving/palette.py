"""The colours of all charts and of the two grounds that they stand on."""

from __future__ import annotations

# Okabe and Ito's colours for all kinds of colour vision, those first that stand out on light and on dark ground alike.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#999999", "#F0E442")
BACKGROUNDS = {"light": "#FFFFFF", "dark": "#12171D"}
