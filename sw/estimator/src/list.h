/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/// Doubly linked lists through an array's records, by place: constant time, no memory of their own.
#pragma once

#include <vector>

#include "hash.h"

namespace downbeat::estimator {

struct Links {
  uint32_t before = nowhere;
  uint32_t after = nowhere;
};

struct Ends {
  uint32_t first = nowhere;
  uint32_t last = nowhere;
};

template <class Record> void append(std::vector<Record> &records, Links Record::*links, Ends &ends, uint32_t place) {
  (records[place].*links) = {ends.last, nowhere};
  (ends.last == nowhere ? ends.first : (records[ends.last].*links).after) = place;
  ends.last = place;
}

template <class Record> void unlink(std::vector<Record> &records, Links Record::*links, Ends &ends, uint32_t place) {
  const Links own = records[place].*links;
  (own.before == nowhere ? ends.first : (records[own.before].*links).after) = own.after;
  (own.after == nowhere ? ends.last : (records[own.after].*links).before) = own.before;
  (records[place].*links) = {};
}

} // namespace downbeat::estimator
