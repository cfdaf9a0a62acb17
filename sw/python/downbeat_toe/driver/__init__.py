# SPDX-License-Identifier: BSD-2-Clause-Patent
"""TCP over a core from Python: sw/driver's library."""

from downbeat_toe.driver.binding import Connection as Connection
from downbeat_toe.driver.binding import Device as Device
from downbeat_toe.driver.binding import DriverError as DriverError
from downbeat_toe.driver.binding import Item as Item
from downbeat_toe.driver.binding import Listener as Listener
from downbeat_toe.driver.structures import Options as Options
from downbeat_toe.driver.structures import Ready as Ready
from downbeat_toe.structures import Error as Error
from downbeat_toe.structures import State as State
