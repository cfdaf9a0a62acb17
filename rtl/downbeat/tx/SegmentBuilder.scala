// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.messages.{
  AddressReadPort, LocalAddresses, SegmentDescriptor, ServiceParameters, StatelessReply, Transfer
}
import downbeat.wire.LaunchMode
import spinal.core._
import spinal.lib._

/** The peer of a segment: its addresses and ports, our port, and the IP fields of the connection. */
case class Peer(vlanBits: Int) extends Bundle {
  val mac = Bits(48 bits)
  val vlan = UInt(vlanBits bits)
  val ip = UInt(32 bits)
  val remotePort, localPort = UInt(16 bits)
  val service = ServiceParameters()
}

/** Builds headers from descriptors, one at a time. It takes three clocks, and one for each word of eight bytes; with
  * three SACK blocks one more. That is ten for the smallest frame, whose 60 bytes are eight beats of the wire.
  *
  * The last header word of a frame is in its queue a clock after the frame at the latest.
  *
  * A segment that occupies no sequence number and has no launch time (a pure ACK, a RST) is `immediate`, unless `data`
  * of its flow waits. All others are `data` and keep their order. A FIN that overtook its flow's data would look like a
  * loss. An ACK that did would tell the newer window first, and the peer would then believe the older one of the data
  * (RFC 9293 3.10.7.4). In the MAC it may still pass a frame of its flow that waits for its launch, for `grantLead` at
  * most. Payload is requested in the first clock. `release` comes behind the flow's last entry in `data`.
  */
case class SegmentBuilder(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val descriptors = slave(Stream(SegmentDescriptor(config)))
    val statelessReplies = slave(Stream(StatelessReply(config.vlanBits)))
    val addressRead = master(AddressReadPort(config))
    val local = in(LocalAddresses())
    val fetch = master(Stream(Transfer(config)))
    val tags = master(TagPort(config))
    val immediate = master(Stream(SegmentHeader(config)))
    val data = master(Stream(DataEntry(config, OutgoingFrame(config))))
    /** The oldest frame of `data` is about to be on the wire, or was dropped. */
    val dataLeaves = in Bool ()
    /** Words of the frame that follows in one of the two queues, which `wordsAreImmediate` names. */
    val words = master(Flow(HeaderWord()))
    val wordsAreImmediate = out Bool ()
    val idle = out Bool ()
  }
  noIoPrefix()

  /** The segment that is built. */
  private case class Job() extends Bundle {
    val segment = SegmentDescriptor(config)
    val hasPayload, stateless = Bool()
    val statelessPeer = Peer(config.vlanBits)
  }

  private val ofDescriptors = io.descriptors.map { descriptor =>
    val job = Job()
    job.segment := descriptor
    job.hasPayload := descriptor.length =/= 0
    job.stateless := False
    job.statelessPeer.assignDontCare()
    job
  }

  private val ofStatelessReplies = io.statelessReplies.map { stateless =>
    val job = Job()
    job.segment.assignDontCare()
    job.segment.release := False
    job.segment.sequence := stateless.sequence
    job.segment.acknowledgment := stateless.acknowledgment
    job.segment.flags.assignFromBits(B(0, 8 bits))
    job.segment.flags.rst.allowOverride() := stateless.rst
    job.segment.flags.syn.allowOverride() := stateless.syn
    job.segment.flags.ack.allowOverride() := stateless.ack
    job.segment.windowScaleOffered := False
    job.segment.sackPermitted := False
    job.segment.timestamped := stateless.timestamped
    job.segment.timestampValue := stateless.timestampValue
    job.segment.timestampEcho := stateless.timestampEcho
    job.segment.sack.foreach(_.valid := False)
    job.segment.duplicateBelow := False
    job.segment.urgent := False
    job.segment.ecnCapable := False
    job.segment.window := stateless.syn ? U(config.receiveBufferBytes min 65535, 16 bits) | U(0, 16 bits)
    job.segment.length := 0
    job.segment.mode := LaunchMode.asap
    job.segment.stamped := False
    job.hasPayload := False
    job.stateless := True
    job.statelessPeer.mac := stateless.remoteMac
    job.statelessPeer.vlan := stateless.vlan
    job.statelessPeer.ip := stateless.remoteIp
    job.statelessPeer.remotePort := stateless.remotePort
    job.statelessPeer.localPort := stateless.localPort
    job.statelessPeer.service := ServiceParameters.usual
    job
  }

  private val job =
    StreamArbiterFactory().roundRobin.transactionLock.onArgs(ofDescriptors, ofStatelessReplies).halfPipe()
  private val segment = job.segment
  private val step = Reg(UInt(4 bits)) init 0
  private val first = job.valid && step === 0
  private val serialiser = HeaderSerialiser(config)
  private val done = job.valid && step === HeaderSums.lastStep && !serialiser.io.busy

  private val options = HeaderOptions(config)
  options.io.step := step
  options.io.segment := segment
  options.io.hasPayload := job.hasPayload

  // Step 0: ask for the addresses and the payload.
  io.addressRead.enable := first && !segment.release && !job.stateless
  io.addressRead.flow := segment.reference.flow
  io.fetch.valid := first && !segment.release && job.hasPayload
  io.fetch.flow := segment.reference.flow
  io.fetch.sequence := segment.sequence
  io.fetch.length := segment.length

  when(job.valid && step =/= HeaderSums.lastStep && !(step === HeaderSums.optionStep && options.io.busy))(
    step := step + 1)
  when(io.fetch.isStall)(step := 0)
  when(first && segment.release)(step := HeaderSums.lastStep)
  when(job.fire)(step := 0)

  // Step 1: the addresses are there.
  private val peerFound = Peer(config.vlanBits)
  peerFound.mac := io.addressRead.addresses.remoteMac
  peerFound.vlan := io.addressRead.addresses.vlan
  peerFound.ip := io.addressRead.addresses.remoteIp
  peerFound.remotePort := io.addressRead.addresses.remotePort
  peerFound.localPort := io.addressRead.addresses.localPort
  peerFound.service := io.addressRead.addresses.service
  private val peer = RegNextWhen(job.stateless ? job.statelessPeer | peerFound, step === 1)

  private val sums = HeaderSums(config)
  sums.io.step := step
  sums.io.segment := segment
  sums.io.peer := peer
  sums.io.local := io.local
  sums.io.optionWords := options.io.words
  sums.io.optionSum := options.io.sum

  private val header = SegmentHeader(config)
  header.remoteMac := peer.mac
  header.vlan := peer.vlan
  header.remoteIp := peer.ip
  header.remotePort := peer.remotePort
  header.localPort := peer.localPort
  header.sequence := segment.sequence
  header.acknowledgment := segment.acknowledgment
  header.flags := segment.flags
  header.flags.urg.removeAssignments() := sums.io.urgent
  header.service := peer.service
  header.ecnCapable := segment.ecnCapable
  header.window := segment.window
  header.urgentPointer := sums.io.urgentPointer
  header.ipLength := sums.io.ipLength
  header.options := options.io.options
  header.optionWords := options.io.words
  header.ipSum := sums.io.ipSum
  header.tcpSum := sums.io.tcpSum

  // Addresses and lengths stand; the sum of the IPv4 header, in word 3, and each word of options do when it is their
  // turn.
  serialiser.io.starts := job.valid && step === SegmentBuilder.firstWordStep
  serialiser.io.header := header
  serialiser.io.local := io.local
  io.words << serialiser.io.words

  assert(!(done && !segment.release && U(config.mtu) < header.ipLength), "a segment is longer than the MTU")

  // The last step: into one of two lines.
  private val waiting = WaitingFlows(config.flowBits, Transmitter.maxFrames(config))
  waiting.io.enters.valid := io.data.fire && !segment.release
  waiting.io.enters.payload := segment.reference.flow
  waiting.io.leaves := io.dataLeaves
  waiting.io.flow := segment.reference.flow
  private val occupiesNumbers = job.hasPayload || segment.flags.syn || segment.flags.fin
  private val mayOvertake = RegNextWhen(
    !segment.release && !occupiesNumbers && segment.mode === LaunchMode.asap, first)
  private val isImmediate = RegInit(False)
  when(first)(isImmediate := False)
  when(step === 1)(isImmediate := mayOvertake && (job.stateless || !waiting.io.waits))
  io.wordsAreImmediate := RegNext(isImmediate)
  io.immediate.valid := done && isImmediate
  io.immediate.payload := header

  io.data.valid := done && !isImmediate
  io.data.release := segment.release
  io.data.reference := segment.reference
  io.data.frame.header := header
  io.data.frame.hasPayload := job.hasPayload
  io.data.frame.lastByte := sums.io.lastByte
  io.data.frame.mode := segment.mode
  io.data.frame.launch := segment.launch
  io.data.frame.tag := segment.stamped ? io.tags.tag | U(0, 16 bits)

  private val numbers = segment.length +^ U(segment.flags.syn) + U(segment.flags.fin)
  io.tags.take.valid := io.data.fire && segment.stamped && !segment.release
  io.tags.take.reference := segment.reference
  io.tags.take.timed := segment.mode === LaunchMode.at
  io.tags.take.launch := segment.launch.ns.resized
  io.tags.take.end := segment.sequence + RegNextWhen(numbers, step === 1)

  job.ready := done && (isImmediate ? io.immediate.ready | io.data.ready)
  io.idle := !job.valid
}

object SegmentBuilder {
  private val firstWordStep = 2
}
