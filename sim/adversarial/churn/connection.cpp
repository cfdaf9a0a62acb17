// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "connection.h"

#include <algorithm>
#include <utility>

#include "lib/packets/stations.h"

namespace churn {

using namespace fuzz;

Connection::Connection(Core &core, std::string description, Steps steps, const Tuple &tuple,
                       std::uint32_t initialSequence, const Pattern &toCore, const Pattern &toPeer)
    : core_(core),
      description_(std::move(description)),
      steps_(std::move(steps)),
      tuple_(tuple),
      peer_(victim, fuzz::core, tuple, initialSequence, toCore, toPeer),
      toCore_(toCore),
      toPeer_(toPeer) {}

bool Connection::progress() {
  const std::size_t before = at_;
  if (name_ != 0) read(), write();
  if (!peer_.failure().empty()) throw Failure(peer_.failure() + story());
  while (!done() && take(steps_[at_])) ++at_;
  return at_ != before;
}

bool Connection::take(const Step &step) {
  const auto argument = static_cast<std::size_t>(step.argument);
  switch (step.act) {
  case Act::connect:
    if (downbeat_sim_connect(core_.device(), tuple_.remoteIp, tuple_.remotePort, tuple_.localPort, nullptr, &name_) !=
        DOWNBEAT_OK)
      throw Failure("connect" + story());
    return true;
  case Act::peerConnect: return peer_.connect(), connects_ = true;
  case Act::deaf: return deaf_ = true;
  case Act::mute: return mute_ = true;
  case Act::hold: return holds_ = true;
  case Act::hear:
    deaf_ = mute_ = holds_ = false;
    for (const Bytes &frame : std::exchange(held_, {})) peer_.receive(frame, core_.now());
    return true;
  case Act::shutdown: return sent_ == toSend_ && downbeat_sim_shutdown(core_.device(), name_) == DOWNBEAT_OK;
  case Act::close:
    if (sent_ < toSend_) return false;
    return downbeat_sim_close(core_.device(), std::exchange(name_, 0)), true;
  case Act::abort: return downbeat_sim_abort(core_.device(), std::exchange(name_, 0)), true;
  case Act::finish: return peer_.finish(), true;
  case Act::peerReset:
    forged_.push_back(
        frameOf({peer_.tuple(), expected_, next_, flag::rst | flag::ack, 0, {}, {}}, peer_.station(), fuzz::core));
    return mute_ = deaf_ = true;
  case Act::unread: reads_ = false; [[fallthrough]];
  case Act::peerData: return peer_.offer(argument), offered_ += argument, true;
  case Act::send: return toSend_ += argument, write(), true;
  case Act::heard: return heard_;
  case Act::established:
    if (name_ != 0 && info().error != 0)
      throw Failure(std::string("not opened: ") + downbeat_error_text(info().error) + story());
    return established_ = peer_.established() && name_ != 0 && info().state == DOWNBEAT_ESTABLISHED;
  case Act::delivered: return delivered();
  case Act::reach:
    if (info().error != 0) throw Failure(std::string("ended early: ") + downbeat_error_text(info().error) + story());
    return info().state == static_cast<downbeat_state>(step.argument);
  case Act::ended:
    if (info().state != DOWNBEAT_CLOSED) return false;
    if (info().error != step.argument)
      throw Failure(std::string("ended as: ") + downbeat_error_text(info().error) + story());
    return true;
  case Act::finHeard: return peer_.peerFinished();
  case Act::settled:
    if (peer_.dead()) throw Failure("reset by the core" + story());
    return peer_.settled() && peer_.peerFinished() && delivered();
  case Act::resetSeen: return resetSeen_;
  }
  return false;
}

/// Data that the application does not read, or can no longer read, need only have come to the core. A live application
/// also knows that all was acknowledged.
bool Connection::delivered() const {
  const bool arrived = peer_.acknowledged() == offered_ && peer_.received() == toSend_;
  if (name_ != 0 && info().unacknowledged > 0 && info().state != DOWNBEAT_CLOSED) return false;
  return arrived && (!reads_ || name_ == 0 || received_ == offered_);
}

void Connection::read() {
  if (!reads_) return;
  Bytes buffer(4096);
  for (std::int64_t length; (length = downbeat_sim_receive(core_.device(), name_, buffer.data(), buffer.size())) > 0;) {
    const auto count = static_cast<std::size_t>(length);
    if (!std::ranges::equal(View(buffer).first(count), toCore_.from(received_, count)))
      throw Failure("the application received a wrong byte behind position " + std::to_string(received_) + story());
    received_ += count;
  }
}

void Connection::write() {
  while (sent_ < toSend_) {
    const View data = toPeer_.from(sent_, toSend_ - sent_);
    const std::int64_t taken = downbeat_sim_send(core_.device(), name_, data.data(), data.size());
    if (taken <= 0) return;
    sent_ += static_cast<std::uint64_t>(taken);
  }
}

downbeat_sim_info Connection::info() const {
  downbeat_sim_info info{};
  downbeat_sim_connection_info(core_.device(), name_, &info);
  return info;
}

void Connection::send(std::vector<Bytes> &frames, std::size_t segment, unsigned limit) {
  frames.insert(frames.end(), forged_.begin(), forged_.end());
  forged_.clear();
  if (!mute_) peer_.send(frames, core_.now(), segment, limit);
}

void Connection::receive(const Bytes &frame) {
  const Segment got = segmentOf(frame);
  const bool numbered = (got.flags & (flag::syn | flag::fin)) != 0;
  const std::uint32_t end = got.sequence + static_cast<std::uint32_t>(got.payload.size()) + numbered;
  // An ACK may overtake data, and what is sent again is old.
  const auto raise = [](std::uint32_t &number, std::uint32_t heard, bool first) {
    if (first || static_cast<std::int32_t>(heard - number) > 0) number = heard;
  };
  raise(next_, end, !heard_);
  if ((got.flags & flag::ack) != 0) raise(expected_, got.acknowledgment, !std::exchange(numbered_, true));
  if ((got.flags & flag::rst) != 0) resetSeen_ = true;
  heard_ = true;
  if (holds_)
    held_.push_back(frame);
  else if (!deaf_ || done())
    peer_.receive(frame, core_.now());
}

bool Connection::waiting() const {
  if (!forged_.empty()) return true;
  const bool opening = connects_ && !peer_.established();
  return !mute_ && !peer_.dead() && (opening || (peer_.established() && !peer_.settled()));
}

bool Connection::owns(const Tuple &tuple) const {
  const Tuple &own = peer_.tuple();
  return own.remotePort == tuple.remotePort && own.remoteIp == tuple.remoteIp &&
         (own.localPort == 0 || own.localPort == tuple.localPort);
}

std::string Connection::story() const {
  return "; connection '" + description_ + "' at step " + std::to_string(at_) + " of " + std::to_string(steps_.size()) +
         ", remote port " + std::to_string(tuple_.remotePort) +
         (name_ != 0 ? std::string(", state ") + downbeat_sim_state_text(info().state) : "");
}

} // namespace churn
