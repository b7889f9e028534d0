import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/kernel/clock.ts';
import type { Json } from '../../../../src/kernel/json.ts';
import type { Bought } from '../../../../src/models/purchase/answer.ts';
import type { Settled } from '../../../../src/models/purchase/settle.ts';
import { answerResponse } from '../../../../src/models/responses/answer-response.ts';

/** A promise that the test resolves or rejects. */
function pending<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
}

/** A response that has come and is to be kept. Its settlement and its row are committed when the test says so. */
function answering({ tellsCost = false } = {}) {
  const kept: Json[] = [];
  const settlement = pending<Settled>();
  const row = pending<boolean>();
  const bought = {
    outcome: { status: 200 },
    served: { model: 'acme/fast-1', rail: 'direct-account', attempts: 1 },
    upstreamMs: 1,
    settle: () => settlement.promise,
  } as unknown as Bought<unknown>;
  const answer = answerResponse(
    { clock: systemClock },
    bought,
    {
      response: { id: 'resp_1', status: 'completed', store: true, usage: { output_tokens: 3 } },
      usage: { inputTokens: 1, cachedTokens: 0, outputTokens: 3 },
      answerChars: 0,
    },
    {
      id: 'resp_1',
      agentId: 1,
      tellsCost,
      keep(response) {
        kept.push(response);
        return row.promise;
      },
    },
  );
  const sent = answer.then(({ body }) => JSON.parse(Buffer.from(body).toString()) as Json);
  return { kept, row, sent, settlement };
}

const later = () => new Promise((resolve) => setImmediate(resolve));

describe('a response that is kept', () => {
  it('is settled and kept side by side, and goes out when both are committed', async () => {
    const { kept, row, sent, settlement } = answering();
    let isOut = false;
    void sent.then(() => {
      isOut = true;
    });
    await later();
    expect(kept, 'its row is under way before its settlement is committed').toHaveLength(1);
    settlement.resolve({ chargedRaw: 5n });
    await later();
    expect(isOut, 'it waits for its row').toBe(false);
    row.resolve(true);
    expect(await sent).toMatchObject({ id: 'resp_1', store: true });
  });

  it('is kept behind its settlement where it tells its price', async () => {
    const { kept, row, sent, settlement } = answering({ tellsCost: true });
    await later();
    expect(kept).toEqual([]);
    settlement.resolve({ chargedRaw: 5n });
    row.resolve(true);
    expect(await sent).toMatchObject({ usage: { output_tokens: 3, cost_raw: '5' } });
    expect(kept).toMatchObject([{ usage: { cost_raw: '5' } }]);
  });

  it('says so where it could not be kept', async () => {
    const { row, sent, settlement } = answering();
    settlement.resolve({ chargedRaw: 5n });
    row.resolve(false);
    expect(await sent).toMatchObject({ store: false });
  });

  it.each([false, true])(
    'is refused where it cannot be settled (tells its price: %s)',
    async (tellsCost) => {
      const { row, sent, settlement } = answering({ tellsCost });
      settlement.reject(new Error('the ledger is away'));
      await expect(sent).rejects.toThrow('the ledger is away');
      // A rejection that nobody takes would end the process.
      row.resolve(true);
      await later();
    },
  );
});
