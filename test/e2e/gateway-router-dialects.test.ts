import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { fundsOf, until } from '../support/payment-world.ts';
import {
  type Buyer,
  ROUTER_PRICE_RAW,
  type RouterWorld,
  startRouterWorld,
} from '../support/router-world.ts';
import { DONE, wordEvents } from '../support/stream-upstream.ts';

const DEPOSIT_RAW = 100_000n;
/** The router's price, and five in a hundred of it, rounded up. */
const COST_RAW = ROUTER_PRICE_RAW + 8n;
const WORDS = ['Good ', 'morning'];

let bench: RouterWorld;
beforeAll(async () => {
  bench = await startRouterWorld({
    dies: { paid: { settle: 'first', answer: { kind: 'drop', after: 'request' } } },
  });
}, 60_000);
afterAll(() => bench[Symbol.asyncDispose]());

const anthropicOf = ({ key }: Buyer) =>
  new Anthropic({ apiKey: key, authToken: null, baseURL: bench.world.url, maxRetries: 0 });

/** One payment from the wallet and its margin from the balance, and nothing else. */
async function expectPaidOnce({ agentId }: Buyer): Promise<void> {
  const { sql } = bench.world;
  await until(async () => (await fundsOf(sql, agentId)).held === 0n);
  const rows = await sql<{ rail: string; cost: bigint }[]>`
    select rail, cost_raw as cost from charges where agent_id = ${agentId} order by cost_raw desc`;
  expect(rows).toEqual([
    { rail: 'x402', cost: ROUTER_PRICE_RAW },
    { rail: 'x402-router', cost: COST_RAW - ROUTER_PRICE_RAW },
  ]);
  expect(await fundsOf(sql, agentId)).toEqual({
    spendable: DEPOSIT_RAW - COST_RAW,
    held: 0n,
    wallet: DEPOSIT_RAW - ROUTER_PRICE_RAW,
    promised: 0n,
  });
  expect(await checkInvariants(sql)).toEqual([]);
}

const COST = String(COST_RAW);
const message = (model: string) => ({
  model,
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'Good morning?' }],
});
const response = (model: string) => ({ model, input: 'Good morning?', max_output_tokens: 100 });
const streams = () => bench.behind.streams.play({ pieces: [...wordEvents(WORDS), DONE] });

describe('a router that is paid per call', () => {
  it('a router paid per call sells a message, paid once, with its price and the margin on the receipt', async () => {
    const buyer = await bench.buyer('message');
    const { data, response: head } = await anthropicOf(buyer)
      .messages.create(message('acme/alone'))
      .withResponse();
    expect(data.content).toMatchObject([{ type: 'text', text: 'Good morning.' }]);
    expect(head.headers.get('x-svc-rail')).toBe('x402-router');
    expect(head.headers.get('x-svc-cost-usdc')).toBe(COST);
    await expectPaidOnce(buyer);
  });

  it('a router paid per call sells a streamed message, whose cost comes before its end event', async () => {
    streams();
    const buyer = await bench.buyer('streamed message');
    const told = await buyer.ask('/v1/messages', {
      body: { ...message('acme/alone'), stream: true },
    });
    expect(told.body.text).toContain(`: svc-cost-usdc=${COST}\n\nevent: message_stop`);
    expect(told.body.text).toContain('"text":"morning"');
    await expectPaidOnce(buyer);
  });

  it('a router paid per call sells a response, whole', async () => {
    const buyer = await bench.buyer('response');
    const { data, response: head } = await buyer.openai.responses
      .create(response('acme/alone'))
      .withResponse();
    expect(data.output_text).toBe('Good morning.');
    expect(head.headers.get('x-svc-rail')).toBe('x402-router');
    expect(head.headers.get('x-svc-cost-usdc')).toBe(COST);
    await expectPaidOnce(buyer);
  });

  it('a router paid per call sells a streamed response', async () => {
    streams();
    const buyer = await bench.buyer('streamed response');
    const whole = await buyer.openai.responses.stream(response('acme/alone')).finalResponse();
    expect(whole).toMatchObject({ status: 'completed', output_text: WORDS.join('') });
    await expectPaidOnce(buyer);
  });

  it('a router that takes the payment and disconnects is paid once, and no other source is called', async () => {
    for (const dialect of ['message', 'response'] as const) {
      const buyer = await bench.buyer(`gone ${dialect}`);
      const asked = bench.direct.seen.length;
      const call =
        dialect === 'message'
          ? anthropicOf(buyer).messages.create(message('evil/dies'))
          : buyer.openai.responses.create(response('evil/dies'));
      const refused = await call.then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(refused).toMatchObject({ status: 502 });
      expect(bench.direct.seen).toHaveLength(asked);
      await until(async () => (await fundsOf(bench.world.sql, buyer.agentId)).held === 0n);
      const payments = await bench.world.sql<{ raw: bigint }[]>`
        select value_raw as raw from reservations where agent_id = ${buyer.agentId}`;
      expect(payments).toEqual([{ raw: ROUTER_PRICE_RAW }]);
      expect(await checkInvariants(bench.world.sql)).toEqual([]);
    }
  });
});
