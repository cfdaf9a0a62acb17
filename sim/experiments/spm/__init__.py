# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SPM and Hoe over the thesis' dumbbell in ns-3: what they take the path for."""
