# SPDX-License-Identifier: BSD-2-Clause-Patent
"""No function, type or macro of the C interfaces is declared in two headers."""

from __future__ import annotations

import re
from collections import defaultdict

from scripts.lint.tools import ROOT, project_files

DECLARED = re.compile(
    r"""^\#define\ (\w+)                                # a macro
      | ^(?:typedef\s)?(?:struct|enum|union)\s(\w+)\s\{  # a structure with its members
      | ^typedef\s[^{;]*\b(\w+);                         # another name of a type
      | ^typedef\s[^{;]*\(\*(\w+)\)\(                    # a callback
      | ^(?!typedef)[a-z][\w\s\*]*?\b(downbeat_\w+)\(    # a function""",
    re.MULTILINE | re.VERBOSE,
)


def declared(text: str) -> set[str]:
    return {name for found in DECLARED.findall(text) for name in found if name}


def test_declarations_are_found() -> None:
    text = """#define DOWNBEAT_NEVER UINT64_MAX
typedef uint64_t downbeat_time;
typedef void (*downbeat_callback)(void *context);
enum downbeat_state {
typedef struct downbeat_span {
/* } of downbeat_open( */
const char *downbeat_text(int number);
int64_t downbeat_get(downbeat_device *device,
                     downbeat_time *departure);
"""
    functions = {"downbeat_text", "downbeat_get"}
    types = {"downbeat_time", "downbeat_callback", "downbeat_state", "downbeat_span"}
    assert declared(text) == functions | types | {"DOWNBEAT_NEVER"}


def test_no_name_is_in_two_headers() -> None:
    headers = defaultdict(list)
    for path in project_files():
        if path.parts[0] not in ("sw", "sim") or not path.match("downbeat*.h"):
            continue
        for name in declared((ROOT / path).read_text()):
            headers[name].append(str(path))
    assert {name: places for name, places in headers.items() if len(places) > 1} == {}
    assert "downbeat_connect" in headers and "downbeat_sim_connect" in headers
