// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "stack.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <arpa/inet.h>
#include <unistd.h>

namespace {

constexpr std::array<std::uint8_t, 6> ours{2, 0, 0, 0, 0, 1}, theirs{2, 0, 0, 0, 0, 2};
constexpr std::size_t ethernet = 14, ipHeader = 20, shortest = 60; // bytes
constexpr downbeat_time settled = 10 * microsecond; // longer than the core takes from a frame to its response
constexpr downbeat_time packetTimeout = DOWNBEAT_NANOSECONDS(300'000'000'000);
constexpr std::chrono::milliseconds looksAtTheClock(200);                   // real time, at most
constexpr long long begun = 1'000'000; // us, of the time that packetdrill sees

} // namespace

/// Flags: `ip=192.168.0.1,seed=3`, both optional.
Stack::Stack(const char *flags) {
  const std::string given = flags != nullptr ? flags : "";
  if (const auto at = given.find("ip="); at != std::string::npos)
    inet_pton(AF_INET, given.substr(at + 3, given.find(',', at) - at - 3).c_str(), &ip_), ip_ = ntohl(ip_);
  if (const auto at = given.find("seed="); at != std::string::npos)
    secret_ = std::strtoull(&given[at + 5], nullptr, 10);
}

Stack::~Stack() {
  for (const auto &[fd, socket] : sockets_) ::close(fd);
  if (device_ != nullptr) downbeat_sim_destroy(device_);
}

Socket *Stack::find(int fd) {
  const auto found = sockets_.find(fd);
  return found == sockets_.end() ? nullptr : &found->second;
}

bool Stack::owns(int fd) {
  const Lock lock(mutex_);
  return find(fd) != nullptr;
}

/// It has an address when the first call or packet has named one.
downbeat_device *Stack::device() {
  if (device_ != nullptr) return device_;
  downbeat_sim_options options{};
  std::ranges::copy(ours, options.mac);
  options.ip = ip_ != 0 ? ip_ : 0xc0a80001;
  options.secret = secret_;
  int error = 0;
  device_ = downbeat_sim_create(&options, &error);
  if (device_ == nullptr) {
    std::fprintf(stderr, "downbeat: %s\n", downbeat_error_text(error));
    std::exit(1);
  }
  downbeat_sim_set_event_callback(
      device_, [](void *self, const downbeat_event *event) { static_cast<Stack *>(self)->see(*event); }, this);
  return device_;
}

void Stack::neighbour(std::uint32_t ip) {
  if (std::ranges::find(neighbours_, ip) != neighbours_.end()) return;
  neighbours_.push_back(ip);
  downbeat_sim_add_neighbour(device(), ip, theirs.data());
}

void Stack::advance(Lock &lock, downbeat_time until) {
  while (downbeat_sim_now(device()) < until) {
    const downbeat_time now = downbeat_sim_now(device());
    downbeat_time next = std::min(until, std::max(downbeat_sim_next_deadline(device()), now + microsecond));
    for (const Waiting &call : waiting_) next = std::min(next, std::max(call.limit, now + 1));
    downbeat_sim_advance_to(device(), next);
    letReturn(lock);
  }
}

/// A call that can go on does so at this instant, and its thread looks at the clock before time goes by.
void Stack::letReturn(Lock &lock) {
  const auto can = [](const Waiting &call) { return call.ready(); };
  while (std::ranges::any_of(waiting_, can)) {
    changed_.notify_all();
    returned_.wait_for(lock, looksAtTheClock, [&] { return std::ranges::none_of(waiting_, can); });
  }
  returned_.wait_for(lock, looksAtTheClock, [&] { return returning_ == std::thread::id(); });
}

bool Stack::await(Lock &lock, const std::function<bool()> &ready, downbeat_time limit) {
  const std::function<bool()> over = [&] { return ready() || downbeat_sim_now(device()) >= limit; };
  const auto place = waiting_.insert(waiting_.end(), Waiting{over, limit});
  changed_.wait(lock, over);
  waiting_.erase(place);
  returning_ = std::this_thread::get_id();
  returned_.notify_all();
  return ready();
}

downbeat_time Stack::after(downbeat_time now, int milliseconds) {
  return milliseconds < 0 ? DOWNBEAT_NEVER : now + static_cast<unsigned>(milliseconds) * 1000 * microsecond;
}

Stack::Result Stack::put(std::span<const std::uint8_t> packet) {
  Lock lock(mutex_);
  if (packet.size() < ipHeader || packet[0] >> 4 != 4) return -EAFNOSUPPORT;
  std::uint32_t addresses[2];
  std::memcpy(addresses, &packet[12], sizeof addresses);
  if (ip_ == 0) ip_ = ntohl(addresses[1]);
  neighbour(ntohl(addresses[0]));
  std::vector<std::uint8_t> frame;
  frame.insert(frame.end(), ours.begin(), ours.end());
  frame.insert(frame.end(), theirs.begin(), theirs.end());
  frame.insert(frame.end(), {8, 0});
  frame.insert(frame.end(), packet.begin(), packet.end());
  frame.resize(std::max(frame.size(), shortest));
  const downbeat_time arrival = downbeat_sim_now(device()) + 1;
  downbeat_sim_put_frame(device(), frame.data(), frame.size(), arrival);
  advance(lock, arrival + settled);
  return 0;
}

std::size_t Stack::get(std::span<std::uint8_t> packet, long long &microseconds) {
  Lock lock(mutex_);
  letReturn(lock);
  const downbeat_time limit = downbeat_sim_now(device()) + packetTimeout;
  std::array<std::uint8_t, 2048> frame;
  for (;;) {
    downbeat_time departure = 0;
    const std::int64_t length = downbeat_sim_get_frame(device(), frame.data(), frame.size(), &departure);
    if (length > static_cast<std::int64_t>(ethernet) && frame[12] == 8 && frame[13] == 0) {
      const std::size_t whole = static_cast<std::size_t>(frame[16] << 8 | frame[17]);
      const std::size_t count = std::min(whole, packet.size());
      std::copy_n(&frame[ethernet], count, packet.begin());
      microseconds = begun + static_cast<long long>(departure / microsecond);
      return count;
    }
    if (length > 0) continue; // ARP
    const downbeat_time now = downbeat_sim_now(device());
    if (now >= limit) return 0;
    advance(lock, std::clamp(downbeat_sim_next_deadline(device()), now + microsecond, limit));
  }
}

void Stack::sleep(std::uint64_t microseconds) {
  Lock lock(mutex_);
  advance(lock, downbeat_sim_now(device()) + microseconds * microsecond);
}

timeval Stack::time() {
  Lock lock(mutex_);
  if (returning_ == std::this_thread::get_id()) {
    returning_ = {};
    returned_.notify_all();
  }
  advance(lock, downbeat_sim_now(device()) + microsecond);
  const long long now = begun + static_cast<long long>(downbeat_sim_now(device()) / microsecond);
  return {static_cast<time_t>(now / 1'000'000), static_cast<suseconds_t>(now % 1'000'000)};
}
