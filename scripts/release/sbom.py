# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The bill of materials of a release, CycloneDX 1.6: its files with their hashes, what is in the Verilog, what made
it."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from typing import Any

LICENCE = "BSD-2-Clause-Patent"


def document(version: str, files: dict[str, bytes], pom: str) -> str:
    """The same for the same files: no date, and a serial number that is theirs."""
    spinal, scala = (_property(pom, name) for name in ("spinal.version", "scala.version"))
    own = f"pkg:generic/downbeat@{version}"
    library = _maven("spinalhdl-lib_2.13", spinal, "MIT")
    parts = [_file(name, files[name]) for name in sorted(files)]
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([own, *parts]))
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "tools": {
                "components": [
                    _maven("spinalhdl-core_2.13", spinal, "LGPL-3.0-only"),
                    _maven("scala-library", scala, "Apache-2.0", group="org.scala-lang"),
                ]
            },
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": "downbeat",
                "version": version,
                "description": "TCP offload engine with paced, timestamped departures, Verilog",
                "licenses": [{"license": {"id": LICENCE}}],
            },
        },
        "components": [library, *parts],
        "dependencies": [{"ref": own, "dependsOn": [library["bom-ref"]]}],
    }
    return json.dumps(bill, indent=1) + "\n"


def _file(name: str, content: bytes) -> dict[str, Any]:
    return {
        "type": "file",
        "bom-ref": f"file:{name}",
        "name": name,
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}],
    }


def _maven(name: str, version: str, licence: str, group: str = "com.github.spinalhdl") -> dict[str, Any]:
    package = f"pkg:maven/{group}/{name}@{version}"
    return {
        "type": "library",
        "bom-ref": package,
        "group": group,
        "name": name,
        "version": version,
        "purl": package,
        "licenses": [{"license": {"id": licence}}],
    }


def _property(pom: str, name: str) -> str:
    found = re.search(rf"<{re.escape(name)}>(.+?)</", pom)
    if found is None:
        raise ValueError(f"pom.xml has no {name}")
    return found[1]
