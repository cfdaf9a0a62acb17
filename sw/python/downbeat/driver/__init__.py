# SPDX-License-Identifier: BSD-2-Clause-Patent
"""TCP over a core from Python: sw/driver's library."""

from downbeat.driver.binding import Connection as Connection
from downbeat.driver.binding import Device as Device
from downbeat.driver.binding import DriverError as DriverError
from downbeat.driver.binding import Item as Item
from downbeat.driver.binding import Listener as Listener
from downbeat.driver.structures import Error as Error
from downbeat.driver.structures import News as News
from downbeat.driver.structures import Options as Options
from downbeat.driver.structures import State as State
