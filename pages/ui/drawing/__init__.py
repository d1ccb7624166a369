"""Figures, tables, tokens and files: data in, drawing out."""
