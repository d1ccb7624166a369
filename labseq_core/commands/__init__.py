"""What the commands of `labseq` do; `cli.py` reads the words. Imports stand in the functions: `labseq --help` is quick."""
