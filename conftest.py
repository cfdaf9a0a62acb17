# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Makes each pytest process of the project, called by make or by hand, treat cocotb cases and Hypothesis alike."""

import os
from pathlib import Path

import hypothesis

# Hypothesis' database is generated output too. A loaded machine is no failure.
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(__file__).parent / "build" / "hypothesis"))
hypothesis.settings.register_profile(
    "downbeat", deadline=None, print_blob=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("downbeat")

pytest_plugins = ("scripts.check.plugin",)
