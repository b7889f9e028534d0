import type { SchemaWorld } from './schema-world.ts';
import { boundOf } from './schema-world.ts';

/** Steps that are tried before fractions are, and then in all. */
const FEW = 24;
const MANY = 5_000;

/** Numbers that may be in a world, the plainest first; whether one is, is for `admits` to say. */
export function* numbersOf(world: SchemaWorld, isWhole: boolean): Generator<number> {
  const least = greatestOf([
    boundOf(world, 'minimum', 'greatest'),
    boundOf(world, 'exclusiveMinimum', 'greatest'),
  ]);
  const most = leastOf([
    boundOf(world, 'maximum', 'least'),
    boundOf(world, 'exclusiveMaximum', 'least'),
  ]);
  const step = boundOf(world, 'multipleOf', 'greatest') ?? 1;
  if (!(step > 0)) return;
  const near = least ?? (most !== undefined && most < 1 ? most : 0);
  for (const value of [1, 0, near]) if (!isWhole || Number.isInteger(value)) yield value;
  const first = Math.ceil(near / step);
  const last = most === undefined ? undefined : Math.floor(most / step);
  const steps = function* (from: number, to: number) {
    for (let i = from; i < to; i++) {
      yield (first + i) * step;
      if (least === undefined) yield (first - i) * step;
      if (last !== undefined) yield (last - i) * step;
    }
  };
  yield* steps(0, FEW);
  if (!isWhole) {
    const low = least ?? (most ?? 1) - 1;
    for (const high of [most ?? low + 1, low + 1]) {
      for (let part = 2; part <= FEW; part++) yield low + (high - low) / part;
    }
  }
  yield* steps(FEW, MANY);
}

const known = (bounds: readonly (number | undefined)[]) =>
  bounds.filter((bound) => bound !== undefined);
const greatestOf = (bounds: readonly (number | undefined)[]) =>
  known(bounds).length === 0 ? undefined : Math.max(...known(bounds));
const leastOf = (bounds: readonly (number | undefined)[]) =>
  known(bounds).length === 0 ? undefined : Math.min(...known(bounds));
