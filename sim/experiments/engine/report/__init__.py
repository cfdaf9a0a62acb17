# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Numbers to files: report, page, plots and Parquet."""
