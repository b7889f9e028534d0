import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { silentLog } from '../../../src/kernel/log.ts';
import { createRefusalLog } from '../../../src/reports/refusals/refusal-log.ts';
import type { NewRefusal } from '../../../src/reports/refusals/refusal-store.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { AGENT_KEY, type GatewayWorld, gatewayWorld } from '../../support/gateway-world.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RealtimeClient } from '../../support/realtime-client.ts';

const SUSPENDED_KEY = `svc_${'b'.repeat(64)}`;

let rows: NewRefusal[] = [];
const refusals = createRefusalLog({
  clock: new ManualClock(),
  log: silentLog,
  save: async (batch) => {
    rows.push(...batch.rows);
    return [];
  },
});
const ledger = createFakeLedger();
let gateway: GatewayWorld;
beforeAll(async () => {
  gateway = await gatewayWorld({
    ledger,
    refusals,
    others: new Map([[SUSPENDED_KEY, { agentId: 9, keyId: 9, status: 'suspended' }]]),
    // Port 9 discards: nothing listens there.
    providers: { acme: { baseUrl: 'http://127.0.0.1:9', dialect: 'openai' } },
    models: [
      {
        id: 'acme/chat',
        modality: 'text',
        sources: [
          {
            rail: 'direct-account',
            provider: 'acme',
            upstreamModel: 'chat',
            rates: { text_input_token: '1', text_output_token: '1' },
          },
        ],
      },
    ],
  });
  await ledger.credit({ agentId: 1, amountRaw: 1_000_000n, reference: 'x' });
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  rows = [];
});

const body = { model: 'acme/chat', messages: [{ role: 'user', content: 'hello' }], max_tokens: 9 };
const chat = (key: string, id: string) =>
  gateway.request('/chat/completions', {
    body,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-request-id': id,
    },
  });

it('a refused, a failed and a suspended request are each noted once, under the id of the answer', async () => {
  ledger.refuse(1, { reason: 'insufficient_balance', availableRaw: 3n, requiredRaw: 12n });
  const refused = await chat(AGENT_KEY, 'req_refused');
  ledger.refuse(1, undefined);
  const failed = await chat(AGENT_KEY, 'req_failed');
  const suspended = await chat(SUSPENDED_KEY, 'req_suspended');
  const unknown = await chat(`svc_${'c'.repeat(64)}`, 'req_unknown');
  const missing = await gateway.request('/models/acme/none');
  expect([refused, failed, suspended, unknown, missing].map(({ status }) => status)).toEqual([
    402, 502, 403, 401, 404,
  ]);
  await refusals.flush();
  expect(rows.map(({ agentId, reason, requestId }) => ({ agentId, reason, requestId }))).toEqual([
    { agentId: 1, reason: 'insufficient_balance', requestId: refused.headers.get('x-request-id') },
    { agentId: 1, reason: 'provider_failed', requestId: failed.headers.get('x-request-id') },
    { agentId: 9, reason: 'agent_suspended', requestId: suspended.headers.get('x-request-id') },
  ]);
  expect(rows[0]).toMatchObject({ requiredRaw: 12n, availableRaw: 3n });
});

it('the refusal of a response over a socket is noted', async () => {
  const url = `${gateway.baseUrl.replace(/^http/, 'ws')}/responses`;
  const client = new RealtimeClient(url, [], { authorization: `Bearer ${AGENT_KEY}` });
  await client.opened();
  ledger.refuse(1, { reason: 'insufficient_balance', availableRaw: 3n, requiredRaw: 12n });
  client.say({ type: 'response.create', model: 'acme/chat', input: 'hello', store: false });
  await client.until(({ type }) => type === 'error');
  ledger.refuse(1, undefined);
  client.ws.close();
  await refusals.flush();
  expect(rows.map(({ agentId, reason }) => ({ agentId, reason }))).toEqual([
    { agentId: 1, reason: 'insufficient_balance' },
  ]);
});
