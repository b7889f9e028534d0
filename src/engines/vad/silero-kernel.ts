/**
 * The inner loop of the voice-activity model in WebAssembly: multiplies rows of weights by a vector, eight products at a time.
 * The text below is assembled when a kernel is created.
 */
import { startWasm } from '../../../media/wasm.ts';

/** Lengths of vectors and rows are multiples of this number of floats: shorter ones end in zeros. */
const STEP = 8;
const PAGE_FLOATS = 16_384;

const textOf = (pages: number) => `
(module
  (memory (export "memory") ${pages})

  ;; Each output is a bias and the sum of a row's weights times the values, or $least where that is greater.
  (func (export "apply")
    (param $weight i32) (param $bias i32) (param $values i32) (param $bytes i32)
    (param $out i32) (param $rows i32) (param $least f32)
    (local $at i32) (local $end i32) (local $last i32) (local $sum v128) (local $more v128)
    (local.set $end (i32.add (local.get $values) (local.get $bytes)))
    (local.set $last (i32.add (local.get $out) (i32.mul (local.get $rows) (i32.const 4))))
    (loop $row
      (local.set $at (local.get $values))
      (local.set $sum (v128.const i32x4 0 0 0 0))
      (local.set $more (v128.const i32x4 0 0 0 0))
      (loop $eight
        (local.set $sum
          (f32x4.add (local.get $sum)
            (f32x4.mul (v128.load (local.get $weight)) (v128.load (local.get $at)))))
        (local.set $more
          (f32x4.add (local.get $more)
            (f32x4.mul
              (v128.load offset=16 (local.get $weight))
              (v128.load offset=16 (local.get $at)))))
        (local.set $weight (i32.add (local.get $weight) (i32.const 32)))
        (local.set $at (i32.add (local.get $at) (i32.const 32)))
        (br_if $eight (i32.lt_u (local.get $at) (local.get $end))))
      (local.set $sum (f32x4.add (local.get $sum) (local.get $more)))
      (f32.store (local.get $out)
        (f32.max
          (local.get $least)
          (f32.add
            (f32.load (local.get $bias))
            (f32.add
              (f32.add
                (f32x4.extract_lane 0 (local.get $sum))
                (f32x4.extract_lane 1 (local.get $sum)))
              (f32.add
                (f32x4.extract_lane 2 (local.get $sum))
                (f32x4.extract_lane 3 (local.get $sum)))))))
      (local.set $bias (i32.add (local.get $bias) (i32.const 4)))
      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (br_if $row (i32.lt_u (local.get $out) (local.get $last))))))
`;

type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer };
  apply(
    weights: number,
    biases: number,
    values: number,
    bytes: number,
    out: number,
    rows: number,
    least: number,
  ): void;
};

/** A layer of the model in a kernel's memory: rows of weights, and one bias per row. */
export type Layer = {
  readonly rows: number;
  readonly columns: number;
  readonly weightsAt: number;
  readonly biasesAt: number;
};

/** Returns the length of a vector of `count` values with the zeros at its end. */
export const padded = (count: number): number => Math.ceil(count / STEP) * STEP;

/** Memory for layers and for the vectors that they are applied to. Positions are counted in floats. */
export class Kernel {
  readonly floats: Float32Array;
  readonly #apply: Exports['apply'];
  #taken = 0;

  constructor(floats: number) {
    const { apply, memory } = startWasm<Exports>(textOf(Math.ceil(floats / PAGE_FLOATS)));
    this.floats = new Float32Array(memory.buffer);
    this.#apply = apply;
  }

  /** Reserves memory for `count` zeros and returns its place. */
  take(count: number): number {
    const at = this.#taken;
    this.#taken += padded(count);
    if (this.#taken > this.floats.length) throw new RangeError('the kernel has no room for that');
    return at;
  }

  /** Stores a layer: one row of weights per bias. */
  layer(rows: readonly ArrayLike<number>[], biases: ArrayLike<number>): Layer {
    const columns = padded(rows[0]?.length ?? 0);
    const weightsAt = this.take(rows.length * columns);
    for (const [row, weights] of rows.entries())
      this.floats.set(weights, weightsAt + row * columns);
    const biasesAt = this.take(rows.length);
    this.floats.set(biases, biasesAt);
    return { rows: rows.length, columns, weightsAt, biasesAt };
  }

  /** Applies a layer to the vector at `valuesAt` and writes one value per row to `outAt`, at least `least`. */
  apply(layer: Layer, valuesAt: number, outAt: number, least = Number.NEGATIVE_INFINITY): void {
    const { biasesAt, columns, rows, weightsAt } = layer;
    this.#apply(4 * weightsAt, 4 * biasesAt, 4 * valuesAt, 4 * columns, 4 * outAt, rows, least);
  }
}
