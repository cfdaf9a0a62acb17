// SPDX-License-Identifier: BSD-2-Clause-Patent
// The decoder: bytes of strangers become a message whose every number is possible, or a cause.
#include <cmath>

#include "bytes.h"
#include "message.h"

namespace downbeat::gateway {
namespace {

// Collects the first cause for which a number is refused.
class Judge {
public:
  void range(double value, double min, double max) {
    if (!std::isfinite(value)) return refuse(Refusal::notFinite);
    if (value < 0) return refuse(Refusal::negative);
    if (value < min || value > max) refuse(Refusal::outOfRange);
  }
  void zero(bool isZero) {
    if (!isZero) refuse(Refusal::reservedBits);
  }
  void refuse(Refusal cause) {
    if (cause_ == Refusal::count) cause_ = cause;
  }
  Refusal cause() const { return cause_; } // count: none

private:
  Refusal cause_ = Refusal::count;
};

Prefix prefix(Reader &reader, std::uint8_t &kind, Judge &judge) {
  Prefix read;
  read.family = reader.number<std::uint8_t>();
  read.length = reader.number<std::uint8_t>();
  kind = reader.number<std::uint8_t>();
  judge.zero(reader.number(1) == 0);
  reader.copy(read.address);
  if (!read.valid()) judge.refuse(Refusal::wrongPrefix);
  return read;
}

Report report(Reader &reader, Judge &judge) {
  Report read;
  std::uint8_t kind = 0;
  read.prefix = prefix(reader, kind, judge);
  read.kind = static_cast<Kind>(kind);
  const double first = reader.real(), second = reader.real(), third = reader.real();
  judge.zero(reader.number(8) == 0);
  switch (read.kind) {
  case Kind::transfer:
    judge.range(read.window = first, 1, maxWindow);
    judge.range(read.rtt = second, minRtt, maxRtt);
    judge.range(read.acked = third, 1, maxAcked);
    break;
  case Kind::state:
    judge.range(read.steady = first, 0, maxSteady);
    judge.range(read.slow = second, 0, maxWindow * maxSteady);
    judge.range(read.window = third, read.steady >= 1 ? 1 : 0, maxWindow);
    break;
  case Kind::saved:
    judge.range(read.window = first, 1, maxWindow);
    judge.range(read.rtt = second, minRtt, maxRtt);
    judge.zero(std::bit_cast<std::uint64_t>(third) == 0);
    break;
  default: judge.refuse(Refusal::wrongKind);
  }
  return read;
}

Response response(Reader &reader, Judge &judge) {
  Response read;
  std::uint8_t kind = 0;
  read.prefix = prefix(reader, kind, judge);
  judge.zero(kind == 0);
  read.lifetime = reader.number<std::uint32_t>();
  read.transferReporters = reader.number<std::uint16_t>();
  read.stateReporters = reader.number<std::uint16_t>();
  read.savedReporters = reader.number<std::uint16_t>();
  judge.zero(reader.number(2) == 0);
  read.transfers = reader.number<std::uint32_t>();
  // A part that is not known is all zero; a known one keeps the limits of a report.
  const auto known = [&](double value, bool there, double min, double max) {
    judge.range(value, there ? min : 0, there ? max : 0);
    return value;
  };
  read.window = known(reader.real(), read.transferReporters, 1, maxWindow);
  read.rtt = known(reader.real(), read.transferReporters, minRtt * 0.999, maxRtt);
  read.acked = known(reader.real(), read.transferReporters, 1, maxAcked);
  read.oldest = known(reader.real(), read.stateReporters, 0, maxWindow);
  read.connections = known(reader.real(), read.stateReporters, 0, 65536 * maxSteady * maxWindow);
  read.savedWindow = known(reader.real(), read.savedReporters, 1, maxWindow);
  read.savedRtt = known(reader.real(), read.savedReporters, minRtt * 0.999, maxRtt);
  return read;
}

template <typename Item, typename Read>
bool items(Reader &reader, std::size_t size, std::size_t each, std::size_t max, std::vector<Item> &to, Read read) {
  if (size == 0 || size % each != 0 || size / each > max) return false;
  to.reserve(size / each);
  while (!reader.empty()) to.push_back(read());
  return true;
}

} // namespace

std::variant<Header, Refusal> decodeHeader(Bytes datagram) {
  if (datagram.size() < headerBytes + tagBytes) return Refusal::tooShort;
  if (datagram.size() > maxBytes) return Refusal::tooLong;
  Reader reader(datagram);
  Header header;
  if (reader.number(2) != magic) return Refusal::wrongMagic;
  if (reader.number(1) != version) return Refusal::wrongVersion;
  header.type = static_cast<Type>(reader.number(1));
  if (header.type < Type::hello || header.type > Type::challenge) return Refusal::wrongType;
  header.key = reader.number<std::uint8_t>();
  if (reader.number(1) != 0) return Refusal::reservedBits;
  header.length = reader.number<std::uint16_t>();
  if (header.length != datagram.size()) return Refusal::wrongLength;
  header.reporter = reader.number<std::uint32_t>();
  header.stamp = reader.number<std::uint32_t>();
  header.session = reader.number(8);
  header.sequence = reader.number(8);
  return header;
}

std::variant<Message, Refusal> decodeBody(const Header &header, Bytes body) {
  Message message{.header = header};
  Reader reader(body);
  Judge judge;
  bool right = false;
  std::uint8_t kind = 0;
  const auto size = body.size();
  switch (header.type) {
  case Type::refusal:
    if ((right = size == 8)) message.value = reader.number(8);
    break;
  case Type::hello:
  case Type::challenge:
  case Type::welcome:
    if ((right = size == 16)) {
      message.value = reader.number(8);
      message.token = reader.number(8);
    }
    break;
  case Type::relay:
    if (size < 4) break;
    message.age = reader.number<std::uint32_t>();
    right = items(reader, size - 4, reportBytes, maxReports, message.reports, [&] { return report(reader, judge); });
    break;
  case Type::report:
    right = items(reader, size, reportBytes, maxReports, message.reports, [&] { return report(reader, judge); });
    break;
  case Type::query:
    right = items(reader, size, prefixBytes, maxQueries, message.queries, [&] {
      const Prefix read = prefix(reader, kind, judge);
      judge.zero(kind == 0);
      return read;
    });
    break;
  case Type::response:
    right = items(reader, size, responseBytes, maxQueries, message.responses, [&] { return response(reader, judge); });
    break;
  }
  if (!right) return Refusal::wrongLength;
  if (judge.cause() != Refusal::count) return judge.cause();
  return message;
}

} // namespace downbeat::gateway
