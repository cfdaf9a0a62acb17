# SPDX-License-Identifier: BSD-2-Clause-Patent
from cocotb_tests.golden.congestion.outside import places

__path__ += places("startup")
