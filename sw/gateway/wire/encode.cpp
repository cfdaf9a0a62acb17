// SPDX-License-Identifier: BSD-2-Clause-Patent
// The encoder, the decoder's mirror.
#include "bytes.h"
#include "message.h"

namespace downbeat::gateway {
namespace {

void write(Writer &writer, const Prefix &prefix, Kind kind = Kind{}) {
  writer.number(prefix.family, 1);
  writer.number(prefix.length, 1);
  writer.number(static_cast<std::uint8_t>(kind), 1);
  writer.number(0, 1);
  writer.copy(prefix.address);
}

void write(Writer &writer, const Report &report) {
  write(writer, report.prefix, report.kind);
  const bool state = report.kind == Kind::state;
  writer.real(state ? report.steady : report.window);
  writer.real(state ? report.slow : report.rtt);
  writer.real(state ? report.window : report.kind == Kind::transfer ? report.acked : 0);
  writer.real(0);
}

void write(Writer &writer, const Response &response) {
  write(writer, response.prefix);
  writer.number(response.lifetime, 4);
  writer.number(response.transferReporters, 2);
  writer.number(response.stateReporters, 2);
  writer.number(response.savedReporters, 2);
  writer.number(0, 2);
  writer.number(response.transfers, 4);
  for (double value : {response.window, response.rtt, response.acked, response.oldest, response.connections,
                       response.savedWindow, response.savedRtt})
    writer.real(value);
}

} // namespace

void encode(const Message &message, std::vector<std::uint8_t> &out) {
  Writer writer(out);
  const Header &header = message.header;
  writer.number(magic, 2);
  writer.number(version, 1);
  writer.number(static_cast<std::uint8_t>(header.type), 1);
  writer.number(header.key, 1);
  writer.number(0, 3); // reserved, and the length's place
  writer.number(header.reporter, 4);
  writer.number(header.stamp, 4);
  writer.number(header.session, 8);
  writer.number(header.sequence, 8);
  switch (header.type) {
  case Type::refusal: writer.number(message.value, 8); break;
  case Type::hello:
  case Type::challenge:
  case Type::welcome:
    writer.number(message.value, 8);
    writer.number(message.token, 8);
    break;
  case Type::relay: writer.number(message.age, 4); [[fallthrough]];
  case Type::report:
    for (const Report &report : message.reports) write(writer, report);
    break;
  case Type::query:
    for (const Prefix &prefix : message.queries) write(writer, prefix);
    break;
  case Type::response:
    for (const Response &response : message.responses) write(writer, response);
    break;
  }
  const std::size_t length = writer.size() + tagBytes;
  writer[6] = static_cast<std::uint8_t>(length >> 8);
  writer[7] = static_cast<std::uint8_t>(length);
}

} // namespace downbeat::gateway
