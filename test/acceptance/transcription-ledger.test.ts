import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLedger, type LiveLedger } from '../../src/actors/ledger.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createRealtimeSocket } from '../../src/sockets/realtime.ts';
import { createTranscriptionSocket } from '../../src/sockets/transcriptions-stream.ts';
import { createBalanceStore } from '../../src/store/balance-store.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { bearer, type Edge, fakeCredentials, startEdge } from '../support/edge.ts';
import { seedAgent } from '../support/ledger-world.ts';
import { RealtimeClient } from '../support/realtime-client.ts';
import { bytesOf, tone } from '../support/voice-fakes.ts';
import { createVoiceWorld } from '../support/voice-world.ts';

const RATE = 16_000;

let database: TestDatabase;
let ledger: LiveLedger;
let edge: Edge;
let agentId: number;

/** The sockets over fake engines, on the real ledger, for one agent with this much. */
async function start(creditRaw: bigint): Promise<void> {
  const store = createBalanceStore({
    sql: database.sql,
    node: { nodeId: 'test', leaseEpoch: 1 },
  });
  ledger = createLedger({ store, clock: systemClock, log: silentLog });
  const agent = await seedAgent(database.sql);
  const keyId = agent.keyId;
  agentId = agent.agentId;
  await ledger.credit({ agentId, amountRaw: creditRaw, reference: 'start' });
  const { deps } = await createVoiceWorld({
    clock: systemClock,
    creditRaw,
    change: { ledger },
  });
  edge = await startEdge({
    sockets: [createTranscriptionSocket(deps), createRealtimeSocket(deps)],
    credentials: {
      ...fakeCredentials,
      agentKey: () => ({
        ...{ kind: 'agent', agentId, keyId, keyRootId: keyId, accountId: 'acct_1' },
        ...{ permission: 'read_write', status: 'active', operatorExpiry: null },
      }),
    },
  });
}

beforeEach(async () => {
  database = await testDatabase();
});
afterEach(async () => {
  await edge[Symbol.asyncDispose]();
  await ledger[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function connect(path: string, tags: Record<string, string> = {}): Promise<RealtimeClient> {
  const headers = { ...bearer('svc_1'), ...tags };
  const client = new RealtimeClient(`ws://127.0.0.1:${edge.port}${path}`, [], headers);
  await client.opened();
  return client;
}

/** What the agent has once its session is settled, and the lines it left. */
async function settled() {
  for (let i = 0; i < 200; i++) {
    const funds = await ledger.funds(agentId);
    if (funds?.heldRaw === 0n) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const funds = await ledger.funds(agentId);
  const charges = await database.sql<{ cost_raw: bigint; usage: Record<string, number> }[]>`
    select cost_raw, usage from charges where agent_id = ${agentId}`;
  return { funds, charges };
}

describe('voice sessions on the real ledger', () => {
  it('cuts a transcription at its last slice, the row saying what the balance lost', async () => {
    await start(250n);
    const client = await connect('/v1/audio/transcriptions/stream?model=local/pocketsphinx');
    client.ws.send(bytesOf(tone(30_000, RATE)));
    expect(await client.closed).toEqual({ code: 1008, reason: 'insufficient_balance' });
    const { funds, charges } = await settled();
    expect(funds).toMatchObject({ spendableRaw: 40n, heldRaw: 0n });
    expect(charges).toHaveLength(1);
    expect(charges[0]).toMatchObject({ cost_raw: 210n, usage: { audio_second: 20 } });
  });

  it('settles a conversation to the sum of its turns', async () => {
    await start(1_000_000n);
    const client = await connect('/v1/realtime?model=local/realtime');
    for (const turn of [1, 2, 3]) {
      client.say({ type: 'response.create' });
      await client.until(() => client.of('response.done').length === turn);
    }
    client.ws.close();
    await client.closed;
    const { funds, charges } = await settled();
    expect(funds?.heldRaw).toBe(0n);
    expect(charges).toHaveLength(1);
    expect((funds?.spendableRaw ?? 0n) + (charges[0]?.cost_raw ?? 0n)).toBe(1_000_000n);
  });

  it('leave their tags in the line of either socket, normalized, and none for a tag that is none', async () => {
    await start(1_000_000n);
    const tags = {
      'x-svc-task-id': ' Errand-7 ',
      'x-svc-action-id': 'READ Aloud',
      'x-svc-customer-id': 'x'.repeat(129),
    };
    for (const path of [
      '/v1/audio/transcriptions/stream?model=local/pocketsphinx',
      '/v1/realtime?model=local/realtime&customer_id=ignored',
    ]) {
      const client = await connect(path, tags);
      if (path.includes('realtime')) {
        client.say({ type: 'response.create' });
        await client.until(() => client.of('response.done').length === 1);
      } else client.ws.send(bytesOf(tone(1_000, RATE)));
      client.ws.close();
      await client.closed;
      await settled();
    }
    const rows = await database.sql`
      select task_id as task, action_id as action, customer_id as customer from charges
      where agent_id = ${agentId}`;
    const expected = { task: 'errand-7', action: 'read aloud', customer: null };
    expect(rows).toEqual([expected, expected]);
  });
});
