import { APIError, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeWav } from '../../media/wav.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { fundsOf, payingEnvironment, until } from '../support/payment-world.ts';
import {
  type Buyer,
  ROUTER_PRICE_RAW,
  type RouterWorld,
  startRouterWorld,
} from '../support/router-world.ts';
import { ask, startWorld } from '../support/whole-world.ts';

/** Five in a hundred of the router's price, rounded up. */
const MARGIN_RAW = 8n;
const COST_RAW = ROUTER_PRICE_RAW + MARGIN_RAW;
const DEPOSIT_RAW = 100_000n;

const answered = { id: 'c', created: 1, model: 'routed-1' };
const free = { index: 0, message: { role: 'assistant', content: 'free' }, finish_reason: 'stop' };
const completion = JSON.stringify({ ...answered, object: 'chat.completion', choices: [free] });
const chunk = (content: string) => {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }];
  return JSON.stringify({ ...answered, object: 'chat.completion.chunk', choices });
};

let bench: RouterWorld;
beforeAll(async () => {
  bench = await startRouterWorld({
    gift: { unpaid: { answer: { kind: 'answer', body: completion } } },
    down: { unpaid: { answer: { kind: 'answer', status: 503 } } },
    mute: { unpaid: { answer: { kind: 'answer', status: 402, body: 'pay me' } } },
    picky: { unpaid: { answer: { kind: 'answer', status: 422, body: '{"error":{}}' } } },
    dies: { paid: { settle: 'first', answer: { kind: 'drop', after: 'request' } } },
    fails: { paid: { settle: 'first', answer: { kind: 'answer', status: 500 } } },
    babbles: { paid: { settle: 'first', answer: { kind: 'answer', body: 'thank you' } } },
    cuts: { paid: { settle: 'first', answer: { kind: 'drop', after: 'half-body' } } },
    trickles: {
      paid: {
        settle: 'first',
        answer: { kind: 'events', events: [chunk('once '), chunk('upon')] },
      },
    },
  });
}, 60_000);
afterAll(() => bench[Symbol.asyncDispose]());

const question = (model: string, maxTokens = 100) => ({
  model,
  max_tokens: maxTokens,
  messages: [{ role: 'user' as const, content: 'Good morning?' }],
});

type Row = { rail: string; cost: bigint; host: string; model: string | null; status: string };

/** What an agent's history says of its money, once nothing is held any more. */
async function rowsOf({ agentId }: Buyer): Promise<Row[]> {
  const { sql } = bench.world;
  await until(async () => (await fundsOf(sql, agentId)).held === 0n);
  return sql<Row[]>`
    select rail, cost_raw as cost, target_host as host, model, status from charges
    where agent_id = ${agentId} order by cost_raw desc`;
}

const paymentsOf = ({ agentId }: Buyer) =>
  bench.world.sql<{ nonce: string; state: string; raw: bigint }[]>`
    select nonce, state, value_raw as raw from reservations where agent_id = ${agentId}`;

/** One payment and its margin, and nothing else, in every book. */
async function expectBought(buyer: Buyer, model: string) {
  const maker = model.split('/')[0];
  expect(await rowsOf(buyer)).toEqual([
    { rail: 'x402', cost: ROUTER_PRICE_RAW, host: maker, model: null, status: 'success' },
    { rail: 'x402-router', cost: MARGIN_RAW, host: maker, model, status: 'success' },
  ]);
  expect(await paymentsOf(buyer)).toMatchObject([{ state: 'settled', raw: ROUTER_PRICE_RAW }]);
  expect(await fundsOf(bench.world.sql, buyer.agentId)).toEqual({
    spendable: DEPOSIT_RAW - COST_RAW,
    held: 0n,
    wallet: DEPOSIT_RAW - ROUTER_PRICE_RAW,
    promised: 0n,
  });
}

const receiptOf = (headers: Headers) => [
  ...['x-svc-rail', 'x-svc-cost-usdc', 'x-svc-payment-amount', 'x-svc-payment'].map((name) =>
    headers.get(name),
  ),
];
const RECEIPT = ['x402-router', '158', '0.000158', 'gateway'];

const refusalOf = async (work: Promise<unknown>): Promise<APIError> => {
  const thrown = await work.catch((error: unknown) => error);
  if (!(thrown instanceof APIError)) throw thrown;
  return thrown;
};

describe('a model of a router is paid from the wallet of the agent that asks for it', () => {
  it("a chat from a router is paid from the agent's wallet, and receipt and ledger show its price and the margin", async () => {
    const buyer = await bench.buyer('whole chat');
    const earned = await bench.chain.usdcOf(bench.router.payTo);
    const asked = bench.direct.seen.length;
    const { data, response } = await buyer.openai.chat.completions
      .create(question('acme/chat'))
      .withResponse();
    expect(data.choices[0]?.message.content).toBe('Good morning.');
    expect(receiptOf(response.headers)).toEqual(RECEIPT);
    await expectBought(buyer, 'acme/chat');
    expect(await bench.chain.usdcOf(bench.router.payTo)).toBe(earned + ROUTER_PRICE_RAW);
    expect(bench.behind.chat.seen.at(-1)?.body).toMatchObject({ model: 'routed-1' });
    expect(bench.direct.seen).toHaveLength(asked);
  });

  it("a streamed chat from a router is paid from the agent's wallet, with its cost after the last event", async () => {
    bench.behind.streams.play({
      pieces: [`data: ${chunk('Good ')}\n\n`, `data: ${chunk('morning')}\n\n`, 'data: [DONE]\n\n'],
    });
    const buyer = await bench.buyer('streamed chat');
    const { data, response } = await buyer.openai.chat.completions
      .create({ ...question('acme/chat'), stream: true })
      .withResponse();
    let said = '';
    for await (const { choices } of data) said += choices[0]?.delta.content ?? '';
    expect(said).toBe('Good morning');
    expect(response.headers.get('x-svc-rail')).toBe('x402-router');
    await expectBought(buyer, 'acme/chat');

    const other = await bench.buyer('raw stream');
    const told = await other.ask('/v1/chat/completions', {
      body: { ...question('acme/chat'), stream: true },
    });
    expect(told.body.text).toMatch(/: svc-cost-usdc=158\n\ndata: \[DONE\]\n\n$/);
  });

  it("embeddings from a router are paid from the agent's wallet", async () => {
    const buyer = await bench.buyer('vectors');
    const { data, response } = await buyer.openai.embeddings
      .create({ model: 'acme/vectors', input: 'a text of some length' })
      .withResponse();
    expect(data.data[0]?.embedding.length).toBeGreaterThan(0);
    expect(receiptOf(response.headers)).toEqual(RECEIPT);
    await expectBought(buyer, 'acme/vectors');
  });

  it("speech from a router is paid from the agent's wallet", async () => {
    const buyer = await bench.buyer('voice');
    const sound = await buyer.openai.audio.speech.create({
      model: 'acme/voice',
      voice: 'alloy',
      input: 'Good morning to you.',
      response_format: 'mp3',
    });
    expect(receiptOf(sound.headers)).toEqual(RECEIPT);
    expect(Buffer.from(await sound.arrayBuffer()).equals(bench.behind.speech.sound)).toBe(true);
    await expectBought(buyer, 'acme/voice');
  });

  it("a transcript from a router is paid from the agent's wallet, and the file reaches the router whole both times", async () => {
    const buyer = await bench.buyer('ears');
    const wav = encodeWav(new Int16Array(16_000), 16_000);
    const { data, response } = await buyer.openai.audio.transcriptions
      .create({ model: 'acme/ears', file: await toFile(wav, 'a.wav') })
      .withResponse();
    expect(data.text).toBe('as told');
    expect(receiptOf(response.headers)).toEqual(RECEIPT);
    const sent = bench.behind.ears.seen.at(-1)?.form.get('file') as File;
    expect(Buffer.from(await sent.arrayBuffer()).equals(Buffer.from(wav))).toBe(true);
    await expectBought(buyer, 'acme/ears');
  });

  it('a router that demands no payment costs nothing', async () => {
    const buyer = await bench.buyer('gift');
    const { data, response } = await buyer.openai.chat.completions
      .create(question('evil/gift'))
      .withResponse();
    expect(data.choices[0]?.message.content).toBe('free');
    expect(receiptOf(response.headers).slice(0, 2)).toEqual(['x402-router', '0']);
    expect(await rowsOf(buyer)).toMatchObject([{ rail: 'x402-router', cost: 0n }]);
    expect(await paymentsOf(buyer)).toEqual([]);
  });
});

describe('before anything is signed the next source is asked', () => {
  const directly = async (buyer: Buyer, model: string, maxTokens?: number) => {
    const asked = bench.direct.seen.length;
    const { response } = await buyer.openai.chat.completions
      .create(question(model, maxTokens))
      .withResponse();
    expect(response.headers.get('x-svc-rail')).toBe('direct-account');
    expect(response.headers.get('x-svc-attempts')).toBe('2');
    expect(bench.direct.seen).toHaveLength(asked + 1);
    expect(await paymentsOf(buyer)).toEqual([]);
    const cost = BigInt(response.headers.get('x-svc-cost-usdc') ?? '');
    expect(await rowsOf(buyer)).toMatchObject([
      { rail: 'direct-account', cost, status: 'success' },
      { rail: 'x402-router', cost: 0n, status: 'failed' },
    ]);
  };

  it("the next source is called before anything is signed when the router demands more than the catalogue's maximum", async () => {
    const handled = bench.router.handled.length;
    await directly(await bench.buyer('too dear'), 'acme/chat', 10);
    expect(bench.router.handled).toHaveLength(handled);
  });

  it.each(['down', 'mute'])(
    'the next source is called before anything is signed when the router is %s',
    async (script) => {
      await directly(await bench.buyer(script), `evil/${script}`);
      expect(bench.seenBy(script)).toHaveLength(1);
    },
  );

  it("the next source is called on this server's account when the agent's wallet does not cover the router", async () => {
    const { agentKey, agentId } = await bench.world.fund('credited only', DEPOSIT_RAW);
    const told = await fetch(`${bench.world.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agentKey}` },
      body: JSON.stringify(question('acme/chat')),
    });
    expect([told.status, told.headers.get('x-svc-rail')]).toEqual([200, 'direct-account']);
    expect(await paymentsOf({ agentId } as Buyer)).toEqual([]);
  });

  it('a model with a router as its only source is refused as not covered when the wallet is too small', async () => {
    const buyer = await bench.buyer('poor', 100n);
    const refusal = await refusalOf(buyer.openai.chat.completions.create(question('acme/alone')));
    expect([refusal.status, refusal.code]).toEqual([402, 'budget_exhausted']);
    expect(await fundsOf(bench.world.sql, buyer.agentId)).toMatchObject({
      spendable: 100n,
      held: 0n,
    });
  });

  it('a request that the router refuses is refused without a charge, and without another source', async () => {
    const buyer = await bench.buyer('picky');
    const refusal = await refusalOf(buyer.openai.chat.completions.create(question('evil/picky')));
    expect([refusal.status, refusal.headers?.get('x-svc-cost-usdc')]).toEqual([422, '0']);
    expect(await rowsOf(buyer)).toMatchObject([{ cost: 0n, status: 'failed' }]);
  });
});

describe('no other source is paid once a payment may have been made', () => {
  it.each(['dies', 'fails', 'babbles', 'cuts'])(
    'a router that %s after the payment gives an error that names the payment to look up, and no other source is paid',
    async (script) => {
      const asked = bench.direct.seen.length;
      const buyer = await bench.buyer(script);
      const wanted = question(`evil/${script}`);
      // The client as it is: it would repeat a 502 by itself.
      const openai = buyer.openai.withOptions({ maxRetries: 2 });
      const refusal = await refusalOf(openai.chat.completions.create(wanted));
      expect([refusal.status, refusal.code]).toEqual([
        502,
        'upstream_paid_request_failed_ambiguous',
      ]);
      const { reservation } = refusal.error as { reservation: { nonce: string } };
      const [payment, ...others] = await paymentsOf(buyer);
      expect([payment?.nonce, others]).toEqual([reservation.nonce, []]);
      // Once without a payment, and once with it.
      expect(bench.seenBy(script)).toHaveLength(2);
      expect(bench.direct.seen).toHaveLength(asked);
      expect(await rowsOf(buyer)).toMatchObject([
        { rail: 'x402', cost: ROUTER_PRICE_RAW, status: 'success' },
        { rail: 'x402-router', cost: 0n, status: 'failed' },
      ]);
      const found = await buyer.ask(`/v1/agents/reservations/${reservation.nonce}`);
      expect(found.body).toMatchObject({ state: 'settled', paymentAmountRaw: '150' });
    },
  );

  it("a client that leaves a router's stream has paid for it, and nothing stays held", async () => {
    const buyer = await bench.buyer('leaving');
    const stream = await buyer.openai.chat.completions.create({
      ...question('evil/trickles'),
      stream: true,
    });
    for await (const { choices } of stream) {
      expect(choices[0]?.delta.content).toBe('once ');
      break;
    }
    await expectBought(buyer, 'evil/trickles');
  });

  it("a client that leaves before a router's response finds the response under its Idempotency-Key, paid once", async () => {
    const buyer = await bench.buyer('gone');
    const handled = bench.router.handled.length;
    bench.behind.chat.faults.push({ kind: 'late', byMs: 300 });
    const leaving = new AbortController();
    const headers = { 'Idempotency-Key': 'left' };
    const wanted = question('acme/alone');
    const first = buyer.openai.chat.completions.create(wanted, { headers, signal: leaving.signal });
    await until(async () => bench.router.handled.length > handled);
    leaving.abort();
    await expect(first).rejects.toThrow();
    const ask = () => buyer.ask('/v1/chat/completions', { headers, body: wanted });
    await until(async () => (await ask()).status === 200);
    const replay = await ask();
    expect(replay.headers.get('x-svc-idempotent-replay')).toBe('true');
    expect(receiptOf(replay.headers)).toEqual(RECEIPT);
    await expectBought(buyer, 'acme/alone');
  });

  it('a router is paid once under one Idempotency-Key, whole and streamed', async () => {
    for (const stream of [false, true]) {
      bench.behind.streams.play({ pieces: [`data: ${chunk('Hi')}\n\n`, 'data: [DONE]\n\n'] });
      const buyer = await bench.buyer(`keyed ${stream}`);
      const ask = () =>
        buyer.ask('/v1/chat/completions', {
          headers: { 'Idempotency-Key': 'k' },
          body: { ...question('acme/alone'), stream },
        });
      const first = await ask();
      const second = await ask();
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(second.headers.get('x-svc-idempotent-replay')).toBe('true');
      expect(second.body).toEqual(first.body);
      await expectBought(buyer, 'acme/alone');
    }
  });

  it("a request under an Idempotency-Key prefers this server's account to a router, which would need another hold", async () => {
    const buyer = await bench.buyer('keyed account');
    const headers = { 'Idempotency-Key': 'k' };
    const body = question('acme/chat');
    const told = await buyer.ask('/v1/chat/completions', { headers, body });
    expect(told.headers.get('x-svc-rail')).toBe('direct-account');
    expect(await paymentsOf(buyer)).toEqual([]);
  });
});

it("an allowlist does not block a router of the catalogue, and a cap on the model's maker counts the router's price", async () => {
  const buyer = await bench.buyer('capped');
  const { sql } = bench.world;
  await sql`update agents set allowlist_mode = 'both' where id = ${buyer.agentId}`;
  const cap = await buyer.ask('/v1/agents/policies', {
    body: { kind: 'api', matchKey: 'acme', limitRaw: '200', windowSeconds: 3_600 },
  });
  expect(cap.status).toBeLessThan(300);
  await buyer.openai.chat.completions.create(question('acme/alone'));
  await expectBought(buyer, 'acme/alone');
  // 158 of 200 are spent: another 150 and their margin do not fit.
  const refusal = await refusalOf(buyer.openai.chat.completions.create(question('acme/alone')));
  expect([refusal.status, refusal.code]).toEqual([402, 'budget_exhausted']);
  expect(await paymentsOf(buyer)).toHaveLength(1);
});

it('a kill switch is not tripped by a source that was not called beside the router', async () => {
  const buyer = await bench.buyer('switched');
  // The account behind the router may cost 2,321: with the router's own price beside it that would be too much.
  const cap = await buyer.ask('/v1/agents/policies', {
    body: {
      kind: 'api',
      matchKey: 'acme',
      limitRaw: '2400',
      windowSeconds: 3_600,
      action: 'suspend_agent',
    },
  });
  expect(cap.status).toBeLessThan(300);
  await buyer.openai.chat.completions.create(question('acme/chat'));
  await expectBought(buyer, 'acme/chat');
});

it('the ledger invariants hold after all router purchases', async () => {
  expect(await checkInvariants(bench.world.sql)).toEqual([]);
});

it('without a chain a router is skipped, and a model without another source is not served', async () => {
  await using world = await startWorld({ CATALOG_FILE: bench.catalogue });
  const { agentKey } = await world.fund('chainless', DEPOSIT_RAW);
  const buy = (model: string) =>
    ask(`${world.url}/v1/chat/completions`, {
      headers: { authorization: `Bearer ${agentKey}` },
      body: question(model),
    });
  const served = await buy('acme/chat');
  expect([served.status, served.headers.get('x-svc-rail')]).toEqual([200, 'direct-account']);
  expect(served.headers.get('x-svc-attempts')).toBeNull();
  const alone = await buy('acme/alone');
  expect([alone.status, alone.body.error]).toMatchObject([503, { code: 'no_source_available' }]);
});

it('a router at a private address is neither called nor paid, unless that is allowed', async () => {
  const environment = { ...payingEnvironment(bench.chain.url), SSRF_ALLOW_LOCALHOST: '0' };
  await using world = await startWorld({ ...environment, CATALOG_FILE: bench.catalogue });
  const { agentKey } = await world.fund('guarded', DEPOSIT_RAW);
  const seen = bench.seenBy('gift').length;
  const { status, headers } = await ask(`${world.url}/v1/chat/completions`, {
    headers: { authorization: `Bearer ${agentKey}` },
    body: question('evil/gift'),
  });
  expect([status, headers.get('x-svc-rail')]).toEqual([200, 'direct-account']);
  expect(bench.seenBy('gift')).toHaveLength(seen);
});
