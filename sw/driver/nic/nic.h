// SPDX-License-Identifier: BSD-2-Clause-Patent
// A simulated NIC in real time: the device, its wire, its ports and the programs that have them.
//
// The device's time is CLOCK_MONOTONIC since the start. The core simulates some hundred times slower than it would run,
// so a burst puts the device behind the clock; it catches up in the idle time after it, which costs nothing. The
// model's time wraps after 78 hours, ours does not.
#pragma once

#include <array>
#include <csignal>
#include <list>
#include <set>
#include <vector>

#include <poll.h>

#include "client.h"
#include "model.h"
#include "setup.h"
#include "wire.h"

namespace downbeat::nic {

struct Options {
  std::string socket = "/run/downbeat/nic.sock";
  std::string preset = "nic";
  /// The wire, by one of three.
  std::string tap, interface;
  std::uint32_t loop = 0; // the address by which the NIC reaches itself; 0: it has an interface
  Addresses addresses{0x0a000001, 0xffffff00, 0, 0x020000000001};
  unsigned mode = 0600; // of the socket
  std::uint64_t delay = 0; // ns that each frame takes to the core
};

class Nic {
public:
  explicit Nic(const Options &options);
  ~Nic();
  /// A line about what programs get.
  std::string description() const;
  void run(const volatile std::sig_atomic_t &stop);

private:
  static constexpr std::uint64_t linkRate = 1'000'000'000; // b/s

  /// ns since the start.
  std::uint64_t clock() const;
  /// By how much the clock is ahead of the model, and how long nothing happens in the model; 2^-16 ns.
  std::uint64_t behind() const;
  std::uint64_t idle() const;
  /// The rate of the wire in real time, b/s, measured with some frames.
  double measuredRate();
  /// The wire and time.
  bool receiveFrames();
  void sendFrames();
  void advance();
  void wait();
  /// Programs; clients.cpp.
  void accept();
  void welcome(const std::vector<pollfd> &polled);
  void programs(std::vector<pollfd>::const_iterator polled);
  void respond(File socket);
  void give(File socket, Welcome &welcome);
  bool doorbells(Client &client);
  void interrupts();
  void leave(Client &client);
  /// Lets the core do a port's commands up to `tail`: one that stops leaves those it has not fetched.
  void finish(std::uint32_t port, std::uint32_t tail);
  /// Takes a dead program's port back: aborts what it has open, ends its listeners.
  void reap(std::uint32_t port, const std::set<std::uint16_t> &listeners);
  /// Its report; report.cpp.
  void startListing(File socket);
  /// Some of a listing's rows, as far as they are taken at once; false: it ends.
  bool tellRows(Listing &listing);
  void tellDevice(const File &socket);

  Options options_;
  Model model_;
  Geometry geometry_;
  File memoryFile_;
  Mapping memory_;
  Wire wire_;
  File listening_;
  std::list<File> strangers_; // they have not said hello yet
  std::list<Client> clients_;
  std::list<Listing> listings_;
  std::set<std::uint32_t> freePorts_;
  std::uint64_t start_;
  std::uint64_t wireFree_ = 0; // towards the core: the end of its last frame, ns
  std::array<std::uint8_t, 9018> frame_{};
  bool busy_ = false;
  double rate_ = 0;
};

} // namespace downbeat::nic
