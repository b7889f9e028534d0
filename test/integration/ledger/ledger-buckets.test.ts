import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numberArray } from '../../../src/platform/postgres/pg-array.ts';
import { type Counter, count, emptyCounter, rollTo } from '../../../src/policy/counter.ts';
import { bucketAt, bucketsOf } from '../../../src/policy/window.ts';
import { testDatabase } from '../../support/database.ts';
import { policyOf } from '../../support/spending.ts';

const MINUTE = policyOf({ window: { kind: 'rolling', seconds: 60 } });
const LENGTHS = [bucketsOf(MINUTE.window), bucketsOf({ kind: 'session' })];
/** The shortest window has the largest numbers of buckets, and they grow with the years. */
const STARTS = [
  0,
  59,
  60,
  bucketAt(MINUTE, Date.UTC(2026, 0)),
  bucketAt(MINUTE, Date.UTC(2090, 0)),
];

const arbitraryRing = fc.record({
  length: fc.constantFrom(...LENGTHS),
  start: fc.constantFrom(...STARTS),
  moves: fc.array(
    fc.record({ by: fc.constantFrom(-1, 0, 1, 2, 40, 59, 60, 61), settledRaw: fc.bigInt(1n, 99n) }),
    { minLength: 1, maxLength: 8 },
  ),
});

describe('a ring of buckets in SQL', () => {
  it('the SQL ring of buckets is rolled and filled exactly as the ledger’s own rules do it', async () => {
    await using db = await testDatabase();
    const ring = async (
      text: string,
      { buckets, head }: Counter,
      rest: readonly (number | bigint)[],
    ) => {
      const [row] = await db.sql.unsafe<{ ring: bigint[] }[]>(text, [
        numberArray(buckets),
        `${head}`,
        ...rest.map(String),
      ]);
      return row?.ring;
    };
    await fc.assert(
      fc.asyncProperty(arbitraryRing, async ({ length, start, moves }) => {
        let counter = { ...emptyCounter(1, length), head: start };
        for (const { by, settledRaw } of moves) {
          const bucket = Math.max(0, counter.head + by);
          const rolled = await ring('select roll_buckets($1, $2, $3) as ring', counter, [bucket]);
          expect(rolled).toEqual(rollTo(counter, bucket).buckets);
          const filled = await ring('select fill_bucket($1, $2, $3, $4) as ring', counter, [
            bucket,
            settledRaw,
          ]);
          counter = count(counter, bucket, { heldRaw: 0n, settledRaw });
          expect(filled).toEqual(counter.buckets);
        }
      }),
      { numRuns: 100 },
    );
  });
});
