// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib._

/** floor(cube root) of a value of 3 x rootBits, one at a time, a bit of the root in four clocks (Warren, Hacker's Delight, 11-2).
  *
  * With root r of the bits so far, the next bit is one if the remainder is at least (2 r + 1)^3 - (2 r)^3 = 12 r^2 + 6 r + 1. r^2 is kept in a
  * register in place of a product.
  */
case class CubeRoot(rootBits: Int) extends Component {
  val io = new Bundle {
    val value = slave(Stream(UInt(3 * rootBits bits)))
    /** Valid for one clock. */
    val root = master(Flow(UInt(rootBits bits)))
  }
  noIoPrefix()

  private val value = Reg(UInt(3 * rootBits bits))
  private val root = Reg(UInt(rootBits bits))
  private val square = Reg(UInt(2 * rootBits bits))
  private val remainder, half, needed = Reg(UInt(2 * rootBits + 5 bits))
  private val busy = RegInit(False)
  private val left = Reg(SInt(2 * rootBits + 6 bits))
  private val phase = Counter(4)
  private val bit = Counter(rootBits)

  io.value.ready := !busy
  when(io.value.fire) {
    value := io.value.payload
    root := 0
    square := 0
    remainder := 0
    busy := True
  }
  when(busy) {
    phase.increment()
    switch(phase.value) {
      is(0) {
        half := (square << 1).resize(2 * rootBits + 5) + root.resize(2 * rootBits + 5)
        remainder := (remainder @@ value(3 * rootBits - 1 downto 3 * rootBits - 3)).resized
      }
      is(1) {
        needed := ((half << 2) + (half << 1).resize(2 * rootBits + 7)).resize(2 * rootBits + 5) | 1
        value := (value << 3).resized
      }
      is(2)(left := (remainder -^ needed).asSInt)
      is(3) {
        root := (root @@ !left.msb).resized
        square := (square << 2).resized
        when(!left.msb) {
          remainder := left.asUInt.resized
          square := ((square << 2).resize(2 * rootBits) + (root << 2).resize(2 * rootBits)) | 1
        }
        bit.increment()
      }
    }
  }
  when(bit.willOverflow)(busy := False)
  io.root.valid := RegNext(bit.willOverflow) init False
  io.root.payload := root
}
