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
constexpr std::size_t betweenFrames = 24; // bytes: preamble, FCS and gap (IEEE 802.3)

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

/// A full segment of no connection: the core reads it all, and answers with a reset (RFC 9293 3.10.7.1).
std::vector<std::uint8_t> segmentTo(const Addresses &own) {
  constexpr std::size_t ethernet = 14, ip = 20, length = 1514;
  std::vector<std::uint8_t> frame(length);
  const auto put = [&frame](std::size_t at, std::uint64_t value, std::size_t bytes) {
    for (std::size_t each = bytes; each-- > 0; value >>= 8) frame[at + each] = static_cast<std::uint8_t>(value);
  };
  /// RFC 1071, of whole words.
  const auto checksum = [&frame](std::size_t from, std::size_t to, std::uint32_t sum) {
    for (; from < to; from += 2) sum += frame[from] << 8u | frame[from + 1];
    return ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
  };
  put(0, own.mac, 6);
  put(6, own.mac ^ 1, 6);
  put(12, 0x0800'4500, 4);
  put(ethernet + 2, length - ethernet, 2);
  put(ethernet + 8, 64 << 8 | 6, 2); // TTL; TCP
  put(ethernet + 12, own.ip ^ 1, 4);
  put(ethernet + 16, own.ip, 4);
  put(ethernet + 10, checksum(ethernet, ethernet + ip, 0), 2);
  put(ethernet + ip, 0x0009'0009, 4); // ports
  put(ethernet + ip + 12, 0x5010, 2); // five words; ACK
  put(ethernet + ip + 16, checksum(ethernet + 12, length, 6 + length - ethernet - ip), 2);
  return frame;
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
  const auto start = [&] { configure(model_, options.addresses, secret, {memory_.base(), 0}); };
  start();
  rate_ = measuredRate();
  start(); // its answers have gone
  geometry_.ip = options.addresses.ip;
  geometry_.netmask = options.addresses.netmask;
  geometry_.gateway = options.addresses.gateway;
  geometry_.mac = options.addresses.mac;
  for (std::uint32_t port = 0; port < geometry_.ports; ++port) freePorts_.insert(port);
}

double Nic::measuredRate() {
  constexpr std::uint64_t frames = 8;
  const std::vector<std::uint8_t> frame = segmentTo(options_.addresses);
  const std::uint64_t span = frames * (frame.size() + betweenFrames) * 8 * second / linkRate, arrival = model_.now();
  const std::uint64_t begin = monotonicNanoseconds();
  for (std::uint64_t each = 0; each < frames; ++each) model_.putFrame(frame.data(), frame.size(), arrival);
  model_.advance(arrival + DOWNBEAT_NANOSECONDS(span));
  std::uint64_t departure;
  while (model_.getFrame(frame_.data(), frame_.size(), &departure) > 0) {}
  const std::uint64_t real = std::max(monotonicNanoseconds() - begin, span); // no faster than the wire
  return static_cast<double>(linkRate) * static_cast<double>(span) / static_cast<double>(real);
}

std::string Nic::description() const {
  return formatted("%u flows, %u programs at once, about %.1f Mb/s on this machine", geometry_.flows, geometry_.ports,
                   rate_ / 1e6);
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
    wireFree_ = arrival + (std::max<std::size_t>(length, 60) + betweenFrames) * 8 * second / linkRate;
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
