# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What the flow directory computes."""
