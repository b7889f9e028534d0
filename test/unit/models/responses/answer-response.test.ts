import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/kernel/clock.ts';
import type { Json } from '../../../../src/kernel/json.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { StreamBroken } from '../../../../src/models/providers/openai/answer-reader.ts';
import { ReportedError } from '../../../../src/models/providers/reported-error.ts';
import type { ResponseEvents } from '../../../../src/models/providers/responses/responses-rail.ts';
import type { HeldPurchase, Settled } from '../../../../src/models/purchase/settle.ts';
import {
  answerResponse,
  answerResponseEvents,
} from '../../../../src/models/responses/answer-response.ts';
import { LiveResponses } from '../../../../src/models/responses/live-responses.ts';

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
  } as unknown as HeldPurchase<unknown>;
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
  it('a stored response is settled and stored in parallel, and sent when both are committed', async () => {
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

  it('a stored response that states its cost is stored after its settlement', async () => {
    const { kept, row, sent, settlement } = answering({ tellsCost: true });
    await later();
    expect(kept).toEqual([]);
    settlement.resolve({ chargedRaw: 5n });
    row.resolve(true);
    expect(await sent).toMatchObject({ usage: { output_tokens: 3, cost_raw: '5' } });
    expect(kept).toMatchObject([{ usage: { cost_raw: '5' } }]);
  });

  it('a response that could not be stored says store false', async () => {
    const { row, sent, settlement } = answering();
    settlement.resolve({ chargedRaw: 5n });
    row.resolve(false);
    expect(await sent).toMatchObject({ store: false });
  });

  it.each([false, true])(
    'a stored response fails when it cannot be settled (states its cost: %s)',
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

type StreamEnd = { readonly status?: string; readonly error?: Json };

/** A response that streams one event, then ends when the test says so. */
async function streaming({ status = 'completed', error }: StreamEnd = {}) {
  const settledAs: unknown[] = [];
  const kept: Json[] = [];
  const settlement = pending<Settled>();
  const row = pending<boolean>();
  const upstreamEnd = pending<undefined>();
  let isFirst = true;
  const response = { id: 'resp_1', status, error, store: true, usage: {} };
  const events: ResponseEvents = {
    async next() {
      if (!isFirst) return upstreamEnd.promise;
      isFirst = false;
      return Buffer.from('event: response.created\ndata: {}\n\n');
    },
    metered: () => ({
      usage: { inputTokens: 1, cachedTokens: 0, outputTokens: 3 },
      answerChars: 0,
    }),
    response: () => ({ ...response }),
    sequence: () => 1,
    stop() {},
  };
  const bought = {
    served: { model: 'acme/fast-1', rail: 'direct-account', attempts: 1 },
    source: { provider: 'acme' },
    upstreamMs: 1,
    budget: async () => ({}),
    settle(error?: string) {
      settledAs.push(error);
      return settlement.promise;
    },
  } as unknown as HeldPurchase<unknown>;
  const live = new LiveResponses();
  const { body } = await answerResponseEvents(
    { clock: systemClock, live, log: silentLog },
    bought,
    events,
    {
      id: 'resp_1',
      agentId: 1,
      tellsCost: false,
      keep(ended) {
        kept.push(ended);
        return row.promise;
      },
    },
  );
  const read = async () => {
    let text = '';
    for await (const piece of body) text += Buffer.from(piece).toString();
    const [, last = ''] = /event: response\.(?:completed|failed)\ndata: (.*)/.exec(text) ?? [];
    return (JSON.parse(last) as { response: Json }).response;
  };
  return { kept, last: read(), live, row, settledAs, settlement, upstreamEnd };
}

describe('a response that is streamed', () => {
  it('a streamed response is charged before it is stored, and can be retrieved between its end and its storage', async () => {
    const { kept, last, live, row, settlement, upstreamEnd } = await streaming();
    upstreamEnd.resolve(undefined);
    await later();
    expect(kept, 'it is not settled yet').toEqual([]);
    expect(live.find(1, 'resp_1')).toMatchObject({ id: 'resp_1' });
    expect(live.cancel(1, 'resp_1'), 'there is nothing left to stop').toBe('ended');
    settlement.resolve({ chargedRaw: 5n });
    await later();
    expect(kept).toHaveLength(1);
    expect(live.find(1, 'resp_1')).toBeDefined();
    row.resolve(true);
    expect(await last).toMatchObject({ store: true });
    expect(live.find(1, 'resp_1')).toBeUndefined();
  });

  it('a streamed response is settled as failed when it breaks off or its upstream reports failure', async () => {
    const settledWith = async (how: StreamEnd, cause?: Error) => {
      const { last, row, settledAs, settlement, upstreamEnd } = await streaming(how);
      if (cause === undefined) upstreamEnd.resolve(undefined);
      else upstreamEnd.reject(cause);
      settlement.resolve({ chargedRaw: 5n });
      row.resolve(true);
      const { status } = await last;
      return [status, ...settledAs];
    };
    expect(await settledWith({})).toEqual(['completed', undefined]);
    expect(await settledWith({}, new StreamBroken('gone'))).toEqual(['failed', 'broken']);
    const error = { code: 'rate_limit_exceeded', message: 'a secret' };
    const reported = new ReportedError(error);
    expect(await settledWith({}, reported)).toEqual(['failed', 'rate_limit_exceeded']);
    expect(await settledWith({ status: 'failed', error })).toEqual(['failed', error.code]);
  });

  it('a streamed response is not stored when its agent deletes it before its end', async () => {
    const { kept, last, live, settlement, upstreamEnd } = await streaming();
    expect(await live.remove(2, 'resp_1'), 'of another agent').toBe(false);
    expect(await live.remove(1, 'resp_1')).toBe(true);
    expect(live.find(1, 'resp_1')).toBeUndefined();
    expect(await live.remove(1, 'resp_1')).toBe(false);
    upstreamEnd.resolve(undefined);
    settlement.resolve({ chargedRaw: 5n });
    expect(await last).toMatchObject({ store: false });
    expect(kept).toEqual([]);
  });

  it('a streamed response that is deleted while being written is deleted after the write', async () => {
    const { last, live, row, settlement, upstreamEnd } = await streaming();
    upstreamEnd.resolve(undefined);
    settlement.resolve({ chargedRaw: 5n });
    await later();
    let isRemoved = false;
    const removed = live.remove(1, 'resp_1').then(() => {
      isRemoved = true;
    });
    await later();
    expect(isRemoved, 'the row that is to be deleted is not there yet').toBe(false);
    row.resolve(true);
    await removed;
    await last;
  });
});
