// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._
import spinal.lib._

/** Takes frames of one kind from the core to the gate: their words, and their requests behind them. */
case class TransmitLane(
    rate: WireRate, timed: Boolean, words: Int, core: ClockDomain, transmit: ClockDomain) extends Component {
  val pointerBits: Int = log2Up(words) + 1

  val io = new Bundle {
    val intake = slave(IntakePort()) // in clock domain `core`
    // In clock domain `transmit`.
    val time = in UInt (TimeBase.bits bits)
    val increment = in UInt (TimeBase.incrementBits bits)
    val head = master Stream (QueuedLaunch())
    val settled = out Bool ()
    /** First word of the frame that starts or will start next. */
    val read = in UInt (pointerBits bits)
    val start = in Bool ()
    val fetch = in Bool () // the next word; the first with `start`
    val word = out Bits (64 bits) // one clock after
  }
  noIoPrefix()

  private val memory = FrameMemory(words, core, transmit)
  memory.io.write << io.intake.write
  memory.io.end << io.intake.end

  private val requests = new StreamFifoCC(LaunchRequest(), 16, core, transmit, withPopBufferedReset = false)
  requests.io.push.valid := io.intake.request.valid
  requests.io.push.payload := io.intake.request.payload
  // The frame that comes in now makes a request, and the one before it may be about to.
  io.intake.space := memory.io.space && core(RegNext(requests.io.pushOccupancy < 13) init False)

  private val queue = transmit(LaunchQueue(rate, timed))
  queue.io.requests << requests.io.pop
  queue.io.time := io.time
  queue.io.increment := io.increment
  io.head << queue.io.head
  io.settled := queue.io.settled

  private val reader = new ClockingArea(transmit) {
    val next = Reg(UInt(pointerBits bits))
    val address = io.start ? io.read | next
    when(io.fetch)(next := address + 1)
  }
  memory.io.enable := io.fetch
  memory.io.address := reader.address
  io.word := memory.io.data
  memory.io.read := io.read
}
