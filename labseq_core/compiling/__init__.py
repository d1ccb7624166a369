"""Compiled routines: numba's options, the machine code kept on disk, threads, and compiling ahead. Loads no numba itself."""
