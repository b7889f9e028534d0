import { describe, expect, it } from 'vitest';
import { PREPAID, useAccountsEdge } from '../../support/accounts-edge.ts';

const accounts = useAccountsEdge();
const { ask } = accounts;

const addCharge = (
  agentId: number,
  costRaw: number,
  sessionId: string | null = null,
) => accounts.sql`
  insert into charges (agent_id, posting_id, target_url, target_host, method, status, cost_raw, usage, session_id)
  values (${agentId}, ${`p${costRaw}`}, 'gateway://acme/fast', 'acme', 'POST', 'success', ${costRaw}, '{}',
    ${sessionId})`;

const addSession = (agentId: number, id: string, summary: object | null) => accounts.sql`
  insert into sessions (id, agent_id, kind, target, model, account, node_id, lease_epoch, ended_at, end_reason,
    summary)
  values (${id}, ${agentId}, 'realtime', 'gateway://acme/fast', 'acme/voice', 'gateway', 'n', 1, now(),
    ${summary === null ? 'process_lost' : 'idle'}, ${summary === null ? null : accounts.sql.json(summary as never)})`;

const SUMMARY = {
  turns: 3,
  interruptions: 1,
  heardSeconds: 4.2,
  spokenSeconds: 6,
  stages: { answer: { count: 3, meanMs: 210, maxMs: 400 } },
  jitterMs: 1.5,
  jitterMaxMs: 20,
  underruns: 0,
  underrunMs: 0,
};

describe('the charges of an account', () => {
  it('an account’s recent charges are newest first over its agents, and a session’s charge carries its summary', async () => {
    const { agent, headers } = await accounts.edge.agentOf('charged');
    const { agentId } = agent;
    await addSession(agentId, 'sess_whole', SUMMARY);
    await addSession(agentId, 'sess_lost', null);
    await addCharge(agentId, 1);
    await addCharge(agentId, 2, 'sess_whole');
    await addCharge(agentId, 3, 'sess_lost');

    const { status, body } = await ask('GET', '/v1/developer/charges/recent', { headers });
    expect(status).toBe(200);
    const line = {
      time: expect.stringMatching(/Z$/),
      agentId,
      agentName: PREPAID.name,
      vendor: 'acme',
      endpoint: 'gateway://acme/fast',
    };
    const session = { kind: 'realtime' };
    expect(body).toEqual({
      charges: [
        {
          ...line,
          amountRaw: '3',
          session: { ...session, id: 'sess_lost', reason: 'process_lost', summary: null },
        },
        {
          ...line,
          amountRaw: '2',
          session: { ...session, id: 'sess_whole', reason: 'idle', summary: SUMMARY },
        },
        { ...line, amountRaw: '1' },
      ],
      limit: 20,
    });
  });

  it('an account’s recent charges are limited, cost more than zero, and belong to the account alone', async () => {
    const { agent, headers } = await accounts.edge.agentOf('charged often');
    for (let costRaw = 1; costRaw <= 3; costRaw++) await addCharge(agent.agentId, costRaw);
    const page = async (query: string, whose = headers) => {
      const path = `/v1/developer/charges/recent${query}`;
      const { body } = await ask('GET', path, { headers: whose });
      const { charges, limit } = body as { charges: { amountRaw: string }[]; limit: number };
      return [charges.map(({ amountRaw }) => amountRaw), limit];
    };
    expect(await page('?limit=2')).toEqual([['3', '2'], 2]);
    await addCharge(agent.agentId, 0);
    expect(await page('?limit=1')).toEqual([['3'], 1]);
    expect(await page('?limit=100')).toEqual([['3', '2', '1'], 100]);
    const other = await accounts.edge.agentOf('charged never');
    expect(await page('', other.headers)).toEqual([[], 20]);
  });

  it('the recent charges refuse an invalid or too large limit, and a caller without a credential', async () => {
    const { headers } = await accounts.edge.agentOf('charged wrongly');
    const path = '/v1/developer/charges/recent';
    for (const limit of ['many', '0', '-3', '101', '1e1', '', '99999999999999999999']) {
      expect([limit, (await ask('GET', `${path}?limit=${limit}`, { headers })).status]).toEqual([
        limit,
        400,
      ]);
    }
    expect((await ask('GET', path, {})).status).toBe(401);
  });
});
