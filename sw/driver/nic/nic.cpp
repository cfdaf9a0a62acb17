// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "nic.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <vector>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "formatted.h"

namespace downbeat::nic {

namespace {

constexpr std::uint64_t second = 1'000'000'000; // ns
constexpr std::uint64_t slice = DOWNBEAT_NANOSECONDS(200'000); // between two looks at programs and wire
constexpr std::uint64_t catchUp = 1'000'000; // ns
constexpr std::uint64_t longestWait = DOWNBEAT_NANOSECONDS(100'000'000);
constexpr int framesAtOnce = 16;

std::uint64_t monotonicNanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * second + static_cast<std::uint64_t>(now.tv_nsec);
}

/// How far a time of the model, which wraps, is ahead of another; 0: it is behind.
std::uint64_t ahead(std::uint64_t time, std::uint64_t from) {
  const auto distance = static_cast<std::int64_t>(time - from);
  return distance > 0 ? static_cast<std::uint64_t>(distance) : 0;
}

/// Removes the socket of a process that was killed, and nothing else.
void clear(const std::string &path, const sockaddr *named, socklen_t length) {
  struct stat found{};
  if (lstat(path.c_str(), &found) != 0) return;
  const auto refuse = [&](const std::string &what) {
    throw Failure(DOWNBEAT_ADDRESS_IN_USE, path + ": " + what + ": name another --device");
  };
  if (!S_ISSOCK(found.st_mode)) refuse("what is there is not a socket");
  const File probe(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (connect(probe.get(), named, length) == 0 || errno == EAGAIN) refuse("a NIC listens there already");
  if (errno != ECONNREFUSED) refuse(std::string("another's socket is there (") + std::strerror(errno) + ")");
  unlink(path.c_str());
}

File listenOn(const std::string &path, unsigned mode) {
  const sockaddr_un address = addressOf(path);
  const auto *named = reinterpret_cast<const sockaddr *>(&address);
  clear(path, named, sizeof address);
  if (const auto slash = path.rfind('/'); slash != std::string::npos && slash != 0)
    mkdir(path.substr(0, slash).c_str(), 0755);
  File socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // The file has its mode from its first moment on: bind takes the socket's.
  fchmod(socket.get(), mode);
  const mode_t before = umask(0);
  const bool bound = bind(socket.get(), named, sizeof address) == 0;
  umask(before);
  if (!bound || listen(socket.get(), 64) != 0)
    throw Failure(errno == EACCES ? DOWNBEAT_NO_PERMISSION : DOWNBEAT_NO_DEVICE,
                  path + ": no socket can be made there: " + std::strerror(errno) +
                      ": name a place that you may write to, as --device simd:/tmp/nic.sock");
  return socket;
}

} // namespace

Nic::Nic(const Options &options)
    : options_(options),
      model_(options.preset, linkRate),
      geometry_(identify(model_)),
      memoryFile_(sharedMemory("downbeat-nic", memoryBytes(geometry_, geometry_.ports))),
      memory_(memoryFile_.get(), memoryBytes(geometry_, geometry_.ports)),
      wire_(!options.tap.empty()         ? Wire::tap(options.tap)
            : !options.interface.empty() ? Wire::interface(options.interface)
                                         : Wire::loop(options.addresses, options.loop)),
      listening_(listenOn(options.socket, options.mode)),
      start_(monotonicNanoseconds()) {
  model_.setMemory(memory_.base(), memory_.bytes());
  std::uint32_t secret[4];
  drawSecret(secret);
  configure(model_, options.addresses, secret, {memory_.base(), 0});
  geometry_.ip = options.addresses.ip;
  geometry_.netmask = options.addresses.netmask;
  geometry_.gateway = options.addresses.gateway;
  geometry_.mac = options.addresses.mac;
  for (std::uint32_t port = 0; port < geometry_.ports; ++port) freePorts_.insert(port);
}

double Nic::measuredRate() {
  constexpr std::size_t length = 1514, overhead = 24; // bytes; preamble, FCS and gap (IEEE 802.3)
  constexpr std::uint64_t frames = 8, span = frames * (length + overhead) * 8 * second / linkRate;
  const std::uint64_t arrival = model_.now(), begin = monotonicNanoseconds();
  for (std::uint64_t each = 0; each < frames; ++each) model_.putFrame(frame_.data(), length, arrival);
  model_.advance(arrival + DOWNBEAT_NANOSECONDS(span));
  const std::uint64_t real = std::max<std::uint64_t>(monotonicNanoseconds() - begin, 1);
  return static_cast<double>(linkRate) * static_cast<double>(span) / static_cast<double>(std::max(real, span));
}

std::string Nic::description() {
  return formatted("%u flows, %u programs at once, about %.1f Mb/s on this machine", geometry_.flows, geometry_.ports,
                   measuredRate() / 1e6);
}

Nic::~Nic() { unlink(options_.socket.c_str()); }

std::uint64_t Nic::clock() const { return monotonicNanoseconds() - start_; }

std::uint64_t Nic::behind() const { return ahead(DOWNBEAT_NANOSECONDS(clock()), model_.now()); }

std::uint64_t Nic::idle() const {
  const std::uint64_t deadline = model_.nextDeadline();
  return deadline == DOWNBEAT_NEVER ? DOWNBEAT_NEVER / 2 : ahead(deadline, model_.now());
}

void Nic::run(const volatile std::sig_atomic_t &stop) {
  while (!stop) {
    busy_ = receiveFrames();
    for (auto each = clients_.begin(); each != clients_.end();) {
      Client &client = *each++;
      busy_ |= doorbells(client);
    }
    advance();
    interrupts();
    sendFrames();
    busy_ |= wire_.waits();
    wait();
  }
}

bool Nic::receiveFrames() {
  for (int count = 0; count < framesAtOnce; ++count) {
    const std::size_t length = wire_.read(frame_);
    if (length == 0) return false;
    const std::uint64_t arrival = std::max(clock() + options_.delay, wireFree_);
    // Preamble, FCS and gap are 24 bytes (IEEE 802.3).
    wireFree_ = arrival + (std::max<std::size_t>(length, 60) + 24) * 8 * second / linkRate;
    model_.putFrame(frame_.data(), length, DOWNBEAT_NANOSECONDS(arrival));
  }
  return true;
}

void Nic::sendFrames() {
  std::uint64_t departure;
  for (std::int64_t length; (length = model_.getFrame(frame_.data(), frame_.size(), &departure)) > 0;)
    wire_.write({frame_.data(), static_cast<std::size_t>(length)});
  while (model_.getBypass(frame_.data(), frame_.size()) > 0) {} // nobody else lives here
}

void Nic::advance() {
  std::uint64_t end = 0; // of what costs little: idle time behind many doorbells
  bool isLate;
  do {
    const std::uint64_t late = behind(), step = std::min(late, idle() + slice);
    model_.advance(model_.now() + step);
    isLate = late > step;
    if (end == 0) end = clock() + catchUp;
  } while (isLate && idle() != 0 && clock() < end);
  busy_ |= isLate;
}

void Nic::wait() {
  const auto sleep = [this](std::uint32_t sleeps) {
    for (Client &client : clients_) client.mailbox->sleeps.store(sleeps, std::memory_order_seq_cst);
  };
  std::vector<pollfd> descriptors{{listening_.get(), POLLIN, 0}, {wire_.descriptor(), POLLIN, 0}};
  for (const Client &client : clients_) {
    descriptors.push_back({client.socket.get(), POLLIN, 0});
    descriptors.push_back({client.ended.get(), POLLIN, 0});
  }
  for (const Listing &listing : listings_) descriptors.push_back({listing.socket.get(), POLLOUT, 0});
  for (const File &stranger : strangers_) descriptors.push_back({stranger.get(), POLLIN, 0});
  sleep(1);
  const auto waits = [](const Client &client) {
    return client.mailbox->headWanted.load(std::memory_order_seq_cst) != 0 ||
           client.mailbox->tail.load(std::memory_order_seq_cst) != client.head;
  };
  std::uint64_t span = 0;
  if (!busy_ && std::ranges::none_of(clients_, waits)) {
    const std::uint64_t late = behind(), next = idle();
    span = next > late ? std::min(next - late, longestWait) >> 16 : 0;
  }
  const timespec timeout{static_cast<time_t>(span / second), static_cast<long>(span % second)};
  const int ready = ppoll(descriptors.data(), descriptors.size(), &timeout, nullptr);
  sleep(0);
  if (ready <= 0) return;
  programs(descriptors.cbegin() + 2);
  welcome(descriptors);
  if (descriptors[0].revents != 0) accept();
}

} // namespace downbeat::nic
