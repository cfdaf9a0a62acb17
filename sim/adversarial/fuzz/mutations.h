// SPDX-License-Identifier: BSD-2-Clause-Patent
// Mutations of a frame.
#pragma once

#include <span>

#include "lib/packets/draw.h"
#include "lib/packets/packet.h"

namespace fuzz {

/// Changes a frame in one way, checksums left as they are; it leaves a byte at least.
struct Mutation {
  const char *name;
  void (*apply)(Bytes &frame, Draw &draw);
  unsigned weight;
};

std::span<const Mutation> mutations();

} // namespace fuzz
