import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { openSql } from '../../src/platform/postgres/sql.ts';
import { type Chain, startChain } from '../support/chain/chain.ts';
import { type EvilVendor, startEvilVendor } from '../support/chain/evil-vendor.ts';
import { startHeldServer } from '../support/held-server.ts';
import { fundPayer, fundsOf, payingEnvironment, until } from '../support/payment-world.ts';
import { type ProcessPlace, processPlace } from '../support/process-place.ts';
import { ask, newDeveloper, type Told } from '../support/whole-world.ts';

const PRICE_RAW = 150n;
const DEPOSIT_RAW = 100_000n;
/** Two leases and a little: by then the dead are known and what they held is resolved. */
const PATIENCE_MS = 60_000;

const completion = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'routed-1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'sold' }, finish_reason: 'stop' }],
});

let place: ProcessPlace;
let chain: Chain;
let router: EvilVendor;
let environment: Record<string, string>;
beforeAll(async () => {
  place = await processPlace();
  chain = await startChain({});
  router = await startEvilVendor(chain);
  router.sell({
    path: '/chat/completions',
    priceRaw: PRICE_RAW,
    paid: { settle: 'first', answer: { kind: 'answer', body: completion } },
  });
  const rates = { text_input_token: '1', text_output_token: '2' };
  const source = { rail: 'x402-router', provider: 'router', upstreamModel: 'routed-1', rates };
  const model = { id: 'acme/chat', modality: 'text', contextWindow: null, sources: [source] };
  const providers = { router: { baseUrl: router.origin, dialect: 'openai' } };
  const catalogue = join(place.directory, 'catalogue.json');
  writeFileSync(catalogue, JSON.stringify({ providers, models: [model] }));
  const more = { CATALOG_FILE: catalogue, X402_VALID_BEFORE_SECONDS: '5' };
  environment = { ...place.environment, ...payingEnvironment(chain.url), ...more };
}, PATIENCE_MS);
afterAll(async () => {
  await router[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
});

const buy = (url: string, key: string): Promise<Told> =>
  ask(`${url}/v1/chat/completions`, {
    headers: { authorization: `Bearer ${key}`, 'idempotency-key': 'the key' },
    body: { model: 'acme/chat', max_tokens: 100, messages: [{ role: 'user', content: 'Hi?' }] },
  });

/** Pays under a key in a process that dies at a step, and asks again in another one until the key is decided. */
async function killAt(
  step: 'reserved' | 'answering',
  lapse: (validBefore: number) => Promise<unknown>,
) {
  const dying = await startHeldServer(environment);
  const sql = openSql(place.target, 3);
  const api = createApi(dying.url);
  // The process that was killed before keeps the chain to itself for a while; that is not what is tested here.
  await sql`update chain_cursors set claimed_until = null`;
  const developer = await newDeveloper(api, `killed at ${step}`);
  const agent = await fundPayer({ chain, developer, url: dying.url, sql }, step, DEPOSIT_RAW);
  dying.hold({ step, count: 1, last: 'dies' });
  await expect(buy(dying.url, agent.key)).rejects.toThrow();
  await dying.died();
  await sql.end({ timeout: 1 });

  // The chain may run seconds ahead by now: a payment that is soon over would come too late for it.
  await using server = await startHeldServer({ ...environment, X402_VALID_BEFORE_SECONDS: '600' });
  const books = openSql(place.target, 3);
  try {
    const left = await books<{ until: bigint }[]>`
      select valid_before as until from reservations where agent_id = ${agent.agentId}`;
    // It was written before anything was sent, and so before the death.
    expect(left).toHaveLength(1);
    await lapse(Number(left[0]?.until));
    let told = await buy(server.url, agent.key);
    const isDecided = async () => {
      told = await buy(server.url, agent.key);
      return told.status !== 409;
    };
    await until(isDecided, PATIENCE_MS, () => 'a decision of the key');
    const { agentId } = agent;
    await until(async () => (await fundsOf(books, agentId)).held === 0n);
    const funds = await fundsOf(books, agentId);
    return { told, funds, violations: await checkInvariants(books) };
  } finally {
    await books.end({ timeout: 1 });
  }
}

it(
  'a keyed request whose process dies after paying the router answers the reservation and is not paid again',
  async () => {
    const before = router.nonces().length;
    const { told, funds, violations } = await killAt('answering', async () => {});
    expect(told.status).toBe(502);
    expect(told.body).toMatchObject({
      error: { code: 'upstream_paid_request_failed_ambiguous' },
      reservation: { nonce: router.nonces().at(-1) },
    });
    expect(router.nonces()).toHaveLength(before + 1);
    expect(funds).toMatchObject({ spendable: DEPOSIT_RAW - PRICE_RAW, promised: 0n });
    expect(violations).toEqual([]);
  },
  2 * PATIENCE_MS,
);

it(
  'a keyed request whose process dies before sending anything runs again once the chain voids its payment',
  async () => {
    const before = router.nonces().length;
    const { told, funds, violations } = await killAt('reserved', async (validBefore) => {
      await chain.setNextTimestamp(validBefore);
      await chain.mine();
    });
    expect([told.status, told.headers.get('x-svc-cost-usdc')]).toEqual([200, '158']);
    expect(router.nonces()).toHaveLength(before + 1);
    expect(funds).toMatchObject({ spendable: DEPOSIT_RAW - PRICE_RAW - 8n, promised: 0n });
    expect(violations).toEqual([]);
  },
  2 * PATIENCE_MS,
);
