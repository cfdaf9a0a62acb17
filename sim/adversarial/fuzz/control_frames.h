// SPDX-License-Identifier: BSD-2-Clause-Patent
// ARP and ICMP for the core, right and wrong.
#pragma once

#include "lib/packets/draw.h"
#include "lib/packets/packet.h"

namespace fuzz {

/// About whom and from whom: not always what is right.
Bytes drawnArp(Draw &draw);
Bytes drawnEcho(std::size_t maxData, Draw &draw);
/// An error about a segment of the core: `tuple` as its peer names it, `sequence` the core's.
Bytes drawnError(const Tuple &tuple, std::uint32_t sequence, Draw &draw);
/// "Port unreachable", as a router says it.
Bytes hardError(const Tuple &tuple, std::uint32_t sequence);
Bytes echoRequest(const Station &from, View data, Draw &draw);

} // namespace fuzz
