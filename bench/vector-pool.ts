import { startWasm } from '../media/wasm.ts';
import { chanceOf, randomVector, toUnit } from '../test/support/unit-vectors.ts';

/** Each of a row's parts is added to a lane; rows begin behind the query and the scores. */
const FLOOR = (pages: number) => `
(module
  (memory (export "memory") ${pages})
  (func (export "score")
    (param $query i32) (param $bytes i32) (param $row i32) (param $rows i32) (param $out i32)
    (local $at i32) (local $end i32) (local $a v128) (local $b v128)
    (local.set $end (i32.add (local.get $query) (local.get $bytes)))
    (loop $one
      (local.set $a (v128.const i32x4 0 0 0 0))
      (local.set $b (v128.const i32x4 0 0 0 0))
      (local.set $at (local.get $query))
      (loop $eight
        (local.set $a
          (f32x4.add (local.get $a)
            (f32x4.mul (v128.load (local.get $at)) (v128.load (local.get $row)))))
        (local.set $b
          (f32x4.add (local.get $b)
            (f32x4.mul (v128.load offset=16 (local.get $at)) (v128.load offset=16 (local.get $row)))))
        (local.set $row (i32.add (local.get $row) (i32.const 32)))
        (local.set $at (i32.add (local.get $at) (i32.const 32)))
        (br_if $eight (i32.lt_u (local.get $at) (local.get $end))))
      (local.set $a (f32x4.add (local.get $a) (local.get $b)))
      (f32.store (local.get $out)
        (f32.add
          (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
          (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))
      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br_if $one (local.get $rows))))
)`;

type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer };
  score(query: number, bytes: number, row: number, rows: number, out: number): void;
};

/** Vectors, and the plain search through them all in Float32 that an index has to beat. */
export type VectorPool = {
  readonly vectors: readonly Float32Array[];
  /** The places of the k best. */
  bruteForce(query: Float32Array, k: number): number[];
};

/** So many vectors around a thousand centres, as far from them as texts of one subject are from each other. */
export function makePool(count: number, dims: number): VectorPool {
  const queryAt = 0;
  const scoresAt = dims * 4;
  const rowsAt = scoresAt + Math.ceil(count / 4) * 16;
  const bytes = rowsAt + count * dims * 4;
  const { memory, score } = startWasm<Exports>(FLOOR(Math.ceil(bytes / 65_536)));
  const query = new Float32Array(memory.buffer, queryAt, dims);
  const scores = new Float32Array(memory.buffer, scoresAt, count);
  const chance = chanceOf(1);
  const centres = Array.from({ length: 1_000 }, () => randomVector(chance, dims));
  const vectors = Array.from({ length: count }, (_, i) => {
    const vector = new Float32Array(memory.buffer, rowsAt + i * dims * 4, dims);
    const centre = centres[Math.floor(chance() * centres.length)] ?? vector;
    fill(vector, centre, chance);
    return vector;
  });
  return {
    vectors,
    bruteForce(asked, k) {
      query.set(asked);
      score(queryAt, dims * 4, rowsAt, count, scoresAt);
      return best(scores, k);
    },
  };
}

/** Near the vector of some row, as a question is near to what answers it. */
export function queriesNear({ vectors }: VectorPool, count: number): Float32Array[] {
  const chance = chanceOf(2);
  const spread = Math.sqrt(12 / (vectors[0]?.length ?? 1));
  return Array.from({ length: count }, () => {
    const near = vectors[Math.floor(chance() * vectors.length)] ?? new Float32Array(0);
    return toUnit(near.map((value) => value + (chance() - 0.5) * spread));
  });
}

/** A centre and as much chance again, at the length 1. */
function fill(vector: Float32Array, centre: Float32Array, chance: () => number): void {
  const spread = Math.sqrt(12 / vector.length);
  let squares = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = (centre[i] ?? 0) + (chance() - 0.5) * spread;
    vector[i] = value;
    squares += value * value;
  }
  const scale = 1 / Math.sqrt(squares);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) * scale;
}

function best(scores: Float32Array, k: number): number[] {
  const places: number[] = [];
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i] ?? 0;
    if (places.length === k && score <= (scores[places[k - 1] ?? 0] ?? 0)) continue;
    let at = places.length;
    while (at > 0 && (scores[places[at - 1] ?? 0] ?? 0) < score) at--;
    places.splice(at, 0, i);
    if (places.length > k) places.pop();
  }
  return places;
}
