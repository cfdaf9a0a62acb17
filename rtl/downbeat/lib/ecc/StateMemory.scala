// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib.ecc

import spinal.core._

/** A memory of flows' state: with `ecc` each word has check bits ([[Secded]]), and a read corrects a flipped bit. The
  * word is encoded in the clock of its write and decoded in the clock in which it leaves the memory.
  *
  * Reads with a flip are counted ([[FlipCounts]]). Where not every read that is enabled means something, `read` and
  * `readAsync` say which ones count.
  */
object StateMemory {
  def apply[T <: Data](ecc: Boolean, word: HardType[T], words: Int): Mem[T] =
    if (ecc) new ProtectedMemory(word, words) else Mem(word, words)

  /** `counts` holds in the clock in which the word leaves the memory. Who reads in this way tells of two flips. */
  def read[T <: Data](memory: Mem[T], address: UInt, enable: Bool, counts: => Bool): Decoded[T] = memory match {
    case memory: ProtectedMemory[T] => memory.read(address, enable, counts)
    case _ => Decoded(memory.readSync(address, enable), False, False)
  }

  def readAsync[T <: Data](memory: Mem[T], address: UInt, counts: => Bool): T = memory match {
    case memory: ProtectedMemory[T] => memory.readAsync(address, counts)
    case _ => memory.readAsync(address)
  }

  /** A write stores a word with two flips where `poison` holds. To be called before the write. */
  def poison[T <: Data](memory: Mem[T], poison: Bool): Unit = memory match {
    case memory: ProtectedMemory[T] => memory.poison = Some(poison)
    case _ =>
  }
}

/** @see [[StateMemory]] */
class ProtectedMemory[T <: Data](word: HardType[T], words: Int) extends Mem[T](word, words) {
  private val code = Secded(widthOf(word()))
  private val check = Mem(Bits(code.checkBits bits), words).setCompositeName(this, "check", weak = true)
  private[ecc] var poison: Option[Bool] = None

  private def decode(stored: T, checks: Bits): Decoded[T] = {
    val bits = code.decode(stored.asBits, checks)
    val read = word()
    read.assignFromBits(bits.word)
    Decoded(read, bits.corrected, bits.uncorrectable)
  }

  private[ecc] def read(address: UInt, enable: Bool, counts: => Bool): Decoded[T] = {
    val result = decode(super.readSync(address, enable), check.readSync(address, enable))
    FlipCounts.countCorrected(result.corrected && counts)
    result
  }

  private[ecc] def readAsync(address: UInt, counts: => Bool): T = {
    val result = decode(super.readAsync(address), check.readAsync(address))
    FlipCounts.countCorrected(result.corrected && counts)
    FlipCounts.countUncorrectable(result.uncorrectable && counts)
    result.word
  }

  override def readSync(
      address: UInt, enable: Bool, readUnderWrite: ReadUnderWritePolicy, clockCrossing: Boolean): T = {
    val result = decode(
      super.readSync(address, enable, readUnderWrite, clockCrossing),
      check.readSync(address, enable, readUnderWrite, clockCrossing))
    // Without `enable` a word may stay in sight: it counts once.
    val counts =
      if (enable == null) !(RegNext(result.corrected || result.uncorrectable) init False)
      else RegNext(enable) init False
    FlipCounts.countCorrected(result.corrected && counts)
    FlipCounts.countUncorrectable(result.uncorrectable && counts)
    result.word
  }

  override def readAsync(address: UInt, readUnderWrite: ReadUnderWritePolicy): T = readAsync(address, True)

  override def write(address: UInt, data: T, enable: Bool, mask: Bits): Unit = {
    require(mask == null, "a word with check bits is written as a whole")
    super.write(address, data, enable)
    val checks = code.encode(data.asBits)
    check.write(address, poison.fold(checks)(poison => checks ^ (poison ## poison).resize(code.checkBits)), enable)
  }

  override def addAttribute(attribute: Attribute): this.type = {
    check.addAttribute(attribute)
    super.addAttribute(attribute)
  }
}
