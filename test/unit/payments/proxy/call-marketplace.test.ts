import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/kernel/api-error.ts';
import type { MarketAnswer, MarketCall } from '../../../../src/payments/proxy/marketplace.ts';
import { proxyWorld } from '../../../support/proxy-world.ts';

const URL = 'https://m.example/v1/tts/acme';

const ANSWER: MarketAnswer = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{}'),
  costRaw: 3_150n,
  payment: 'internal',
  upstreamMs: 12.4,
};

/** The proxy beside a marketplace that answers so. */
function world(answer: MarketAnswer | Error = ANSWER) {
  const proxy = proxyWorld();
  const calls: MarketCall[] = [];
  const marketplace = {
    priceOf: async () => ({ kind: 'free' }) as const,
    host: 'm.example',
    matches: (url: string) => url.startsWith('https://m.example/'),
    async call(call: MarketCall) {
      calls.push(call);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const send = (request: Parameters<typeof proxy.send>[0] = {}, change = {}) =>
    proxy.send({ url: URL, method: 'POST', ...request }, { marketplace, ...change });
  return { ...proxy, calls, send };
}

describe('a call to the marketplace', () => {
  it('a call to the marketplace is answered with the headers of its charge and opens no connection to its address', async () => {
    const { calls, opened, passed, send, sent } = world();
    const body = { text: 'hello' };
    const told = await send({ url: `${URL}?a=b#c`, body, workId: 'w1' });
    expect(told).toEqual({
      status: 200,
      body: ANSWER.body,
      lines: [],
      upstreamMs: 12.4,
      headers: {
        'content-type': 'application/json',
        'x-svc-payment': 'internal',
        'x-svc-cost-usdc': '3150',
        'x-svc-payment-amount': '0.003150',
      },
    });
    expect([opened, sent]).toEqual([[], []]);
    expect(calls).toMatchObject([{ method: 'POST', body: '{"text":"hello"}', workId: 'w1' }]);
    expect(passed).toEqual([
      {
        agentId: 1,
        keyId: 1,
        targetUrl: `${URL}?a=b`,
        method: 'POST',
        latencyMs: 12,
        responseStatusCode: 200,
        taskId: null,
        actionId: null,
        chargedRaw: 3_150n,
      },
    ]);
  });

  it('a free call to the marketplace is answered as passthrough and logged without a charge', async () => {
    const { passed, send } = world({ ...ANSWER, costRaw: 0n, payment: 'passthrough', status: 404 });
    const told = await send();
    expect(told.headers).toEqual({
      'content-type': 'application/json',
      'x-svc-cost-usdc': '0',
      'x-svc-payment': 'passthrough',
    });
    expect(passed[0]).not.toHaveProperty('chargedRaw');
  });

  it('a call to the marketplace is answered after its log line is written, or after that write fails', async () => {
    const written = world();
    const order: string[] = [];
    const passthroughs = {
      add: () => void order.push('added'),
      flush: async () => void order.push('written'),
    };
    await written.send({}, { passthroughs });
    expect(order).toEqual(['added', 'written']);
    const broken = world();
    const failing = { add: () => {}, flush: () => Promise.reject(new Error('away')) };
    expect((await broken.send({}, { passthroughs: failing })).status).toBe(200);
    expect(broken.lines.map(({ msg }) => msg)).toEqual([
      'the line of a call to the marketplace was not written yet',
    ]);
  });

  it('a call to the marketplace that the host allowlist refuses never reaches the marketplace', async () => {
    const { calls, send, state } = world();
    state.spendState = { rules: { allowlistMode: 'host' } };
    await expect(send()).rejects.toMatchObject({
      status: 403,
      error: 'host_not_allowlisted',
      fields: { host: 'm.example' },
    });
    expect(calls).toEqual([]);
  });

  it('a call that the marketplace refuses leaves no log line and is passed to the cap-hit report', async () => {
    const refusal = new ApiError(402, 'spend_limit_exceeded');
    const { passed, send } = world(refusal);
    const refusals: unknown[] = [];
    const reportCapHit = async (_: unknown, heard: unknown) => void refusals.push(heard);
    await expect(send({}, { reportCapHit })).rejects.toBe(refusal);
    expect([passed, refusals]).toEqual([[], [refusal]]);
  });

  it('a call to an address outside the marketplace is sent to that address', async () => {
    const { calls, opened, send } = world();
    await send({ url: 'https://vendor.test/paid' });
    expect([calls, opened]).toEqual([[], ['https://vendor.test/paid']]);
  });
});
