// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._
import spinal.lib._

/** Counts another domain's events and loses none, if they are fewer than 16 in eight clocks of either domain. */
case class EventCounter(from: ClockDomain, to: ClockDomain, countBits: Int = 32) extends Component {
  val io = new Bundle {
    val event = in Bool () // in clock domain `from`
    val count = out UInt (countBits bits) // in clock domain `to`
  }
  noIoPrefix()

  private val bits = 4
  private val source = new ClockingArea(from) {
    val ticks = Reg(UInt(bits bits)) init 0
    when(io.event)(ticks := ticks + 1)
    val gray = RegNext(toGray(ticks)) init 0
  }
  private val target = new ClockingArea(to) {
    val ticks = RegNext(fromGray(BufferCC(source.gray, B(0, bits bits)))) init 0
    val seen = RegNext(ticks) init 0
    val count = Reg(UInt(countBits bits)) init 0
    count := count + (ticks - seen)
  }
  io.count := target.count
}

object EventCounter {
  def of(name: String, event: Bool, from: ClockDomain, to: ClockDomain, bits: Int = 32): UInt = {
    val counter = EventCounter(from, to, bits).setName(s"${name}Counter")
    counter.io.event := event
    counter.io.count
  }
}
