import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { startReceiver } from '../support/receiver.ts';
import { startToolWorld, type ToolWorld } from '../support/tool-world.ts';
import { settledMoney } from '../support/whole-world.ts';

let bench: ToolWorld;
let shop: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  shop = await startReceiver();
  shop.answers((_one, response) => {
    response.writeHead(200).end('{"booked":true}');
  });
  bench = await startToolWorld();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await shop[Symbol.asyncDispose]();
});

const book = () => ({
  type: 'function',
  name: 'book',
  description: 'Books.',
  parameters: { type: 'object' },
  url: shop.url,
});

const nested = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;

/** Of each call at most four: a model gets five answers with calls for one turn of its caller. */
const BROKEN: readonly (readonly [string, readonly (readonly [string, RegExp])[]])[] = [
  [
    'a NUL or half of a JSON',
    [
      ['{"a":"x\u0000y"}', /no whole JSON/],
      ['{"a":"x\\u0000y"}', /hold a NUL/],
      ['{"n":', /no whole JSON/],
      ['book a table', /no whole JSON/],
    ],
  ],
  [
    'a JSON that is no object',
    [
      ['[1]', /no JSON object/],
      ['7', /no JSON object/],
      ['null', /no JSON object/],
    ],
  ],
  [
    '1 MB or 30000 levels',
    [
      [nested(30_000), /nested too deeply/],
      [JSON.stringify({ a: 'x'.repeat(1_000_000) }), /more than 65536 characters/],
    ],
  ],
];

describe('a model that calls a function of a call', () => {
  it.each(BROKEN)(
    'a model that calls a function with %s as arguments is told why, and the call goes on with nothing sent, stored or paid',
    async (kind, broken) => {
      const call = await bench.talking(kind, [book()]);
      const before = shop.received.length;
      for (const [i, [args, sentence]] of broken.entries()) {
        await call.asks(`bad${i}`, 'book', args);
        await bench.soon(() => call.read().at(-1), 8_000).toMatch(sentence);
      }
      expect(await call.made()).toEqual([]);
      expect(shop.received).toHaveLength(before);
      const good = await call.calls('good', 'book', { n: 1 });
      expect(good).toMatchObject({ outcome: 'done', result: '{"booked":true}' });
      expect(shop.received).toHaveLength(before + 1);
      await call.hangsUp();
      const money = await settledMoney(bench.world.sql, call.agentId, 20_000);
      expect(money.spendable).toBe(1_000_000n - money.charged);
      expect(await checkInvariants(bench.world.sql)).toEqual([]);
    },
  );
});
