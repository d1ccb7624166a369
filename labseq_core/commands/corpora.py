"""Corpora: list, describe, fetch."""

from __future__ import annotations

import argparse
import json

from labseq_core.commands.progress import Bar


def list_all(chosen: argparse.Namespace) -> None:
    from labseq_core.data.catalogue import list_datasets

    infos = list_datasets()
    if chosen.json:
        keys = ("name", "title", "task", "bundled", "available", "licence", "size")
        print(json.dumps([{key: getattr(info, key) for key in keys} for info in infos], ensure_ascii=False))
        return
    width = max(len(info.name) for info in infos)
    for info in infos:
        state = "bundled" if info.bundled else "on this machine" if info.available else "to be downloaded"
        print(f"{info.name:<{width}}  {state:<16}  {info.title}")


def describe(chosen: argparse.Namespace) -> None:
    from labseq_core.data.catalogue import dataset_info

    info = dataset_info(chosen.name)
    for name in ("name", "title", "description", "size", "task", "licence", "citation"):
        if getattr(info, name):
            print(f"{name:<12} {getattr(info, name)}")


def fetch(chosen: argparse.Namespace) -> None:
    from labseq_core.data.catalogue import fetch_dataset

    bar = Bar(chosen.name)
    fetch_dataset(chosen.name, progress=bar.show)
    bar.close()
    print(f"{chosen.name} is on this machine")
