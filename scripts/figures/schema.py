# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What every schema of a report has in common."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict


class Recorded:
    """What a record keeps of a report."""

    def added_to(self, recorded: Self) -> Self:
        """What is recorded now; `recorded` is what the report before said."""
        del recorded
        return self


class Shown(Recorded, BaseModel):
    """The fields of a report that a page shows, all others left out. A name ends in the field's unit where it has one.

    A field without a default must be in the report; `None` stands for what a case does not measure.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, validate_by_name=True, serialize_by_alias=True)
