// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Verilated core behind BSD sockets, in virtual time. packetdrill calls from two threads: one that sends, receives
// and waits, in whose calls time goes by, and one whose calls may block meanwhile.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <linux/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "device/downbeat_sim_core.h"

constexpr downbeat_time microsecond = DOWNBEAT_NANOSECONDS(1000);

/// A socket's descriptor is a real one, of /dev/null: packetdrill hands it to calls of the kernel.
struct Socket {
  int type = 0;
  std::uint16_t port = 0; // bound
  bool blocks = true, listens = false, abortive = false;
  downbeat_parameters parameters{};
  std::string steady;
  downbeat_sim_connection connection = -1;
  std::uint64_t delivered = 0; // bytes read
  std::deque<std::uint8_t> peeked; // taken from the device and not read
  bool readingEnds = false; // behind what has come
  int error = 0; // errno of SO_ERROR, once
  std::deque<downbeat_sim_connection> waiting; // to be accepted
};

class Stack {
public:
  /// A result, or -errno.
  using Result = std::int64_t;

  explicit Stack(const char *flags);
  ~Stack();
  Stack(const Stack &) = delete;

  Result socket(int domain, int type);
  Result bind(int fd, const sockaddr *address);
  Result listen(int fd);
  Result accept(int fd, sockaddr *address, socklen_t *length);
  Result connect(int fd, const sockaddr *address);
  Result receive(int fd, std::span<const iovec> places, int flags);
  Result send(int fd, std::span<const iovec> pieces, int flags);
  Result close(int fd);
  Result shutdown(int fd, int how);
  Result flags(int fd, std::optional<int> set);
  Result queued(int fd, unsigned long request, int &bytes);
  Result getOption(int fd, int level, int name, void *value, socklen_t *length);
  Result setOption(int fd, int level, int name, const void *value, socklen_t length);
  Result poll(std::span<pollfd> fds, int timeout);
  Result epollCreate();
  Result epollControl(int epoll, int operation, int fd, const epoll_event *event);
  Result epollWait(int epoll, std::span<epoll_event> events, int timeout);

  /// An IPv4 packet arrives; another one is refused.
  Result put(std::span<const std::uint8_t> packet);
  /// Bytes of the next IP packet that leaves, 0 after 300 s of virtual time without one.
  std::size_t get(std::span<std::uint8_t> packet, long long &microseconds);
  void sleep(std::uint64_t microseconds);
  /// A microsecond later than the call before: who waits by looking at the clock gets on.
  timeval time();

  bool owns(int fd);

private:
  using Lock = std::unique_lock<std::mutex>;
  struct Window {
    std::uint64_t cwnd = 0, ssthresh = 0, rtt = 0; // bytes with 16 fraction bits, ns
    std::uint32_t segment = 0, flight = 0, retransmitted = 0;
  };

  Socket *find(int fd);
  downbeat_device *device();
  void neighbour(std::uint32_t ip);
  /// Runs the core, and lets calls go on that waited for what has happened.
  void advance(Lock &lock, downbeat_time until);
  void letReturn(Lock &lock);
  /// Waits until `ready`, at most until that time; false: not ready then.
  bool await(Lock &lock, const std::function<bool()> &ready, downbeat_time limit = DOWNBEAT_NEVER);
  int adopt(downbeat_sim_connection connection);
  downbeat_sim_info info(const Socket &socket);
  short ready(int fd);
  Result take(Socket &socket, std::size_t offset, const iovec &place);
  bool ended(Socket &socket, Result &result);
  void information(const Socket &socket, tcp_info &tcp);
  void see(const downbeat_event &event);
  static int errnoOf(int error);
  template <typename Value> static Result give(void *place, socklen_t *length, const Value &value) {
    *length = std::min<socklen_t>(*length, sizeof value);
    std::memcpy(place, &value, *length);
    return 0;
  }
  static downbeat_time after(downbeat_time now, int milliseconds);

  std::mutex mutex_;
  std::condition_variable changed_, returned_;
  std::thread::id returning_; // from a call that waited, and has not looked at the clock since
  struct Waiting {
    const std::function<bool()> &ready;
    downbeat_time limit;
  };
  std::list<Waiting> waiting_;
  std::uint32_t ip_ = 0;
  std::uint64_t secret_ = 1;
  downbeat_device *device_ = nullptr;
  std::vector<std::uint32_t> neighbours_;
  std::map<int, Socket> sockets_;
  std::map<int, std::map<int, epoll_event>> epolls_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Window> windows_; // by flow and generation
};
