"""S3 attributes the way tutorials of python-crfsuite make them: a Python function of (sentence, position).

Gives the same names as our template. Imports nothing of ours: it runs in the process of the other program too.
"""

from __future__ import annotations


def word_attributes(word: str, mark: str, first: bool) -> list[str]:
    """The spelling attributes of one word of the window; `mark` says where in the window it is."""
    capital, digit = word[:1].isupper(), any(map(str.isdigit, word))
    dot, hyphen, dot_end = "." in word, "-" in word, word.endswith(".")
    if capital:
        kind = "upper"
    elif word[:1].isalpha():
        kind = "lower"
    else:
        kind = "digit" if word[:1].isdigit() else "other"
    found = [f"word{mark}={word}", f"first{mark}={kind}", f"last{mark}={word[-1:]}"]
    if first:
        found.append(f"sent_ini{mark}")
    if word.isupper():
        found.append(f"all_caps{mark}")
    if capital:
        found.append(f"cap_ini{mark}")
        if first:
            found.append(f"cap_ini+sent_ini{mark}")
        if dot_end:
            found.append(f"cap_ini+dot_end{mark}")
        if dot:
            found.append(f"cap_ini+contains_dot{mark}")
        if hyphen:
            found.append(f"cap_ini+contains_hyphen{mark}")
        if digit:
            found.append(f"cap_ini+contains_digit{mark}")
    if digit:
        found.append(f"contains_digit{mark}")
        if dot:
            found.append(f"contains_dot+contains_digit{mark}")
        if hyphen:
            found.append(f"contains_digit+contains_hyphen{mark}")
    if dot_end:
        found.append(f"dot_end{mark}")
    if dot and hyphen:
        found.append(f"contains_dot+contains_hyphen{mark}")
    return found


def token_attributes(sentence: list[str], t: int) -> list[str]:
    """All S3 attributes of the word at t."""
    found = word_attributes(sentence[t], "", t == 0)
    if t > 0:
        found += word_attributes(sentence[t - 1], "[-1]", t == 1)
    if t < len(sentence) - 1:
        found += word_attributes(sentence[t + 1], "[+1]", False)
    return found


def usual_way(sentences: list[list[str]]) -> list[list[list[str]]]:
    return [[token_attributes(sentence, t) for t in range(len(sentence))] for sentence in sentences]
