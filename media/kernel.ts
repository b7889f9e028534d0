/**
 * The loops that every millisecond of every caller's audio runs through, in WebAssembly. One instruction handles eight samples,
 * and V8 need not check before each access whether the memory was detached, as for typed arrays in a process whose sockets lend
 * memory. The text below is assembled when this module is loaded.
 *
 * One memory serves all streams. Its contents do not outlive one call of their user.
 */
import { startWasm } from './wasm.ts';

/** Largest number of samples that `spread` takes. `filter`, which reads whole vectors, may read beyond the last sample. */
export const MOST_SAMPLES = 736;
/** Largest number of planes over which `spread` can distribute samples. */
const MOST_PLANES = 24;
export const MOST_WEIGHTS = 256;

const INPUT = 0;
const WEIGHTS = 2 * 1_024;
const OUTPUT = 4 * 1_024;
const OUTPUT_BYTES = 8 * 1_024;
const TABLES = OUTPUT + OUTPUT_BYTES;
/** Number of samples encoded in a byte. */
const TABLE_SAMPLES = 256;
/** Number of G.711 tables, one for each law. */
const MOST_TABLES = 2;
const PLANES = 16 * 1_024;
/**
 * Samples per plane. Not a power of two, because samples of the same time in many planes would compete for the same cache
 * lines.
 */
const PLANE = 4 * MOST_SAMPLES + 64;
const PAGES = Math.ceil((PLANES + MOST_PLANES * PLANE) / 65_536);

const MODULE = `
(module
  (memory (export "memory") ${PAGES})

  ;; Sample i of the input becomes a float at place i / planes of plane i % planes.
  (func (export "spread") (param $count i32) (param $planes i32)
    (local $i i32) (local $plane i32) (local $row i32)
    (local.set $row (i32.const ${PLANES}))
    (if (i32.eq (local.get $planes) (i32.const 1))
      (then
        (loop $eight
          (v128.store (local.get $row)
            (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (v128.load (local.get $i)))))
          (v128.store offset=16 (local.get $row)
            (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (v128.load (local.get $i)))))
          (local.set $row (i32.add (local.get $row) (i32.const 32)))
          (local.set $i (i32.add (local.get $i) (i32.const 16)))
          (br_if $eight (i32.lt_u (local.get $i) (i32.mul (local.get $count) (i32.const 2))))))
      (else
        (loop $one
          (f32.store
            (i32.add (local.get $row) (i32.mul (local.get $plane) (i32.const ${PLANE})))
            (f32.convert_i32_s (i32.load16_s (local.get $i))))
          (local.set $plane (i32.add (local.get $plane) (i32.const 1)))
          (if (i32.eq (local.get $plane) (local.get $planes))
            (then
              (local.set $plane (i32.const 0))
              (local.set $row (i32.add (local.get $row) (i32.const 4)))))
          (local.set $i (i32.add (local.get $i) (i32.const 2)))
          (br_if $one (i32.lt_u (local.get $i) (i32.mul (local.get $count) (i32.const 2))))))))

  ;; Output n is the sum of weight k times sample first + n * planes + k, rounded and clipped to 16 bits, at the byte
  ;; out + n * stride. Every sum adds in one order. Eight are written at a time: what follows the last is spoilt.
  (func (export "filter")
    (param $first i32) (param $planes i32) (param $weights i32)
    (param $out i32) (param $stride i32) (param $count i32)
    (local $from i32) (local $plane i32) (local $at i32) (local $weight i32) (local $end i32)
    (local $back i32)
    (local $w v128) (local $low v128) (local $high v128)
    (local.set $from
      (i32.add
        (i32.add
          (i32.const ${PLANES})
          (i32.mul (i32.rem_u (local.get $first) (local.get $planes)) (i32.const ${PLANE})))
        (i32.mul (i32.div_u (local.get $first) (local.get $planes)) (i32.const 4))))
    ;; From behind the last plane to the next place of the first.
    (local.set $back
      (i32.sub (i32.const 4) (i32.mul (local.get $planes) (i32.const ${PLANE}))))
    (local.set $end
      (i32.add (i32.const ${WEIGHTS}) (i32.mul (local.get $weights) (i32.const 4))))
    (loop $eight
      (local.set $at (local.get $from))
      (local.set $plane (i32.rem_u (local.get $first) (local.get $planes)))
      (local.set $weight (i32.const ${WEIGHTS}))
      (local.set $low (v128.const i32x4 0 0 0 0))
      (local.set $high (v128.const i32x4 0 0 0 0))
      (loop $tap
        (local.set $w (v128.load32_splat (local.get $weight)))
        (local.set $low
          (f32x4.add (local.get $low) (f32x4.mul (local.get $w) (v128.load (local.get $at)))))
        (local.set $high
          (f32x4.add (local.get $high)
            (f32x4.mul (local.get $w) (v128.load offset=16 (local.get $at)))))
        (local.set $at (i32.add (local.get $at) (i32.const ${PLANE})))
        (local.set $plane (i32.add (local.get $plane) (i32.const 1)))
        (if (i32.eq (local.get $plane) (local.get $planes))
          (then
            (local.set $plane (i32.const 0))
            (local.set $at (i32.add (local.get $at) (local.get $back)))))
        (local.set $weight (i32.add (local.get $weight) (i32.const 4)))
        (br_if $tap (i32.lt_u (local.get $weight) (local.get $end))))
      (local.set $low
        (i16x8.narrow_i32x4_s
          (i32x4.trunc_sat_f32x4_s (f32x4.nearest (local.get $low)))
          (i32x4.trunc_sat_f32x4_s (f32x4.nearest (local.get $high)))))
${storeLanes()}
      (local.set $from (i32.add (local.get $from) (i32.const 32)))
      (local.set $count (i32.sub (local.get $count) (i32.const 8)))
      (br_if $eight (i32.gt_s (local.get $count) (i32.const 0)))))

  ;; Each byte of the input becomes the sample that it stands for in the table at $table. Four are read at a time: what
  ;; follows the last is spoilt.
  (func (export "expand") (param $count i32) (param $table i32)
    (local $i i32) (local $out i32)
    (local.set $out (i32.const ${OUTPUT}))
    (loop $four
${expandFour()}
      (local.set $i (i32.add (local.get $i) (i32.const 4)))
      (local.set $out (i32.add (local.get $out) (i32.const 8)))
      (br_if $four (i32.lt_u (local.get $i) (local.get $count)))))

  ;; The sum of the squares of the input, whose count is a multiple of eight.
  (func (export "squares") (param $count i32) (result f64)
    (local $i i32) (local $x v128) (local $sum v128)
    (loop $eight
      (local.set $x (v128.load (local.get $i)))
      ;; Two squares fill 32 bits without a sign.
      (local.set $x (i32x4.dot_i16x8_s (local.get $x) (local.get $x)))
      (local.set $sum
        (i64x2.add (local.get $sum)
          (i64x2.add
            (i64x2.extend_low_i32x4_u (local.get $x))
            (i64x2.extend_high_i32x4_u (local.get $x)))))
      (local.set $i (i32.add (local.get $i) (i32.const 16)))
      (br_if $eight (i32.lt_u (local.get $i) (i32.mul (local.get $count) (i32.const 2)))))
    (f64.convert_i64_u
      (i64.add
        (i64x2.extract_lane 0 (local.get $sum))
        (i64x2.extract_lane 1 (local.get $sum))))))
`;

function storeLanes(): string {
  const lanes = Array.from(
    { length: 8 },
    (_, lane) => `      (v128.store16_lane ${lane} (local.get $out) (local.get $low))
      (local.set $out (i32.add (local.get $out) (local.get $stride)))`,
  );
  return lanes.join('\n');
}

function expandFour(): string {
  const sampleOf = (lane: number) =>
    `(i32.load16_u (i32.add (local.get $table)
        (i32.shl (i32.load8_u offset=${lane} (local.get $i)) (i32.const 1))))`;
  return [0, 1, 2, 3]
    .map((lane) => `      (i32.store16 offset=${2 * lane} (local.get $out) ${sampleOf(lane)})`)
    .join('\n');
}

type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Arranges the first `count` samples of `input` for `filter`, by their index modulo `planes`. */
  spread(count: number, planes: number): void;
  /**
   * Writes `count` weighted sums to `output`, from the byte `out` on, every `stride` bytes, with the first `weights` weights.
   */
  filter(
    first: number,
    planes: number,
    weights: number,
    out: number,
    stride: number,
    count: number,
  ): void;
  /** Fills `output` with the samples that the first `count` of `bytes` encode, by the table at the byte `table`. */
  expand(count: number, table: number): void;
  /** Returns the sum of the squares of the first `count` samples of `input`. `count` is a multiple of eight. */
  squares(count: number): number;
};

const { expand, filter, memory, spread, squares } = startWasm<Exports>(MODULE);

export const kernel = {
  input: new Int16Array(memory.buffer, INPUT, MOST_SAMPLES),
  /** A view of `input`'s memory as bytes. */
  bytes: new Uint8Array(memory.buffer, INPUT, 2 * MOST_SAMPLES),
  weights: new Float32Array(memory.buffer, WEIGHTS, MOST_WEIGHTS),
  output: new Int16Array(memory.buffer, OUTPUT, OUTPUT_BYTES / 2),
  /** Offset in bytes of `output` in the kernel's memory. */
  outputByte: OUTPUT,
  expand,
  spread,
  filter,
  squares,
} as const;

let tables = 0;

/** Stores the sample of each byte of a coding. Returns the byte at which its table begins. */
export function keepTable(samples: Int16Array): number {
  if (tables === MOST_TABLES) throw new RangeError('the kernel has no room for that table');
  const at = TABLES + 2 * TABLE_SAMPLES * tables++;
  new Int16Array(memory.buffer, at, TABLE_SAMPLES).set(samples);
  return at;
}
