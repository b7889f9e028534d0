import { expect } from 'vitest';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { rentNumber } from './phone-world.ts';
import { RealtimeClient } from './realtime-client.ts';
import { ask, type Developer, type Told } from './whole-world.ts';

export type LiveAgent = { readonly agentId: number; readonly keyId: number; readonly key: string };

/** Every way in which an agent's program loses its right to spend, and how its next call is refused. */
export const WAYS_TO_STOP: readonly {
  readonly name: string;
  readonly status: number;
  readonly code: string;
  stop(url: string, developer: Developer, agent: LiveAgent): Promise<Told>;
}[] = [
  {
    name: 'revoking its key',
    status: 401,
    code: 'invalid_api_key',
    stop: (url, { headers }, { agentId, keyId }) =>
      ask(`${url}/v1/developer/agents/${agentId}/keys/${keyId}`, { method: 'DELETE', headers }),
  },
  {
    name: 'rotating its key',
    status: 401,
    code: 'invalid_api_key',
    stop: (url, { headers }, { agentId, keyId }) =>
      ask(`${url}/v1/developer/agents/${agentId}/keys/${keyId}/rotate`, { headers, body: {} }),
  },
  {
    name: 'suspending the agent',
    status: 403,
    code: 'agent_suspended',
    stop: (url, { headers }, { agentId }) =>
      ask(`${url}/v1/developer/agents/${agentId}/status`, {
        method: 'PATCH',
        headers,
        body: { status: 'suspended' },
      }),
  },
  {
    name: 'closing the agent',
    status: 403,
    code: 'account_closed',
    stop: (url, { headers }, { agentId }) =>
      ask(`${url}/v1/developer/agents/${agentId}/close`, { method: 'POST', headers }),
  },
];

export type LiveSockets = {
  readonly transcription: RealtimeClient;
  readonly realtime: RealtimeClient;
};

/** A transcription and a realtime session, both standing and both with money held. */
export async function openBoth(wsUrl: string, key: string): Promise<LiveSockets> {
  const bearer = { authorization: `Bearer ${key}` };
  const path = '/v1/audio/transcriptions/stream?model=local/pocketsphinx';
  const transcription = new RealtimeClient(`${wsUrl}${path}`, [], bearer);
  await transcription.opened();
  const realtime = new RealtimeClient(`${wsUrl}/v1/realtime?model=local/realtime`, [], bearer);
  await realtime.until(({ type }) => type === 'session.created');
  return { transcription, realtime };
}

/** The code by which a socket was closed, or `open` when it still stands after so long. */
export function closeCode(socket: RealtimeClient, withinMs: number): Promise<number | 'open'> {
  const late = new Promise<'open'>((resolve) => setTimeout(() => resolve('open'), withinMs));
  return Promise.race([socket.closed.then(({ code }) => code), late]);
}

/**
 * A call that talks, and whose agent is a backend of its developer: no hold of it grows, so that no refusal of one ends it.
 * Answers its id.
 */
export async function openWebhookCall(
  url: string,
  sql: Sql,
  { agentId, key }: LiveAgent,
  webhookUrl: string,
): Promise<string> {
  await rentNumber(sql, agentId, `+1415555${1_000 + agentId}`);
  await sql`
    insert into voice_settings (agent_id, voice_mode, webhook_url, begin_message)
    values (${agentId}, 'webhook', ${webhookUrl}, ${'This goes on and on. '.repeat(20)})`;
  const headers = { authorization: `Bearer ${key}` };
  const body = { toNumber: '+14155550199', maxSpendRaw: '200000' };
  const placed = await ask(`${url}/v1/calls`, { headers, body });
  expect(placed.status, JSON.stringify(placed.body)).toBe(201);
  const callId = String(placed.body.callId);
  await expect
    .poll(() => callOf(sql, callId), { timeout: 20_000, interval: 50 })
    .toMatchObject({ status: 'in_progress' });
  return callId;
}

/** Waits until a call has ended, and its carrier has hung up, because its agent was stopped. */
export const stoppedCall = (sql: Sql, callId: string, withinMs: number): Promise<void> =>
  expect
    .poll(() => callOf(sql, callId), { timeout: withinMs, interval: 50 })
    .toMatchObject({ status: 'completed', reason: 'suspended', carrier: 'completed' });

async function callOf(sql: Sql, callId: string): Promise<Record<string, unknown> | undefined> {
  const [row] = await sql`
    select c.status, c.carrier_status as carrier, e.payload ->> 'reason' as reason
    from calls c left join events e on e.correlation_id = c.id and e.name = 'call.ended'
    where c.id = ${callId}`;
  return row;
}
