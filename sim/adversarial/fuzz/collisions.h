// SPDX-License-Identifier: BSD-2-Clause-Patent
// 4-tuples that share both their buckets of the core's flow table (docs/reference/flow.md), for a test that knows the
// core's secret: HalfSipHash-1-3 of the remote address and both ports, under a key that SipHash-2-4 derives from the
// secret.
#pragma once

#include "lib/packets/packet.h"

namespace fuzz {

/// `count` of them, to one local port, in a table of `buckets` buckets for each choice.
std::vector<Tuple> collisions(std::uint64_t secret, std::uint16_t localPort, std::size_t count, std::uint32_t buckets);

} // namespace fuzz
