// SPDX-License-Identifier: BSD-2-Clause-Patent
// Steps of a connection: ways to open one, ways to end it, and ways never to open it.
#pragma once

#include <string>
#include <vector>

namespace churn {

enum class Act {
  /// Done at once.
  connect,     // the application opens
  peerConnect, // the peer opens
  deaf,        // the peer hears nothing
  hold,        // frames to the peer wait until `hear`
  mute,        // the peer sends nothing
  hear,        // none of this any more
  shutdown,
  close,
  abort,
  finish,      // the peer's FIN
  peerReset,   // a RST with the right numbers
  peerData,    // the peer sends so many bytes
  unread,      // the same, and the application reads no more
  send,        // the application sends so many bytes
  /// Waits.
  heard,       // the core has said anything
  established, // both ends
  delivered,   // all that was sent has arrived, both ways
  reach,       // the application knows of this downbeat_state
  ended,       // CLOSED, with this downbeat_error
  finHeard,    // the peer has the application's FIN
  settled,     // both FINs and all bytes have arrived at the peer, and the peer's are acknowledged
  resetSeen    // the core has sent a RST
};

struct Step {
  Act act;
  int argument = 0;
};
using Steps = std::vector<Step>;

struct Script {
  std::string name;
  Steps steps;
};

/// From nothing to ESTABLISHED.
const std::vector<Script> &openings();
/// From ESTABLISHED to nothing.
const std::vector<Script> &endings();
/// From nothing to nothing: never ESTABLISHED. Its flow may stay in its handshake until it times out.
const std::vector<Script> &failedOpenings();

} // namespace churn
