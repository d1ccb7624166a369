"""Exported runs taken apart and put together again, and zip files as nobody should write them."""

from __future__ import annotations

import io
import json
import stat
import struct
import warnings
import zipfile
from collections.abc import Callable, Mapping

import numpy as np

_LOCAL, _CENTRAL = b"PK\x03\x04", b"PK\x01\x02"


def unzipped(packed: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    return added(b"", files, compression)


def added(packed: bytes, files: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """With more members, also of names that are there already."""
    out = io.BytesIO(packed)
    with warnings.catch_warnings(), zipfile.ZipFile(out, "a" if packed else "w", compression) as archive:
        warnings.simplefilter("ignore")  # that a name is there twice
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.filename, info.compress_type = name, compression  # as it is given, with whatever is in it
            archive.writestr(info, data)
    return out.getvalue()


def changed(packed: bytes, change: Callable[[dict, dict[str, bytes]], object]) -> bytes:
    """The file with another run.json, and what `change(run.json, files)` does to it and to the others."""
    files = unzipped(packed)
    about = json.loads(files["run.json"])
    change(about, files)
    files["run.json"] = json.dumps(about).encode()
    return zipped(files)


def with_link(packed: bytes, name: str) -> bytes:
    out = io.BytesIO(packed)
    with zipfile.ZipFile(out, "a") as archive:
        info = zipfile.ZipInfo(name)
        info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    return out.getvalue()


def stating(packed: bytes, name: str, size: int) -> bytes:
    """The same file, in which a member says that it has so many bytes."""
    return _patched(packed, name, 22, 24, struct.pack("<I", size))


def encrypted(packed: bytes, name: str) -> bytes:
    """The same file, in which a member says that it is encrypted."""
    return _patched(packed, name, 6, 8, struct.pack("<H", 1))


def _patched(packed: bytes, name: str, local: int, central: int, value: bytes) -> bytes:
    """Both headers of a member, at these places."""
    data, encoded = bytearray(packed), name.encode()
    for mark, place, name_at in ((_LOCAL, local, 30), (_CENTRAL, central, 46)):
        begin = data.find(mark)
        while data[begin + name_at : begin + name_at + len(encoded)] != encoded:
            begin = data.find(mark, begin + 1)
        data[begin + place : begin + place + len(value)] = value
    return bytes(data)


def npy(shape: tuple[int, ...], data: bytes, descr: str = "<f8") -> bytes:
    """A .npy file whose header says this of its shape, whatever its data are."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": descr, "fortran_order": False, "shape": shape})
    return out.getvalue() + data
