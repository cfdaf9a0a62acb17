// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.registers

import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif._

/** Ways to declare registers one after another. */
class RegisterDeclarations(map: BusIf) {
  def startAt(address: Int): Unit = {
    require(map.getRegPtr() <= address, s"the registers before $address reach to ${map.getRegPtr()}: move it up")
    map.regPtrReAnchorAt(address)
  }

  def register(name: String, doc: String): RegInst = map.newReg(doc)(SymbolName(name))

  /** A register of one field. */
  def value(name: String, width: Int, access: AccessType, doc: String): Bits =
    value(register(name, doc), width, access, doc)
  private def value(register: RegInst, width: Int, access: AccessType, doc: String): Bits =
    register.field(Bits(width bits), access, 0, doc)(SymbolName("value"))

  /** Not RegIf's own way to say it, which gives the field no name. */
  def constant(register: RegInst, field: String, width: Int, number: BigInt, doc: String): Unit = {
    val bits = B(number, width bits).setName(field, weak = true)
    register.registerInOnlyReadLogic(bits, AccessType.ROV, number, doc)
  }
  def constant(name: String, number: BigInt, doc: String): Unit =
    constant(register(name, doc), "value", 32, number, doc)

  /** Status of the core: one register, or two of which the second one, `..._high`, has the bits from 32 on. */
  def shown(name: String, bits: Bits, doc: String): Seq[RegInst] =
    for ((part, half) <- Seq("", "_high").zip(bits.subdivideIn(32 bits, strict = false))) yield {
      val shows = register(name + part, doc)
      value(shows, widthOf(half), AccessType.RO, doc) := half
      shows
    }

  def registers: Seq[RegInst] = map.RegInsts.toSeq

  /** True at the addresses of registers with such a field. */
  def haveField(address: UInt, has: Field => Boolean): Bool =
    registers.filter(_.getFields().filterNot(_.getAccessType() == AccessType.NA).exists(has))
      .map(register => address === U(register.getAddr(), widthOf(address) bits)).orR
}
