// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Quantities of Careful Resume that several phases use. */
class ResumePath(pipe: PolicyPipe, before: Payload[ResumeState]) extends Area {
  import pipe._

  private val read = new s0.Area {
    private val half = before.savedCwnd >> 1
    val jump = insert(Mux[UInt](before.maxJump < half, before.maxJump, half.resize(16)))
    val pipeSize = insert(before.saved + event.ackedBytes)
    val left = insert(before.left.resize(33) - event.ackedBytes.resize(33)) // signed
  }
  private val measure = new s1.Area {
    val flight = insert(event.flight.resize(33) - event.ackedBytes.resize(33)) // signed
    val jump = insert(read.jump * event.segmentSize)
  }
  private val compare = new s2.Area {
    val isDrained = read.left.msb || !read.left.orR
    val nonePending = measure.flight.msb || !measure.flight.orR
  }
  private val bound = new s3.Area {
    val left = read.left.msb ? U(0, 32 bits) | read.left.resize(32)
    val flight = measure.flight.msb ? U(0, 32 bits) | measure.flight.resize(32)
  }

  /** min(max_jump, saved_cwnd / 2), segments; from the first node on. */
  val jumpSegments: Payload[UInt] = read.jump
  /** The same in bytes, from the second node on. */
  val jump: Payload[UInt] = measure.jump
  /** PipeSize with what the event acknowledges, bytes; from the first node on. */
  val pipeSize: Payload[UInt] = read.pipeSize
  /** Bytes until the phase ends, signed; from the first node on. */
  val leftSigned: Payload[UInt] = read.left
  /** Bytes in flight after an ACK, signed; from the second node on. */
  val flightSigned: Payload[UInt] = measure.flight
  /** No byte is left until the phase ends, on the third node. */
  val isDrained: Bool = compare.isDrained
  /** Nothing is in flight after an ACK, on the third node. */
  val isIdle: Bool = compare.nonePending
  /** Zero where the signed ones are negative; on the last node. */
  val left: UInt = bound.left
  val flight: UInt = bound.flight
}
