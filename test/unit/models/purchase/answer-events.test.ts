import { describe, expect, it, test } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { StreamBroken } from '../../../../src/models/providers/openai/answer-reader.ts';
import { ReportedError } from '../../../../src/models/providers/reported-error.ts';
import { answerEvents, budgetOf } from '../../../../src/models/purchase/answer-events.ts';
import type { HeldPurchase } from '../../../../src/models/purchase/settle.ts';

test('an upstream stops being read when the remaining budget cannot be looked up', async () => {
  let stops = 0;
  const lost = new Error('the database is gone');
  const told = budgetOf({ budget: () => Promise.reject(lost) }, { stop: () => void stops++ });
  await expect(told).rejects.toBe(lost);
  expect(stops).toBe(1);
});

describe('a streamed answer', () => {
  it.each([
    ['nothing where it is whole', undefined, undefined],
    ['a break', new StreamBroken('gone'), 'broken'],
    ['the code of its upstream', new ReportedError({ code: 'overloaded' }), 'overloaded'],
    ['its type', new ReportedError({ type: 'overloaded_error' }), 'overloaded_error'],
    ['no sentence of it', new ReportedError({ code: 'a prompt, quoted' }), 'broken'],
  ])('a streamed response is settled once, and its trace gets %s', async (_, cause, error) => {
    const settledAs: unknown[] = [];
    const bought = {
      served: { model: 'acme/m', rail: 'direct-account', attempts: 1 },
      source: { provider: 'acme' },
      upstreamMs: 1,
      budget: async () => ({}),
      async settle(as?: string) {
        settledAs.push(as);
        return { chargedRaw: 5n };
      },
    } as unknown as HeldPurchase<unknown>;
    const events = {
      async next() {
        if (cause !== undefined) throw cause;
        return undefined;
      },
      stop() {},
    };
    const { body } = await answerEvents({ log: silentLog }, bought, events);
    let text = '';
    for await (const piece of body) text += Buffer.from(piece).toString();
    expect(text).toContain('svc-cost-usdc=5');
    expect(settledAs).toEqual([error]);
  });
});
