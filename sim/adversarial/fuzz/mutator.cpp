// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "mutator.h"

#include <algorithm>

#include "mutations.h"

namespace fuzz {

namespace {

constexpr std::size_t longestSplice = 120; // bytes of the second frame

std::size_t anyMutation(Draw &draw) {
  static const unsigned total = [] {
    unsigned sum = 0;
    for (const Mutation &mutation : mutations()) sum += mutation.weight;
    return sum;
  }();
  auto left = static_cast<unsigned>(draw.below(total));
  std::size_t kind = 0;
  while (left >= mutations()[kind].weight) left -= mutations()[kind++].weight;
  return kind;
}

} // namespace

void Mutator::readdress(Bytes &frame, const std::optional<Target> &target, Draw &draw) const {
  const Layout at(frame);
  if (!at.hasTcp) return;
  if (target && draw.chance(60)) {
    std::ranges::copy(target->peer.mac, frame.begin() + 6);
    write32(frame, at.ip + 12, target->peer.ip);
    write16(frame, at.tcp, target->tuple.remotePort);
    write16(frame, at.tcp + 2, target->tuple.localPort);
    const bool exact = draw.chance(70);
    write32(frame, at.tcp + 4, target->sequence + (exact ? 0 : static_cast<std::uint32_t>(draw.below(5)) - 2));
    write32(frame, at.tcp + 8, target->acknowledgment + (exact ? 0 : static_cast<std::uint32_t>(draw.below(5)) - 2));
    return;
  }
  write32(frame, at.ip + 12, 0x0a000000 | static_cast<std::uint32_t>(draw.between(0x100, 0xffff)));
  write16(frame, at.tcp, draw.half());
  write16(frame, at.tcp + 2, draw.chance(80) ? draw.pick(ports_) : draw.half());
  if (draw.chance(40)) frame[at.tcp + 13] = flag::syn;
}

Mutant Mutator::mutate(const Corpus &corpus, const std::optional<Target> &target, Draw &draw) {
  Bytes frame = corpus.any(draw);
  // Long frames cost time and say little more: most are cut to some bytes of payload.
  if (const Layout at(frame); at.hasTcp && frame.size() > 200 && draw.chance(90)) {
    frame.resize(at.tcp + 20 + draw.below(60));
    write16(frame, at.ip + 2, static_cast<std::uint32_t>(frame.size() - at.ip));
  }
  if (draw.chance(65)) readdress(frame, target, draw);
  if (draw.chance(5)) {
    const Bytes &other = corpus.any(draw);
    const std::size_t cut = draw.between(1, std::min(frame.size(), other.size()));
    frame.resize(cut);
    const View tail = View(other).subspan(cut, std::min(other.size() - cut, longestSplice));
    frame.insert(frame.end(), tail.begin(), tail.end());
    ++splices_;
  }
  return alter(std::move(frame), draw.chance(70) ? 1 : static_cast<unsigned>(draw.between(2, 4)), draw);
}

Mutant Mutator::alter(Bytes frame, unsigned changes, Draw &draw) {
  for (; changes > 0; --changes) {
    const std::size_t kind = anyMutation(draw);
    mutations()[kind].apply(frame, draw);
    ++counts_[kind];
  }
  if (draw.chance(88)) repairChecksums(frame);
  return {std::move(frame), draw.chance(1)};
}

std::vector<std::pair<const char *, std::uint64_t>> Mutator::counts() const {
  std::vector<std::pair<const char *, std::uint64_t>> named;
  for (std::size_t kind = 0; kind < counts_.size(); ++kind) named.emplace_back(mutations()[kind].name, counts_[kind]);
  named.emplace_back("splice", splices_);
  return named;
}

} // namespace fuzz
