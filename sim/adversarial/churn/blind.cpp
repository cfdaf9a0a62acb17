// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "blind.h"

#include <sstream>
#include <utility>

#include "lib/packets/stations.h"

namespace churn {

using namespace fuzz;

namespace {

constexpr downbeat_time roundTrip = DOWNBEAT_NANOSECONDS(100'000);
constexpr unsigned perSlice = 16;

} // namespace

Blind::Blind(std::uint64_t seed)
    : seed_(seed), draw_(seed), toCore_(seed ^ 1), toPeer_(seed ^ 2), live_(seed, roundTrip, toCore_, toPeer_) {}

void Blind::run(std::uint64_t frames) {
  live_.open();
  while (frames_ < frames) {
    std::vector<Bytes> guesses;
    for (; guesses.size() < perSlice && frames_ < frames; ++frames_) guesses.push_back(guess());
    live_.sends = draw_.chance(10);
    if (live_.peer().settled()) live_.peer().offer(draw_.between(1, 1460));
    live_.step(guesses);
  }
  live_.end();
}

/// Half of the numbers lie in or at the window, the others anywhere. What would hurt by right is left out: a RST at
/// RCV.NXT exactly (RFC 5961 3.2), and data in the window with an acknowledgment that the core may believe (5.2).
Bytes Blind::guess() {
  const Endpoint &peer = live_.peer();
  const std::uint32_t oldest = peer.unacknowledged(), window = DOWNBEAT_RECEIVE_BUFFER_BYTES;
  const bool near = draw_.chance(50), own = draw_.chance(80);
  Tuple tuple = peer.tuple();
  if (!own) (draw_.chance(50) ? tuple.remotePort : tuple.localPort) = draw_.half() | 1;
  std::uint32_t sequence = near ? oldest - 2000 + static_cast<std::uint32_t>(draw_.below(window + 4000)) : draw_.word();
  std::uint32_t acknowledgment =
      draw_.chance(50) ? peer.expected() - static_cast<std::uint32_t>(draw_.below(1 << 20)) : draw_.word();
  const std::size_t length = draw_.between(1, 200);
  const unsigned kind = static_cast<unsigned>(draw_.below(4));
  // Numbers that RCV.NXT may have when the segment arrives, a FIN's included.
  const auto current = [&](std::uint32_t number) { return number - oldest <= peer.highest() + 2 * 1460 - oldest; };
  inWindow_ += sequence - oldest < window;
  if (kind == 0) {
    ++sent_["RST"];
    while (own && current(sequence)) sequence += 5000, ++exact_;
    const auto flags = static_cast<std::uint8_t>(flag::rst | (draw_.chance(50) ? flag::ack : 0));
    return frameOf({tuple, sequence, acknowledgment, flags, 0, {}, {}}, livePeer, fuzz::core);
  }
  if (kind == 1) {
    ++sent_["SYN"];
    const auto flags = static_cast<std::uint8_t>(flag::syn | (draw_.chance(50) ? flag::ack : 0));
    return frameOf({tuple, sequence, acknowledgment, flags, draw_.half(), {}, {}}, livePeer, fuzz::core);
  }
  ++sent_["data"];
  // SND.NXT is at most the window of the peer beyond what it has; older than MAX.SND.WND is not believed (RFC
  // 5961 5.2).
  const std::uint32_t believed = peer.expected() - 3 * 65536;
  const bool touches = sequence + static_cast<std::uint32_t>(length) + 1 - (oldest - 2000) < window + 8000;
  while (own && touches && acknowledgment - believed < 6 * 65536) acknowledgment += 1 << 24, ++exact_;
  const auto flags =
      static_cast<std::uint8_t>(flag::ack | (draw_.chance(50) ? flag::psh : 0) | (draw_.chance(20) ? flag::fin : 0));
  const Bytes bytes(length, 0x55);
  return frameOf({tuple, sequence, acknowledgment, flags, draw_.half(), {}, View(bytes)}, livePeer, fuzz::core);
}

std::string Blind::report() const {
  std::ostringstream text;
  text << "\"seed\": " << seed_ << ", \"frames\": " << frames_ << ", \"in_window\": " << inWindow_
       << ", \"moved_off\": " << exact_ << ", \"bytes\": " << live_.bytesToCore() + live_.received();
  for (const auto &[kind, count] : sent_) text << ", \"" << kind << "\": " << count;
  text << ", " << live_.core().report();
  return text.str();
}

} // namespace churn
