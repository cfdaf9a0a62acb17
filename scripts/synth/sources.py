# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A build and its policies as the Scala sources have them, for those who ask before Scala is compiled."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from scripts.variables.names import CHANGE, RTL, source
from scripts.variables.names import policies as policies


@dataclass(frozen=True)
class Build:
    preset: str
    flows: int
    buffer_bytes: int
    event_spacing: int
    external: bool
    policies: list[str]


def build(name: str) -> Build:
    """The build of that name, which is right."""
    preset, *settings = CHANGE.split(name)
    given = dict(setting.split("=", 1) for setting in settings)
    text = _definition(preset)

    def number(field: str, own: int) -> int:
        found = re.findall(rf"\b{field} = (\d+)(?: << (\d+))?", text)
        return int(given.get(field) or (int(found[-1][0]) << int(found[-1][1] or 0) if found else own))

    having = re.findall(r'having\(("[^)]*)\)\(("[^)]*)\)', text)
    chosen = re.findall(r'"(\w+)"', " ".join(having[-1])) if having else policies()
    if "policies" in given:
        chosen = re.split("[,;]", given["policies"])
    external = given.get("externalMemory", str("externalMemory = true" in text).lower()) == "true"
    external |= int(given.get("hostPorts", 0)) > 0
    return Build(
        preset, number("flows", 16), number("sendBufferBytes", 65536), number("eventSpacing", 1), external, chosen
    )


def calculators(policy: str) -> set[str]:
    """The units that the policy has calculate for it, and the delivery meter, by the names of their modules."""
    text = _policy(policy)
    found = {_name(unit) for unit in re.findall(r"calculator: Option\[Calculator\] = Some\((\w+)\)", text)}
    for other in re.findall(r"calculator: Option\[Calculator\] = (\w+)\.calculator", text):
        found |= calculators(other.lower())
    found |= {"deliverybench"} if "samplesDelivery = true" in text else set()
    found |= {"rateestimate"} if "estimatesRates = true" in text else set()
    return found | ({"inlinemeasurement"} if "measuresInline = true" in text else set())


def shared(names: set[str]) -> set[str]:
    """Those of these calculators that are programs, of which a build has one unit for all."""
    texts = "".join(path.read_text() for path in sorted((RTL / "calculation").glob("*.scala")))
    programs = re.findall(r'extends ProgrammedCalculator \{\n  val name = "(\w+)"', texts)
    return names & set(programs)


def _definition(name: str) -> str:
    """The text of a preset, that of what it begins with before it."""
    text = source("Presets")
    found = re.search(
        rf'(?:"{name}" ->|val {name} =)\s*(.*?)(?=,?\n    "|\)\n}}|\n  private val|\n\n)', text, re.DOTALL
    )
    if not found:
        return ""
    first = re.match(r"\w+", found[1])
    return (_definition(first[0]) if first and first[0] != name else "") + found[1]


def _policy(name: str) -> str:
    folders = [RTL / "congestion", *map(Path, filter(None, [os.environ.get("POLICY_PATH", "")]))]
    paths = [path for folder in folders for path in sorted(folder.glob("s*/*.scala"))]
    return next((path.read_text() for path in paths if path.stem.lower() == name), "")


def _name(unit: str) -> str:
    texts = [path.read_text() for path in sorted((RTL / "calculation").glob("*.scala"))]
    found = (
        re.search(rf'object {unit} extends \w*Calculator .*?val name = "(\w+)"', text, re.DOTALL) for text in texts
    )
    return next(each[1] for each in found if each)
