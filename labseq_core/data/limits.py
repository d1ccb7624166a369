"""What a file may be at most. Every limit says its unit and why; what is over one is refused with its line."""

# An upload, unpacked. Real corpora in one file have a few megabytes; so many are read in seconds and in a gigabyte of memory.
MAX_UPLOAD_MEGABYTES = 50
# Tokens of an upload: eight times the Penn Treebank. More of them in 50 MB are no text, and pages hold several corpora at once.
MAX_UPLOAD_TOKENS = 8_000_000
# A packed file of one's own, unpacked: a small .gz can hold more than any memory.
MAX_UNPACKED_MEGABYTES = 1024
# Columns of a file, which are rows of a table and choices in a form on pages. Word embeddings have up to 1,024 numbers.
MAX_COLUMNS = 2_000
# Characters of one cell, such as a token: its name is copied for every place of a window. Near what Python's csv module takes.
MAX_CELL_CHARACTERS = 100_000
# Characters of a line with one token: 2,000 columns of 500 characters.
MAX_LINE_CHARACTERS = 1_000_000
# Characters of a line that is a whole sequence in JSON: 100,000 tokens with ten values each.
MAX_JSON_LINE_CHARACTERS = 10_000_000
# Distinct labels: a model has a number for each pair of them, here 4 million (32 MB). Supertags are about 1,300.
MAX_LABELS = 2_000

# What the process that reads an upload may take: the slowest 50 MB that we know take 15 s and 0.9 GB on a small machine.
READ_SECONDS = 240.0
READ_MEGABYTES = 2048
