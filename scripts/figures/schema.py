# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The base of every report's schema."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict


class Recorded:
    """The part of a report that a record keeps."""

    @property
    def options(self) -> str:
        """The end of its command."""
        return ""

    def added_to(self, recorded: Self) -> Self:
        """The new record; `recorded` is the one before."""
        del recorded
        return self


class Shown(Recorded, BaseModel):
    """The fields of a report that a page shows, all others left out. A name ends in the field's unit where it has one.

    A field without a default must be in the report; `None` stands for what a case does not measure.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, validate_by_name=True, serialize_by_alias=True)
