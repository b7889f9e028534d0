import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QuietCallee } from '../support/phone-world.ts';
import {
  closeCode,
  openBoth,
  openWebhookCall,
  stoppedCall,
  WAYS_TO_STOP,
} from '../support/stop-agent.ts';
import {
  ask,
  askGuide,
  type Developer,
  newDeveloper,
  settledMoney,
  startWorld,
  type WholeWorld,
} from '../support/whole-world.ts';

const FUNDS = 1_000_000n;
const WITHIN_MS = 2_000;
/** It is never asked: the callee says nothing. */
const WEBHOOK = 'https://backend.example/voice';
/** Half a second of 16-bit sound at 16 kHz. */
const SOUND = new Uint8Array(16_000);

let world: WholeWorld;
let developer: Developer;
beforeAll(async () => {
  world = await startWorld({}, { calleeOf: async () => new QuietCallee() });
  developer = await newDeveloper(world.api, 'revoker');
});
afterAll(() => world[Symbol.asyncDispose]());

async function liveAgent(name: string) {
  const agentId = await developer.createAgent(name);
  await ask(`${world.url}/v1/admin/agents/${agentId}/credit`, {
    headers: { 'x-admin-key': world.adminApiKey },
    body: { amountRaw: String(FUNDS), reference: `funds-${agentId}` },
  });
  return { agentId, ...(await developer.mintKey(agentId)) };
}

describe('stopping an agent', () => {
  for (const { name, status, code, stop } of WAYS_TO_STOP) {
    it(`stopping an agent by ${name} closes its sockets with 1008, ends its phone call in two seconds and refuses its next`, async () => {
      const agent = await liveAgent(name.replaceAll(' ', '-'));
      const sockets = await openBoth(world.wsUrl, agent.key);
      sockets.transcription.ws.send(SOUND);
      const callId = await openWebhookCall(world.url, world.sql, agent, WEBHOOK);
      expect((await askGuide(world.url, agent.key)).status).toBe(200);

      const closed = [sockets.transcription, sockets.realtime].map((socket) =>
        closeCode(socket, WITHIN_MS),
      );
      const stopped = await stop(world.url, developer, agent);
      const callOver = stoppedCall(world.sql, callId, WITHIN_MS);
      expect([200, 201]).toContain(stopped.status);
      const refused = await askGuide(world.url, agent.key);
      expect([refused.status, refused.body.error]).toMatchObject([status, { code }]);
      expect(await Promise.all(closed)).toEqual([1008, 1008]);
      await callOver;

      const money = await settledMoney(world.sql, agent.agentId);
      expect(money.charged).toBeGreaterThan(0n);
      const [row] = await world.sql`
        select spendable_raw + consumed_raw = credited_raw as whole from agent_funds
        where agent_id = ${agent.agentId}`;
      expect(row?.whole).toBe(true);
      // A close pays out what is left; everything else leaves it where it was.
      if (code !== 'account_closed') expect(money.spendable).toBe(FUNDS - money.charged);
    });
  }
});
