import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { openSql, type Sql } from '../../src/platform/postgres/sql.ts';
import { ADMIN_KEY, type ProcessPlace, processPlace } from '../support/process-place.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import {
  closeCode,
  openBoth,
  openWebhookCall,
  stoppedCall,
  WAYS_TO_STOP,
} from '../support/stop-agent.ts';
import { startVoiceWebhook } from '../support/voice-webhook.ts';
import {
  ask,
  askGuide,
  type Developer,
  newDeveloper,
  settledMoney,
} from '../support/whole-world.ts';

const FUNDS = 1_000_000n;
const WITHIN_MS = 2_000;

let place: ProcessPlace;
/** A backend that never answers. */
let webhook: Awaited<ReturnType<typeof startVoiceWebhook>>;
let sql: Sql;
/** Where the agent's program talks, and where its developer does. */
let serving: ServerProcess;
let managing: ServerProcess;
let developer: Developer;
beforeAll(async () => {
  place = await processPlace();
  if (place.target.kind !== 'url') throw new Error('two processes need a PostgreSQL by URL');
  sql = openSql(place.target, 2);
  webhook = await startVoiceWebhook();
  const environment = { ...place.environment, SSRF_ALLOW_LOCALHOST: '1' };
  serving = await startServerProcess(environment);
  managing = await startServerProcess(environment);
  developer = await newDeveloper(createApi(managing.url), 'far away');
});
afterAll(async () => {
  const codes = await Promise.all([serving.stop(), managing.stop()]);
  const violations = await checkInvariants(sql);
  await sql.end();
  await webhook[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
  expect({ codes, violations }).toEqual({ codes: [0, 0], violations: [] });
});

async function liveAgent(name: string) {
  const agentId = await developer.createAgent(name);
  await ask(`${managing.url}/v1/admin/agents/${agentId}/credit`, {
    headers: { 'x-admin-key': ADMIN_KEY },
    body: { amountRaw: String(FUNDS), reference: `funds-${agentId}` },
  });
  return { agentId, ...(await developer.mintKey(agentId)) };
}

/** How the agent's next calls are answered, until one is refused or the time is over. */
async function firstRefusal(key: string) {
  const deadline = performance.now() + WITHIN_MS;
  for (;;) {
    const answer = await askGuide(serving.url, key);
    if (answer.status !== 200 || performance.now() > deadline) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('stopping an agent in one process', () => {
  for (const { name, status, code, stop } of WAYS_TO_STOP) {
    it(`stopping an agent by ${name} ends its sockets, phone call and requests in another process within two seconds`, async () => {
      const agent = await liveAgent(name.replaceAll(' ', '-'));
      const sockets = await openBoth(serving.url.replace(/^http/, 'ws'), agent.key);
      const callId = await openWebhookCall(serving.url, sql, agent, webhook.url);
      // The serving process has seen the key and the balance: both are cached there now.
      expect((await askGuide(serving.url, agent.key)).status).toBe(200);

      const stopped = await stop(managing.url, developer, agent);
      expect([200, 201], JSON.stringify(stopped.body)).toContain(stopped.status);
      const closed = [sockets.transcription, sockets.realtime].map((socket) =>
        closeCode(socket, WITHIN_MS),
      );
      const callOver = stoppedCall(sql, callId, WITHIN_MS);
      const refused = await firstRefusal(agent.key);
      expect([refused.status, refused.body.error]).toMatchObject([status, { code }]);
      expect(await Promise.all(closed)).toEqual([1008, 1008]);
      await callOver;

      const money = await settledMoney(sql, agent.agentId);
      expect(money.charged).toBeGreaterThan(0n);
      if (code !== 'account_closed') expect(money.spendable).toBe(FUNDS - money.charged);
    });
  }

  it('an agent’s acknowledged suspension in one process stops every later hold in another process', async () => {
    const agent = await liveAgent('fenced');
    expect((await askGuide(serving.url, agent.key)).status).toBe(200);
    const path = `${managing.url}/v1/developer/agents/${agent.agentId}/status`;
    for (let round = 0; round < 5; round++) {
      const set = (status: string) =>
        ask(path, { method: 'PATCH', headers: developer.headers, body: { status } });
      expect((await set('suspended')).status).toBe(200);
      // Whatever the other process remembers of the key, the fence is the database's.
      const refused = await askGuide(serving.url, agent.key);
      expect([refused.status, refused.body.error]).toMatchObject([
        403,
        { code: 'agent_suspended' },
      ]);
      expect((await set('active')).status).toBe(200);
      await expect
        .poll(async () => (await askGuide(serving.url, agent.key)).status, { timeout: 3_000 })
        .toBe(200);
    }
  });
});
