# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A tarball whose bytes depend on its files alone: sorted, with one date and no owner."""

from __future__ import annotations

import gzip
import io
import tarfile

DATE = 315_532_800  # 1980-01-01, the earliest that zip and most tools know


def packed(files: dict[str, bytes], folder: str) -> bytes:
    """gzip of a tar (ustar), all files in `folder`."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime, entry.mode = len(files[name]), DATE, 0o644
            archive.addfile(entry, io.BytesIO(files[name]))
    compressed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=compressed, compresslevel=9, mtime=0) as out:
        out.write(tar.getvalue())
    return compressed.getvalue()
