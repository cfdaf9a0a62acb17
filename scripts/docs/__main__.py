# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make docs`: checks every page, then builds the site into build/docs; a warning fails either."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from scripts.docs import pages, rules

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "docs"


class NotBuilt(Exception):
    """MkDocs' own words, a line for each warning."""


def build(configuration: Path = ROOT / "mkdocs.yml", site: Path = SITE) -> None:
    # With --quiet MkDocs would not count its warnings.
    command = [sys.executable, "-m", "mkdocs", "--no-color", "build", "--strict"]
    command += ["--config-file", str(configuration), "--site-dir", str(site)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}  # Material's advertisement of its successor
    done = subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).splitlines()
        raise NotBuilt("\n".join(line for line in said if not line.startswith(("INFO", " "))))


def main() -> int:
    tree = pages.Tree.of(ROOT)
    complaints = rules.complaints(tree)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    try:
        build()
    except NotBuilt as reason:
        print(f"{reason}\nThe site is not built.", file=sys.stderr)
        return 1
    place = SITE.relative_to(ROOT)
    print(f"{rules.words(tree):,} words of {rules.MAX_WORDS:,} in docs")
    print(f"The site: {place}/index.html; with search: python -m http.server --directory {place}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
