// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "endpoint.h"

#include <algorithm>

namespace fuzz {

namespace {

/// The shift of a window-scale option that stands on an even walk; 0: none.
unsigned windowScale(View options) {
  for (std::size_t at = 0; at + 1 < options.size() && options[at] != 0;) {
    if (options[at] == 3 && at + 2 < options.size()) return options[at + 2];
    at += options[at] == 1 ? 1 : std::max<std::size_t>(options[at + 1], 2);
  }
  return 0;
}

} // namespace

Pattern::Pattern(std::uint64_t seed) : bytes_(period + longest) {
  Draw draw(seed);
  for (std::size_t i = 0; i < period; ++i) bytes_[i] = draw.byte();
  for (std::size_t i = period; i < bytes_.size(); ++i) bytes_[i] = bytes_[i - period];
}

Bytes Endpoint::segment(std::uint8_t flags, std::uint32_t sequence, View payload) const {
  static constexpr std::array<std::uint8_t, 8> synOptions{2, 4, 0x05, 0xb4, 1, 3, 3, 0}; // MSS 1,460, window scale 0
  const View options = (flags & flag::syn) != 0 ? View(synOptions) : View();
  return frameOf({tuple_, sequence, (flags & flag::ack) != 0 ? expected() : 0, flags, window, options, payload}, own_,
                 core_);
}

void Endpoint::receive(View frame, Time now) {
  const Segment got = segmentOf(frame);
  if (dead_) return;
  if ((got.flags & flag::rst) != 0) {
    dead_ = true;
    return;
  }
  if ((got.flags & flag::syn) != 0) return handshake(got);
  if (!established_ && !synReceived_) return;
  established_ = true;
  takeAcknowledgment(got, now);
  takeData(got);
}

void Endpoint::handshake(const Segment &got) {
  if (established_) {
    ackDue_ = true;
    return;
  }
  tuple_.localPort = got.tuple.remotePort; // the core's, as it is the sender here
  peerInitial_ = got.sequence;
  scale_ = windowScale(got.options);
  peerWindow_ = got.window;
  if ((got.flags & flag::ack) != 0) {
    if (!synSent_ || got.acknowledgment != initial_ + 1) return;
    established_ = true;
    ackDue_ = true;
  } else {
    synReceived_ = true;
    synSent_ = false;
  }
}

void Endpoint::takeAcknowledgment(const Segment &got, Time now) {
  if ((got.flags & flag::ack) == 0) return;
  const std::uint32_t advance = got.acknowledgment - unacknowledged();
  const std::uint64_t outstanding = highest_ - acknowledged_ + (finSent_ && !finAcknowledged_);
  if (advance > outstanding) return;
  if (advance > 0) {
    finAcknowledged_ = finAcknowledged_ || (finSent_ && acknowledged_ + advance > given_);
    acknowledged_ = std::min(acknowledged_ + advance, given_);
    next_ = std::max(next_, acknowledged_);
    progress_ = now;
  }
  peerWindow_ = std::uint64_t{got.window} << scale_;
}

void Endpoint::takeData(const Segment &got) {
  const bool fin = (got.flags & flag::fin) != 0;
  if (got.payload.empty() && !fin) return;
  ackDue_ = true;
  const std::uint32_t known = expected() - got.sequence; // bytes of the segment that are there already
  if (known > got.payload.size()) return;
  const View fresh = got.payload.subspan(known);
  const View right = toPeer_.from(received_, fresh.size());
  if (!std::ranges::equal(fresh, right) && failure_.empty())
    failure_ = "the peer received a wrong byte behind position " + std::to_string(received_);
  received_ += fresh.size();
  peerFinished_ = peerFinished_ || fin;
}

void Endpoint::send(std::vector<Bytes> &frames, Time now, std::size_t size, unsigned maxSegments) {
  if (dead_) return;
  if (!established_) {
    if ((opens_ || synReceived_) && (!synSent_ || now > progress_ + timeout)) {
      frames.push_back(segment(synReceived_ ? flag::syn | flag::ack : flag::syn, initial_));
      synSent_ = true;
      progress_ = now;
    }
    return;
  }
  if ((acknowledged_ < highest_ || (finSent_ && !finAcknowledged_)) && now > progress_ + timeout) {
    next_ = acknowledged_;
    finSent_ = false;
    progress_ = now;
  }
  for (; maxSegments > 0; --maxSegments) {
    const std::uint64_t reach = acknowledged_ + std::min(inFlight, peerWindow_);
    const std::uint64_t end = std::min({given_, reach, next_ + size});
    const bool fin = finishing_ && !finSent_ && !finAcknowledged_ && std::max(end, next_) == given_;
    if (next_ >= end && !fin) break;
    const std::uint64_t length = next_ < end ? end - next_ : 0;
    if (acknowledged_ == highest_) progress_ = now;
    const auto flags = static_cast<std::uint8_t>(flag::ack | flag::psh | (fin ? flag::fin : 0));
    frames.push_back(segment(flags, sequenceAt(next_), toCore_.from(next_, length)));
    next_ += length;
    highest_ = std::max(highest_, next_);
    finSent_ = finSent_ || fin;
    ackDue_ = false;
  }
  if (ackDue_) frames.push_back(segment(flag::ack, sequenceAt(next_) + (finSent_ ? 1 : 0)));
  ackDue_ = false;
}

} // namespace fuzz
