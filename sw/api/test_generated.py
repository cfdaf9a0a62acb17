# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Headers and Python modules are those of the list, and one field of it changes C, C++ and Python together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sw.api import c, python
from sw.api.__main__ import files
from sw.api.driver import DRIVER
from sw.api.model import ROOT, Member, Structure
from sw.api.prototypes import Prototype, prototypes

FILES = files()


@pytest.mark.parametrize("name", FILES)
def test_a_generated_file_is_the_one_of_the_list(name: str) -> None:
    assert (ROOT / name).read_text() == FILES[name], f"{name} is stale: run `make generate` and commit it"


def test_a_new_member_is_in_c_and_in_python() -> None:
    """C++ has the header of C."""
    span = next(each for each in DRIVER.entries if each.name == "downbeat_span")
    assert isinstance(span, Structure)
    longer = replace(span, members=(*span.members, Member("uint16_t", "wrapped[2], spare", "a test's")))
    entries = tuple(longer if each is span else each for each in DRIVER.entries)
    changed = replace(DRIVER, entries=entries)
    assert "  uint16_t wrapped[2], spare; /* a test's */\n} downbeat_span;" in c.header(changed)
    assert '        ("wrapped", c_uint16 * 2),\n        ("spare", c_uint16),\n    )' in python.Module(changed).text()


def test_a_type_that_the_list_does_not_have_is_refused() -> None:
    wrong = Structure("downbeat_wrong", "Wrong", "", (Member("uint24_t", "x"),))
    with pytest.raises(ValueError, match="no type uint24_t"):
        python.Module(replace(DRIVER, entries=(wrong,), functions=())).text()


def test_functions_have_the_types_of_their_prototypes() -> None:
    text = """
/** int downbeat_comment(int number); */
int64_t downbeat_poll(downbeat_device *device, downbeat_item *items,
                      size_t capacity);
const char *downbeat_text(void);
int downbeat_add(const uint8_t mac[6], unsigned index);
void downbeat_observe(downbeat_device *device, void (*callback)(void *), void *context);
"""
    assert prototypes(text) == [
        Prototype("downbeat_poll", "int64_t", ("downbeat_device *", "downbeat_item *", "size_t")),
        Prototype("downbeat_text", "const char *", ()),
        Prototype("downbeat_add", "int", ("const uint8_t *", "unsigned")),
    ]
