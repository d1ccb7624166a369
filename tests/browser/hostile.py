"""A corpus that wants to be anything but text: markup, scripts, formulas, marks that turn lines around, endless words."""

from __future__ import annotations

LONG = "w" * 10_000
NAME = "<img src=x onerror=window.pwned=1> $x$ **b** :red[c] \u202econll.conll"
WORDS = (
    "<script>window.pwned=1</script>", "<img/src=x/onerror=window.pwned=1>", '"><svg/onload=window.pwned=1>',
    "<a/href=javascript:window.pwned=1>link</a>", "[link](javascript:window.pwned=1)", "![p](http://foreign.invalid/p.png)",
    "<img/src=http://foreign.invalid/q.png>", "**bold**", "_i_", "`code`", "~~s~~", "#", "|", "$\\frac{1}{0}$", "$$",
    ":red[x]", ":material/delete:", ":smile:", "\u202etfel", "\u2066", "\u200b", "\ufeff", "&lt;b&gt;", "%{x}", "{0}", "\\",
    "👩‍👩‍👧", "🇪🇺", "a\u0300\u0301\u0302\u0303", "الكتاب", LONG,
)  # fmt: skip
LABELS = (
    "O", "B-<b>x</b>", "$y$", ":red[L]", "\u202elebal", "<img/src=x/onerror=window.pwned=1>", "**L**", "%{x}<br>", "l" * 10_000,
)  # fmt: skip
SENTENCES = 40


def conll() -> bytes:
    """Every word and every label several times, so that each part of the corpus has all of them."""
    lines = []
    for number in range(SENTENCES):
        for place in range(8):
            word = (7 * number + place) % len(WORDS)
            lines.append(f"{WORDS[word]} {LABELS[word % len(LABELS)]}")
        lines.append("")
    return "\n".join(lines).encode()
