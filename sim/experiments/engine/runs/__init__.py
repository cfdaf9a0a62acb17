# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Plans to results: processes of this machine or a cluster's workers, and the results that are kept."""
