# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Shared path estimates: sw/estimator's library from Python."""

from downbeat_toe.estimator.binding import Address as Address
from downbeat_toe.estimator.binding import Estimator as Estimator
from downbeat_toe.estimator.binding import Options as Options
from downbeat_toe.estimator.binding import PrefixState as PrefixState
from downbeat_toe.estimator.binding import Report as Report
from downbeat_toe.estimator.binding import Request as Request
from downbeat_toe.estimator.binding import Start as Start
from downbeat_toe.estimator.structures import Cause as Cause
from downbeat_toe.estimator.structures import Method as Method
from downbeat_toe.structures import Pace as Pace
from downbeat_toe.structures import Phase as Phase
