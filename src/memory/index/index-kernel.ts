/**
 * Loops over the vectors of the index, in WebAssembly: coarse products of four rows with eight numbers at a time, and exact
 * products for the few rows that may be among the best. The text below is assembled when a kernel is created.
 */
import { startWasm } from '../../../media/wasm.ts';

/**
 * Largest whole number of a row, which is a byte. A query's numbers may be larger at no cost, and the sums still fit 32 bits.
 */
const ROW_MOST = 127;
const QUERY_MOST = 2_047;

/** Returns code that adds eight products of a row to the row's sum. Each lane holds a part of the sum. */
const dotEight = (row: number, offset: number) => `
          (local.set $sum${row}
            (i32x4.add (local.get $sum${row})
              (i32x4.dot_i16x8_s
                (v128.load8x8_s offset=${16 * row + offset} (local.get $rows))
                (local.get $q))))`;

const FOUR = [0, 1, 2, 3] as const;
const each = (text: (row: number) => string) => FOUR.map(text).join('');

/** Returns code that adds the second half of each of two sums to its first half. The result's lanes alternate: `a`, `b`. */
const pairs = (a: string, b: string) => `
        (i32x4.add
          (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23
            (local.get ${a}) (local.get ${b}))
          (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31
            (local.get ${a}) (local.get ${b})))`;

const lane = (row: number) => `
            (i32.store (local.get $out) (i32.add (local.get $index) (i32.const ${row})))
            (f32.store offset=4 (local.get $out) (f32x4.extract_lane ${row} (local.get $upper)))
            (local.set $out
              (i32.add (local.get $out)
                (i32.shl
                  (i32.and (i32.shr_u (local.get $mask) (i32.const ${row})) (i32.const 1))
                  (i32.const 3))))`;

const exactTwo = (offset: number, sum: string) => `
      (local.set ${sum}
        (f64x2.add (local.get ${sum})
          (f64x2.mul
            (f64x2.promote_low_f32x4 (v128.load64_zero offset=${offset} (local.get $row)))
            (v128.load offset=${2 * offset} (local.get $query)))))`;

const wholeFour = (part: number) => `
      (local.set $x (v128.load offset=${16 * part} (local.get $row)))
      (local.set $n${part}
        (f32x4.nearest (f32x4.mul (local.get $x) (f32x4.splat (local.get $steps)))))
      (local.set $x
        (f32x4.sub (local.get $x)
          (f32x4.mul (local.get $n${part}) (f32x4.splat (local.get $scale)))))
      (local.set $squares
        (f32x4.add (local.get $squares) (f32x4.mul (local.get $x) (local.get $x))))`;

const promoteTwo = (pair: number) => `
      (v128.store offset=${16 * pair} (local.get $exact)
        (f64x2.promote_low_f32x4 (v128.load64_zero offset=${8 * pair} (local.get $row))))`;

/** Returns WebAssembly for the scale of a vector at $row: its largest number divided by `most`. */
const scaleFor = (most: number) => `
    (local.set $end (i32.add (local.get $row) (i32.shl (local.get $stride) (i32.const 2))))
    (local.set $at (local.get $row))
    (loop $four
      (local.set $most (f32x4.max (local.get $most) (f32x4.abs (v128.load (local.get $at)))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $four (i32.lt_u (local.get $at) (local.get $end))))
    (local.set $scale
      (f32.div
        (f32.max
          (f32.max (f32x4.extract_lane 0 (local.get $most)) (f32x4.extract_lane 1 (local.get $most)))
          (f32.max (f32x4.extract_lane 2 (local.get $most)) (f32x4.extract_lane 3 (local.get $most))))
        (f32.const ${most})))
    ;; Below, one divided by the scale would not be finite: all of such a vector is error.
    (if (f32.lt (local.get $scale) (f32.const 1e-30))
      (then (local.set $scale (f32.const 0)))
      (else (local.set $steps (f32.div (f32.const 1) (local.get $scale)))))`;

const STORE_SCALE = `
    (f32.store (local.get $scaleAt) (local.get $scale))
    (f32.store (local.get $errorAt)
      (f32.sqrt
        (f32.add
          (f32.add
            (f32x4.extract_lane 0 (local.get $squares))
            (f32x4.extract_lane 1 (local.get $squares)))
          (f32.add
            (f32x4.extract_lane 2 (local.get $squares))
            (f32x4.extract_lane 3 (local.get $squares))))))`;

const narrowTwo = (a: number, b: number) => `
          (i16x8.narrow_i32x4_s
            (i32x4.trunc_sat_f32x4_s (local.get $n${a}))
            (i32x4.trunc_sat_f32x4_s (local.get $n${b})))`;

const MODULE = `
(module
  (memory (export "memory") 1 65536)

  ;; Adds pages of zeros; returns how many there were, or -1 where there is no memory for them.
  (func (export "grow") (param $pages i32) (result i32) (memory.grow (local.get $pages)))

  ;; Reads a byte of every line of the cache, and the last one.
  (func (export "touch") (param $at i32) (param $bytes i32) (result i32)
    (local $last i32) (local $sum i32)
    (local.set $last (i32.add (local.get $at) (i32.sub (local.get $bytes) (i32.const 1))))
    (loop $page
      (local.set $sum (i32.xor (local.get $sum) (i32.load8_u (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 64)))
      (br_if $page (i32.lt_u (local.get $at) (local.get $last))))
    (i32.xor (local.get $sum) (i32.load8_u (local.get $last))))

  ;; Writes the nearest whole numbers of a row, 16 at a time and 64 bytes from 16 to 16, their scale, and how far they are
  ;; from the row.
  (func (export "quantise")
    (param $row i32) (param $stride i32) (param $out i32) (param $scaleAt i32) (param $errorAt i32)
    (local $at i32) (local $end i32) (local $scale f32) (local $steps f32)
    (local $x v128) (local $most v128) (local $squares v128)
    (local $n0 v128) (local $n1 v128) (local $n2 v128) (local $n3 v128)
    ${scaleFor(ROW_MOST)}
    (loop $sixteen
      ${each(wholeFour)}
      (v128.store (local.get $out)
        (i8x16.narrow_i16x8_s ${narrowTwo(0, 1)} ${narrowTwo(2, 3)}))
      (local.set $out (i32.add (local.get $out) (i32.const 64)))
      (local.set $row (i32.add (local.get $row) (i32.const 64)))
      (br_if $sixteen (i32.lt_u (local.get $row) (local.get $end))))
    ${STORE_SCALE})

  ;; The same of a query, in 16 bits and in a row; and its numbers as Float64.
  (func (export "prepare")
    (param $row i32) (param $stride i32) (param $out i32) (param $exact i32)
    (param $scaleAt i32) (param $errorAt i32)
    (local $at i32) (local $end i32) (local $scale f32) (local $steps f32)
    (local $x v128) (local $most v128) (local $squares v128)
    (local $n0 v128) (local $n1 v128) (local $n2 v128) (local $n3 v128)
    ${scaleFor(QUERY_MOST)}
    (loop $sixteen
      ${each(wholeFour)}
      (v128.store (local.get $out) ${narrowTwo(0, 1)})
      (v128.store offset=16 (local.get $out) ${narrowTwo(2, 3)})
      ${[0, 1, 2, 3, 4, 5, 6, 7].map(promoteTwo).join('')}
      (local.set $exact (i32.add (local.get $exact) (i32.const 128)))
      (local.set $out (i32.add (local.get $out) (i32.const 32)))
      (local.set $row (i32.add (local.get $row) (i32.const 64)))
      (br_if $sixteen (i32.lt_u (local.get $row) (local.get $end))))
    ${STORE_SCALE})

  ;; Writes the index and the highest possible score of each row that may reach $least; returns the end of what it wrote.
  (func (export "scan")
    (param $rows i32) (param $scales i32) (param $errors i32) (param $groups i32)
    (param $query i32) (param $stride i32)
    (param $scale f32) (param $wide f32) (param $slack f32) (param $least f32) (param $out i32)
    (result i32)
    (local $index i32) (local $at i32) (local $end i32) (local $mask i32)
    (local $q v128) (local $sum0 v128) (local $sum1 v128) (local $sum2 v128) (local $sum3 v128)
    (local $upper v128)
    (local.set $end (i32.add (local.get $query) (i32.shl (local.get $stride) (i32.const 1))))
    (loop $group
      ${each((row) => `(local.set $sum${row} (v128.const i32x4 0 0 0 0))`)}
      (local.set $at (local.get $query))
      (loop $sixteen
        (local.set $q (v128.load (local.get $at)))
        ${each((row) => dotEight(row, 0))}
        (local.set $q (v128.load offset=16 (local.get $at)))
        ${each((row) => dotEight(row, 8))}
        (local.set $rows (i32.add (local.get $rows) (i32.const 64)))
        (local.set $at (i32.add (local.get $at) (i32.const 32)))
        (br_if $sixteen (i32.lt_u (local.get $at) (local.get $end))))
      (local.set $sum0 ${pairs('$sum0', '$sum1')})
      (local.set $sum2 ${pairs('$sum2', '$sum3')})
      (local.set $upper
        (f32x4.add
          (f32x4.add
            (f32x4.mul
              (f32x4.convert_i32x4_s
                (i32x4.add
                  (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
                    (local.get $sum0) (local.get $sum2))
                  (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31
                    (local.get $sum0) (local.get $sum2))))
              (f32x4.mul (v128.load (local.get $scales)) (f32x4.splat (local.get $scale))))
            (f32x4.mul (v128.load (local.get $errors)) (f32x4.splat (local.get $wide))))
          (f32x4.splat (local.get $slack))))
      (local.set $mask
        (i32x4.bitmask (f32x4.ge (local.get $upper) (f32x4.splat (local.get $least)))))
      (if (local.get $mask) (then ${each(lane)}))
      (local.set $scales (i32.add (local.get $scales) (i32.const 16)))
      (local.set $errors (i32.add (local.get $errors) (i32.const 16)))
      (local.set $index (i32.add (local.get $index) (i32.const 4)))
      (local.set $groups (i32.sub (local.get $groups) (i32.const 1)))
      (br_if $group (local.get $groups)))
    (local.get $out))

  ;; The sum of a row's Float32 numbers times the query's Float64 ones, always added in the same order.
  (func (export "score") (param $row i32) (param $query i32) (param $stride i32) (result f64)
    (local $end i32) (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local.set $end (i32.add (local.get $query) (i32.shl (local.get $stride) (i32.const 3))))
    (loop $eight
      ${exactTwo(0, '$a')}
      ${exactTwo(8, '$b')}
      ${exactTwo(16, '$c')}
      ${exactTwo(24, '$d')}
      (local.set $row (i32.add (local.get $row) (i32.const 32)))
      (local.set $query (i32.add (local.get $query) (i32.const 64)))
      (br_if $eight (i32.lt_u (local.get $query) (local.get $end))))
    (local.set $a
      (f64x2.add
        (f64x2.add (local.get $a) (local.get $b))
        (f64x2.add (local.get $c) (local.get $d))))
    (f64.add (f64x2.extract_lane 0 (local.get $a)) (f64x2.extract_lane 1 (local.get $a)))))
`;

export type IndexKernel = {
  /** Memory of the kernel. `buffer` is another object after the memory has grown. */
  readonly memory: { readonly buffer: ArrayBuffer };
  grow(pages: number): number;
  /**
   * Reads a little of each cache line. The processor fetches many lines at the same time here, but fewer while it computes with
   * their contents.
   */
  touch(at: number, bytes: number): number;
  /**
   * Writes the coarse form of the Float32 row at `row`: whole numbers to `out` in the layout of `scan`, and the scale and the
   * error, in Float32, to `scaleAt` and `errorAt`.
   */
  quantise(row: number, stride: number, out: number, scaleAt: number, errorAt: number): void;
  /**
   * Writes the coarse form of a query, in 16 bits and as one row, to `out`, and its numbers in Float64 to `exact`; otherwise as
   * `quantise`.
   */
  prepare(
    row: number,
    stride: number,
    out: number,
    exact: number,
    scaleAt: number,
    errorAt: number,
  ): void;
  /**
   * Scans `groups` groups of four rows, at least one group. A group holds 16 numbers of the first row, 16 of the second and so
   * on, then the next 16 of the first row, because adjacent memory is read fastest. For each row whose score may reach `least`,
   * writes its number (Int32) and its highest possible score (Float32) to `out`. Returns the end of the written bytes.
   */
  scan(
    rows: number,
    scales: number,
    errors: number,
    groups: number,
    query: number,
    stride: number,
    scale: number,
    wide: number,
    slack: number,
    least: number,
    out: number,
  ): number;
  score(row: number, query: number, stride: number): number;
};

export const startIndexKernel = (): IndexKernel => startWasm<IndexKernel>(MODULE);
