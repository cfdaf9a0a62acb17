// SPDX-License-Identifier: BSD-2-Clause-Patent
// The supervisor: the process that has the device for a program and its children, decides their stopped calls, and
// moves bytes between the core's rings and the local leg.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/socket.h>

#include "bridge.h"
#include "call.h"
#include "leg.h"

namespace downbeat {

using Clock = std::chrono::steady_clock;

class Supervisor {
public:
  /// `calls`: the filter's; `front`: Reports go there; `children`: a signalfd of SIGCHLD.
  Supervisor(downbeat_device *device, Leg leg, File calls, File front, File children, pid_t program,
             const downbeat_options &options);
  /// Lasts until the program and all that it began have ended, and nothing is left to send.
  void run();

private:
  /// Names of events, in the high half; the low half is a serial or a number.
  enum Source : std::uint64_t {
    ofBridge = 0,
    ofDevice = 1ull << 32,
    ofCalls = 2ull << 32,
    ofFront = 3ull << 32,
    ofChildren = 4ull << 32,
    ofAccepting = 5ull << 32,
  };
  /// A program's socket that the core serves or has served, while a process has it open.
  struct Socket {
    std::uint32_t serial = 0; // its bridge
    Endpoint remote;
    std::shared_ptr<const Presence> presence;
    std::uint64_t inode = 0;
    pid_t thread = 0; // that connected or accepted
    int error = 0; // why it ended, until the program knows
    std::uint64_t rate = ~0ull; // bytes a second, of SO_MAX_PACING_RATE
    bool accepted = false;
  };
  /// Names that TCP_CONGESTION has given a socket, of the device's own list; null: as usual.
  struct Policies {
    const char *startup = nullptr, *steady = nullptr;
    std::string text; // as it was given
    std::shared_ptr<const Presence> presence;
  };
  /// A connection that the core opens.
  struct Opening {
    std::uint64_t cookie = 0;
    Endpoint local; // the kernel's name of the program's socket
    bool started = false; // the program knows
    int unfinished = 0; // the newest call's error, if it does not wait until the end
    std::optional<Call> call; // that waits for it
    File socket; // meanwhile: as the kernel's own call it keeps the socket open
    Clock::time_point until = Clock::time_point::max();

    void leave() {
      call.reset();
      socket.reset();
    }
  };
  /// A connection of the core that no process has accepted, by the port of the supervisor's end.
  struct Arrived {
    std::uint32_t serial = 0;
    Endpoint remote;
    std::uint16_t listener = 0;
  };
  struct Listener {
    downbeat_listener *listener = nullptr;
    std::optional<Call> call; // that waits until the core listens
    std::vector<std::pair<File, SocketAddress>> returned; // accepted for calls that had gone
    std::map<std::uint64_t, Presence> sockets; // by SO_COOKIE; with SO_REUSEPORT there may be several
  };
  /// A connect to the device's own address that waits for space in its listener's queue.
  struct OwnOpening {
    Call call;
    File socket;
    std::uint16_t port;
    Clock::time_point until;
  };
  struct Accepting {
    Call call;
    File listener;
    Clock::time_point until;
  };

  void watch(int descriptor, std::uint64_t name, std::uint32_t events);
  void decide();
  void handle(std::uint64_t name, std::uint32_t events);
  void events();
  /// The core has responded to the trial.
  void tried();
  void deviceGone();
  void step(std::uint32_t serial, std::uint32_t events = 0);
  Bridge &add(downbeat_connection *connection);
  void tidy();
  /// A call whose thread has left it keeps no socket open.
  void tidyCalls();
  /// Ends those that no process has open any more.
  void tidyListeners();
  void reap();
  bool done() const;

  void connect(const Call &call);
  /// A connect to no address: the socket is as if it were new.
  void unconnect(const Call &call);
  void wait(Opening &opening, const Call &call, const File &socket);
  /// Whether the core takes connections to its own address: one without a way back to itself does not.
  bool coreReachesItself();
  /// The program's own listeners are then reached over the local leg alone.
  void connectToOwn(const Call &call, const File &socket, std::uint16_t port);
  /// False: it goes on waiting.
  bool connectsToOwn(const OwnOpening &opening);
  /// Whether the core has opened it; else it may have ended, and gone.
  bool opened(Bridge &bridge);
  void finish(Opening &opening, int error);
  downbeat_options optionsOf(const File &socket) const;
  void timeOut(Bridge &bridge);

  void bind(const Call &call);
  void listen(const Call &call);
  void listening(std::uint16_t port);
  /// The socket listens no more, and may be open.
  void endListening(const File &socket);
  void arrive(std::uint16_t port);
  void accept(const Call &call);
  /// False: none waits.
  bool acceptOne(const Call &call, const File &listener);
  void hand(const Call &call, File accepted, const SocketAddress &address, int flags, std::uint16_t port);
  void accepting(std::uint32_t number);

  void localName(const Call &call);
  void remoteName(const Call &call);
  void getOption(const Call &call);
  void queue(const Call &call);
  void shutdown(const Call &call);

  /// "STEADY", "STARTUP" or "STARTUP+STEADY".
  std::optional<Policies> policiesOf(const std::string &text) const;
  void choose(downbeat_parameters &parameters, const Policies &policies) const;
  void applyControls(const File &socket, downbeat_options &options) const;
  /// The core paces in place of the kernel, and the other way.
  static void takePace(const File &socket, Socket &known);
  static void givePace(const File &socket, const Socket &known);
  void control(const Call &call);
  /// `bridge`: of a connection.
  void setCongestion(const Call &call, const File &socket, Bridge *bridge);
  void setNoDelay(const Call &call, Bridge &bridge);
  static void setTime(const Call &call, const File &socket, Bridge &bridge);
  static void setLinger(const Call &call, const File &socket, Bridge &bridge);
  /// As the socket's SO_LINGER is, or is to be.
  static void takeLinger(const File &socket, Bridge &bridge, const linger &option);
  void giveCongestion(const Call &call, const File &socket);
  void givePacingRate(const Call &call, const File &socket);
  void giveInformation(const Call &call, const File &socket);

  bool isOnLeg(int socket) const;
  Socket *find(const File &socket);
  Socket &remember(const File &socket, Bridge &bridge, Endpoint remote, const Call &call);
  bool reaches(std::uint32_t ip) const { return ((ip ^ info_.ip) & info_.netmask) == 0; }

  downbeat_device *device_;
  Leg leg_;
  File calls_, front_, children_, epoll_;
  pid_t program_;
  downbeat_options options_;
  downbeat_device_info info_{};
  std::uint32_t serial_ = 0;
  std::map<std::uint32_t, std::unique_ptr<Bridge>> bridges_; // by serial
  std::map<std::uint64_t, Socket> sockets_; // by SO_COOKIE
  std::map<std::uint64_t, Policies> policies_; // by SO_COOKIE
  std::map<std::uint32_t, Opening> opening_; // by serial
  std::map<std::uint16_t, Arrived> arrived_;
  std::map<std::uint16_t, std::unique_ptr<Listener>> listeners_; // by port
  std::map<std::uint32_t, Accepting> accepting_;
  std::vector<OwnOpening> ownOpening_;
  std::set<std::uint16_t> ownPorts_; // from which own listeners have connections to accept
  downbeat_connection *trial_ = nullptr; // to the core's own address, until it has responded
  bool reachesItself_ = true;
  std::vector<std::pair<Clock::time_point, File>> silent_; // ends whose programs time out
  bool programEnded_ = false, deviceGone_ = false;
};

/// As getsockopt gives an option: no more than there is space for, and its length.
void giveOption(const Call &call, const void *value, std::size_t size);
/// An IPv4 or IPv6 TCP socket.
bool isTcp(const File &socket);
std::uint64_t cookieOf(const File &socket);
/// Keep-alive interval and user timeout of its options, in the core's units; 0: none.
std::pair<std::uint32_t, std::uint32_t> timesOf(const File &socket);
/// A time-out option of a socket; never: 0.
Clock::time_point deadline(const File &socket, int name);

} // namespace downbeat
