# SPDX-License-Identifier: BSD-2-Clause-Patent
from sim.golden.congestion.outside import places

__path__ += places("steady")
