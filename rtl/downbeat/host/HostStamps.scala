// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib._

/** The stamps of segments whose connection's program asked for them, until they are written into its ring.
  *
  * Nothing waits for a program: a stamp is dropped, and counted for its port, where the queue or the port's ring is
  * full.
  */
case class HostStamps(config: DownbeatConfig) extends Component {
  private val count = config.hostPorts
  val io = new Bundle {
    /** Our segments leave; the peer's come. */
    val departed, received = slave(Flow(SegmentStamp(config)))
    val records = Vec.fill(2)(master(RecordReadPort(config)))
    /** The port's next program begins. */
    val starts = in(Vec.fill(count)(Bool()))
    /** The port runs and its ring has space. */
    val takes = in(Bits(count bits))
    val stamps = master(Stream(HostStamp(config)))
    /** Stamps that were dropped since the port started. */
    val dropped = out(Vec.fill(count)(UInt(32 bits)))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val sources =
    for ((segments, record, isReceived) <-
        Seq((io.departed, io.records(0), false), (io.received, io.records(1), true))) yield new Area {
      record.enable := segments.valid
      record.flow := segments.reference.flow
      private val read = segments.m2sPipe
      private val wanted = record.record.stamped && record.record.owner =/= 0 &&
        record.record.generation === read.reference.generation
      private val found = Flow(HostStamp(config))
      found.valid := read.valid && wanted
      found.port := (record.record.owner - 1).resized
      found.received := Bool(isReceived)
      found.segment := read.payload
      val judged = found.m2sPipe
      val overflow = Bool()
      val queue = StreamFifo(HostStamp(config), 32, forFMax = true)
      queue.io.push << judged.toStream(overflow)
      val idle = !read.valid && !judged.valid && queue.io.occupancy === 0
    }

  private val next = StreamArbiterFactory().roundRobin.transactionLock.on(sources.map(_.queue.io.pop)).m2sPipe()
  private val taken = io.takes(next.port)
  io.stamps << next.takeWhen(taken)
  private val discards = next.valid && !taken

  for (index <- 0 until count) {
    val lost = sources.map(source => source.overflow && source.judged.port === index) :+
      (discards && next.port === index)
    val dropped = Reg(UInt(32 bits)) init 0
    dropped := io.starts(index) ? U(0, 32 bits) | dropped + RegNext(CountOne(lost))
    io.dropped(index) := dropped
  }
  io.idle := sources.map(_.idle).andR && !next.valid
}
