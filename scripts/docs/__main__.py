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


def build(site: Path = SITE) -> None:
    """Raises CalledProcessError when MkDocs warns."""
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}  # Material's advertisement of its successor
    command = [sys.executable, "-m", "mkdocs", "--quiet", "build", "--strict", "--site-dir", str(site)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def main() -> int:
    tree = pages.Tree.of(ROOT)
    complaints = rules.complaints(tree)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    try:
        build()
    except subprocess.CalledProcessError:
        print("The site is not built: MkDocs' warnings are above.", file=sys.stderr)
        return 1
    place = SITE.relative_to(ROOT)
    print(f"{rules.words(tree):,} words of {rules.MOST_WORDS:,} in docs")
    print(f"The site: {place}/index.html; with search: python -m http.server --directory {place}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
