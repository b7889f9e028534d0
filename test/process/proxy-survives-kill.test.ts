import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSlots } from '../../src/ledger/engine/slots.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { MODES, nameOf, POINTS, type Point, type Row, rowsAt } from '../support/payment-battery.ts';
import { type Played, play } from '../support/payment-stage.ts';
import { tableOf } from '../support/payment-table.ts';

type Batch = { readonly point: Point; readonly rows: readonly Row[] };

/** Each has a database, a chain and two servers, one after the other. */
const SIDE_BY_SIDE = 3;
const PATIENCE_MS = 400_000;

/** A row a mode, each killed at another place of its way. */
const FEW: Readonly<Record<string, readonly string[]>> = {
  delivered: ['timeout', '5xx'],
  booked: ['double 402', 'settled late', 'front-run'],
  answering: ['clean', 'slow'],
};

const batches: readonly Batch[] = POINTS.map((point) => ({
  point,
  rows: exhaustive ? rowsAt(point) : fewAt(point),
})).filter(({ rows }) => rows.length > 0);

function fewAt(point: Point): Row[] {
  const modes = MODES.filter(({ name }) => FEW[point.name]?.includes(name));
  // Version 1 and 2 in turn, and both with a key: of those there is more to be told.
  return modes.flatMap((mode, i) =>
    rowsAt(point, [mode]).filter(({ keyed, version }) => keyed && version === 1 + (i % 2)),
  );
}

const played = new Map<Point, Promise<Played>>();

beforeAll(() => {
  const slot = createSlots(exhaustive ? SIDE_BY_SIDE : 1);
  for (const { point, rows } of batches) {
    const outcome = slot(() => play(point, rows));
    // Its own test tells of it.
    outcome.catch(() => {});
    played.set(point, outcome);
  }
});

afterAll(async () => {
  const all = await Promise.allSettled(played.values());
  const rows = all.flatMap((each) => (each.status === 'fulfilled' ? each.value.rows : []));
  process.stdout.write(`\n${tableOf(rows)}\n\n`);
}, PATIENCE_MS);

describe.each(batches)('a server that is killed $point.says', ({ point, rows }) => {
  it(
    `a server that is killed ${point.says} paid each of ${rows.length} vendors at most once, and all books agree`,
    async () => {
      const outcome = await played.get(point);
      const wrong = outcome?.rows.filter(({ problems }) => problems.length > 0);
      expect(wrong?.map(({ row, problems }) => [nameOf(row), problems])).toEqual([]);
      expect(outcome?.rows).toHaveLength(rows.length);
      expect(outcome?.violations).toEqual([]);
    },
    PATIENCE_MS,
  );
});
