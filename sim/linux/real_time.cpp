// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "real_time.h"

#include <algorithm>
#include <stdexcept>

namespace {

constexpr std::uint64_t second = 1'000'000'000; // ns

/// Bytes on the wire of a frame without FCS: preamble, FCS and gap are 24 bytes (IEEE 802.3).
constexpr downbeat_time timeOnWire(std::size_t length) {
  return DOWNBEAT_NANOSECONDS((std::max<std::size_t>(length, 60) + 24) * 8 * second / RealTime::linkRate);
}

} // namespace

RealTime::RealTime(downbeat_device *device, Tap &tap, Application &application, const Options &options)
    : toCore(options, 0),
      fromCore(options, 1),
      device_(device),
      tap_(tap),
      application_(application),
      limit_(DOWNBEAT_NANOSECONDS(options.wallLimit * second)) {
  if (!options.pcap.empty()) openCapture(options.pcap);
}

void RealTime::openCapture(const std::string &path) {
  capture_.emplace(path, "Downbeat, make interop",
                   "Times are nanoseconds since the start of the program: the instant of the frame's SFD "
                   "(start-of-frame delimiter) at the "
                   "core's MAC, on a modelled gigabit link. No frame has its FCS. Frames that the run loses on their "
                   "way to the core are not "
                   "here; those that it loses on their way from the core are.");
  captured_ =
      capture_->interface(Pcapng::Link::ethernet, "core", "wire between the core and the TAP interface", linkRate);
  if (!*capture_) throw std::runtime_error("--pcap=" + path + ": cannot be written");
}

void RealTime::capture(Pcapng::Direction direction, downbeat_time sfd, std::span<const std::uint8_t> frame) {
  if (capture_) capture_->packet(captured_, direction, sfd >> 16, frame);
}

void RealTime::run(const volatile std::sig_atomic_t &stop) {
  downbeat_time end = DOWNBEAT_NEVER;
  while (downbeat_sim_now(device_) < end) {
    const int frames = receiveFrames();
    const downbeat_time now = clock_.now();
    const downbeat_time due = std::min(now, std::max(downbeat_sim_next_deadline(device_), downbeat_sim_now(device_)));
    downbeat_sim_advance_to(device_, std::min(now, due + slice));
    application_.step();
    sendFrames();
    while (downbeat_sim_get_bypass(device_, frame_.data(), frame_.size()) > 0) {} // nobody else lives here
    if (application_.finished() && end == DOWNBEAT_NEVER)
      end = downbeat_sim_now(device_) + lastWords + fromCore.delay();
    if (!application_.failure().empty())
      failure_ = application_.failure();
    else if (stop)
      failure_ = "ended by a signal";
    else if (now > limit_ && end == DOWNBEAT_NEVER)
      failure_ = "not done within " + std::to_string(limit_ / DOWNBEAT_NANOSECONDS(second)) + " s";
    if (!failure_.empty()) return;
    worstLag = std::max(worstLag, now - due);
    if (now - due <= slice && frames < framesAtOnce) pause();
  }
}

void RealTime::toDevice(std::span<const std::uint8_t> frame) {
  const downbeat_time arrival = std::max(clock_.now(), wireFree_);
  wireFree_ = arrival + timeOnWire(frame.size());
  capture(Pcapng::Direction::in, arrival, frame);
  downbeat_sim_put_frame(device_, frame.data(), frame.size(), arrival);
}

int RealTime::receiveFrames() {
  const auto forward = [this](std::span<const std::uint8_t> frame) { toDevice(frame); };
  toCore.release(clock_.now(), forward);
  int count = 0;
  for (std::size_t length; count < framesAtOnce && (length = tap_.read(frame_)) > 0; ++count)
    toCore.enter(clock_.now(), {frame_.data(), length}, forward);
  return count;
}

void RealTime::sendFrames() {
  const auto forward = [this](std::span<const std::uint8_t> frame) { tap_.write(frame); };
  fromCore.release(clock_.now(), forward);
  downbeat_time departure; // has passed: the device is not ahead of the clock
  for (std::int64_t length; (length = downbeat_sim_get_frame(device_, frame_.data(), frame_.size(), &departure)) > 0;) {
    const std::span frame(frame_.data(), static_cast<std::size_t>(length));
    capture(Pcapng::Direction::out, departure, frame);
    fromCore.enter(departure, frame, forward); // however late the device is
  }
  if (capture_) capture_->settle(downbeat_sim_now(device_) >> 16);
}

void RealTime::pause() {
  const downbeat_time now = clock_.now();
  const std::array descriptors{tap_.descriptor()};
  waitForFrame(descriptors, now,
               std::min({downbeat_sim_next_deadline(device_), now + longestWait, toCore.next(), fromCore.next()}));
}
