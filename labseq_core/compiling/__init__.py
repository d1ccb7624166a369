"""Compiled routines: numba's options, the machine code kept on disk, and threads. Loads no numba itself."""
