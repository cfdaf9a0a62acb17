# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Shared path estimates: sw/estimator's library from Python."""

from downbeat.estimator.binding import Address as Address
from downbeat.estimator.binding import Estimator as Estimator
from downbeat.estimator.binding import Options as Options
from downbeat.estimator.binding import PrefixState as PrefixState
from downbeat.estimator.binding import Question as Question
from downbeat.estimator.binding import Report as Report
from downbeat.estimator.binding import Start as Start
from downbeat.estimator.structures import Cause as Cause
from downbeat.estimator.structures import Method as Method
from downbeat.estimator.structures import Pace as Pace
from downbeat.estimator.structures import Phase as Phase
