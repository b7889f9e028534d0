import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { PROVIDERS, type Provider } from '../../src/orchestrators/platform.ts';
import {
  connectPlatform,
  endOf,
  proofOf,
  sendSigned,
  type TestConnection,
} from '../support/platform-world.ts';
import {
  ask,
  type Developer,
  newDeveloper,
  startWorld,
  type WholeWorld,
} from '../support/whole-world.ts';

const PATH = '/v1/developer/orchestrators';

let world: WholeWorld;
let refused: Awaited<ReturnType<typeof owner>>;
beforeAll(async () => {
  world = await startWorld();
  refused = await owner('refused');
});
afterAll(async () => {
  const violations = await checkInvariants(world.sql);
  await world[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
});

/** A developer with an agent, and the management of its connections. */
async function owner(name: string) {
  const developer: Developer = await newDeveloper(world.api, name);
  const { headers } = developer;
  const agentId = await developer.createAgent(name);
  const manage = (method: string, path: string, body?: unknown) =>
    ask(`${world.url}${path}`, { method, headers, ...(body !== undefined && { body }) });
  const policies = `/v1/developer/agents/${agentId}/policies`;
  return {
    developer,
    agentId,
    manage,
    /** Makes a policy. Answers its id. */
    async cap(body: object, path = policies): Promise<number> {
      const made = await manage('POST', path, body);
      if (made.status !== 201) throw new Error(JSON.stringify(made.body));
      return (made.body.policy as { id: number }).id;
    },
    /** What counts under each of the agent's policies, by id. */
    async spent(path = policies): Promise<Record<number, string>> {
      const rows = (await manage('GET', path)).body.policies as { id: number; spentRaw: string }[];
      return Object.fromEntries(rows.map(({ id, spentRaw }) => [id, spentRaw]));
    },
  };
}

/** An agent with a connection to a platform. */
async function connected(name: string, provider: Provider) {
  const owned = await owner(name);
  const { agentId, developer } = owned;
  return { ...owned, connection: await connectPlatform(world.url, developer, agentId, provider) };
}

const end = (connection: TestConnection, callId: string, costUsd: number, more?: object) =>
  sendSigned(connection, connection.webhookUrl, endOf(connection.provider, callId, costUsd, more));

/** All rows that a call-end could have written for an agent. */
async function written(agentId: number) {
  const [row] = await world.sql`
    select (select count(*)::int from platform_calls where agent_id = ${agentId}) as calls,
      (select count(*)::int from reconciled_events where agent_id = ${agentId}) as lines,
      (select coalesce(sum(cost_raw), 0)::text from reconciled_events where agent_id = ${agentId}) as cost,
      (select count(*)::int from postings where agent_id = ${agentId}) as postings,
      (select version::text from agent_funds where agent_id = ${agentId}) as version`;
  return row;
}

const events = (callId: string) => world.sql<{ name: string; payload: Record<string, unknown> }[]>`
  select name, payload from events where correlation_id = ${callId} order by id`;

describe('a connection to a voice platform', () => {
  it.each(PROVIDERS)(
    '%s is connected once, listed without its secret, rotated, switched off and deleted',
    async (provider) => {
      const { agentId, connection, manage } = await connected(`life of ${provider}`, provider);
      const { secret, ...shown } = connection;
      expect(shown).toMatchObject({ id: expect.any(Number), provider, label: null, active: true });
      expect(shown.webhookUrl).toMatch(new RegExp(`/v1/webhooks/${provider}/call-end/[\\w-]{43}$`));
      expect(shown.preCallUrl).toMatch(new RegExp(`/v1/webhooks/${provider}/pre-call/[\\w-]{43}$`));
      const listed = (await manage('GET', PATH)).body.connections as { id: number }[];
      expect(listed.find(({ id }) => id === shown.id)).toEqual(shown);
      const again = { agentId: String(agentId), provider, secret: 'another-secret' };
      expect(await manage('POST', PATH, again)).toMatchObject({
        status: 409,
        body: { error: 'already_connected' },
      });
      expect((await end(connection, `${provider}-1`, 0.5)).body).toEqual({
        ok: true,
        duplicate: false,
      });

      const rotated = await manage('POST', `${PATH}/${shown.id}/rotate`, {});
      const fresh = {
        ...rotated.body,
        secret: rotated.body.secret ?? secret,
      } as unknown as TestConnection;
      expect(rotated.status).toBe(200);
      expect(fresh.webhookUrl).not.toBe(shown.webhookUrl);
      const before = await written(agentId);
      expect((await end(connection, `${provider}-2`, 0.5)).status).toBe(404);
      if (rotated.body.secret !== undefined) {
        expect((await end({ ...fresh, secret }, `${provider}-2`, 0.5)).status).toBe(401);
      }
      expect(await written(agentId)).toEqual(before);
      expect((await end(fresh, `${provider}-2`, 0.5)).status).toBe(200);

      const off = await manage('PATCH', `${PATH}/${shown.id}`, { active: false });
      expect(off.body).toEqual({ ok: true, active: false });
      expect((await end(fresh, `${provider}-3`, 0.5)).status).toBe(404);
      await manage('PATCH', `${PATH}/${shown.id}`, { active: true });
      expect((await end(fresh, `${provider}-3`, 0.5)).status).toBe(200);
      expect((await manage('DELETE', `${PATH}/${shown.id}`)).body).toEqual({ ok: true });
      expect((await end(fresh, `${provider}-4`, 0.5)).status).toBe(404);
      expect(await written(agentId)).toMatchObject({ calls: 3, lines: 3, cost: '1500000' });
    },
  );

  it('the token of a connection and its secret stand in no row, and in no error text', async () => {
    const { connection } = await connected('secretive', 'vapi');
    const token = connection.webhookUrl.split('/').at(-1) as string;
    const [row] = await world.sql`
      select c::text as text from orchestrator_connections c where id = ${connection.id}`;
    expect(row?.text).not.toContain(token);
    expect(row?.text).not.toContain(connection.secret);
    const base = `${world.url}/v1/webhooks`;
    for (const url of [
      `${connection.webhookUrl}/`,
      `${base}/vapi/call-ends/${token}`,
      `${base}/twilio/call-end/${token}`,
      `${base}/retell/call-end/${token}`,
      `${world.url}/webhooks/vapi/call-end/${token}`,
      connection.webhookUrl,
    ]) {
      for (const method of ['POST', 'GET', 'PUT']) {
        const { body } = await ask(url, { method, ...(method !== 'GET' && { body: '{}' }) });
        expect(JSON.stringify(body)).not.toContain(token);
      }
    }
  });

  it.each([
    [400, 'invalid_provider', { provider: 'twilio' }],
    [400, 'Invalid request', { provider: 7 }],
    [400, 'secret_required', { provider: 'retell' }],
    [400, 'secret_required', { provider: 'bland' }],
    [400, 'Invalid request', { provider: 'vapi', secret: 'short' }],
    [400, 'Invalid request', { provider: 'vapi', secret: 'x'.repeat(513) }],
    [400, 'Invalid request', { provider: 'vapi', secret: 'two\nlines of it' }],
    [400, 'Invalid request', { provider: 'vapi', label: 'x'.repeat(129) }],
    [400, 'Invalid request', { provider: 'vapi', agentId: -1 }],
    [400, 'Invalid request', { provider: 'vapi', agentId: 'seven' }],
    [404, 'not_found', { provider: 'vapi', agentId: 2_000_000_000 }],
    [404, 'not_found', { provider: 'vapi', agentId: '999999999999999' }],
  ])('a connection is refused with %i %s: %j', async (status, error, body) => {
    const { agentId, manage } = refused;
    const made = await manage('POST', PATH, { agentId, ...body });
    expect([made.status, made.body.error]).toEqual([status, error]);
  });

  it('a connection of another account reads as absent', async () => {
    const { agentId, connection } = await connected('owned', 'pipecat');
    const { headers } = await newDeveloper(world.api, 'stranger');
    const path = `${world.url}${PATH}/${connection.id}`;
    const tries = [
      ask(`${path}/rotate`, { headers, body: {} }),
      ask(path, { method: 'PATCH', headers, body: { active: false } }),
      ask(path, { method: 'DELETE', headers }),
      ask(`${world.url}${PATH}`, { headers, body: { agentId, provider: 'livekit' } }),
    ];
    expect((await Promise.all(tries)).map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await end(connection, 'owned-1', 0)).status).toBe(200);
  });
});

describe('a call-end', () => {
  it('the cost of a call counts under session, task and api policies of agent and team, once, and moves no balance', async () => {
    const { agentId, cap, connection, spent } = await connected('counted', 'retell');
    const own = { windowKind: 'rolling' };
    const task = await cap({
      kind: 'task',
      matchKey: 'task-1',
      limitRaw: '9000000',
      ...own,
    });
    const api = await cap({
      kind: 'api',
      matchKey: 'api.retellai.com',
      limitRaw: '9000000',
    });
    const other = await cap({ kind: 'api', matchKey: 'api.vapi.ai', limitRaw: '9000000' });
    const call = {
      call_id: 'counted-1',
      metadata: { svc_task_id: 'task-1' },
      call_cost: { combined_cost: 150 },
      transcript: 'Agent: Hello.',
      recording_url: 'https://example.com/r.wav',
    };
    const analyzed = {
      ...call,
      call_cost: { combined_cost: 155.5 },
      call_analysis: { call_summary: 'Short.', call_successful: true, user_sentiment: 'Positive' },
    };
    const send = (event: string, body: object) =>
      sendSigned(connection, connection.webhookUrl, { event, call: body });
    // In the wrong order, doubled, and at once.
    const answers = await Promise.all([
      send('call_analyzed', analyzed),
      send('call_analyzed', analyzed),
      send('call_ended', call),
      send('call_ended', call),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await send('call_ended', call)).body).toEqual({ ok: true, duplicate: true });
    expect((await send('call_started', call)).body).toEqual({ ok: true, ignored: true });
    expect(await spent()).toMatchObject({
      [task]: '1555000',
      [api]: '1555000',
      [other]: '0',
    });
    // A policy that is made later counts the call, too.
    const later = await cap({
      kind: 'api',
      matchKey: '.retellai.com',
      matchKind: 'host_suffix',
      limitRaw: '9000000',
    });
    expect((await spent())[later]).toBe('1555000');
    expect(await written(agentId)).toMatchObject({ calls: 1, cost: '1555000' });
    const told = await events('counted-1');
    expect(told.map(({ name }) => name).sort()).toEqual([
      'call.analyzed',
      'call.recording.ready',
      'call.report.ready',
    ]);
    expect(told.every(({ payload }) => payload.provider === 'retell')).toBe(true);
    const [funds] = await world.sql`
      select spendable_raw, held_raw, consumed_raw from agent_funds where agent_id = ${agentId}`;
    expect(funds).toEqual({ spendable_raw: 0n, held_raw: 0n, consumed_raw: 0n });
  });

  it('the report of a call of two hours, with each word twice and its times, is counted', async () => {
    const { connection } = await connected('long', 'retell');
    const words = Array.from({ length: 8_000 }, (_, at) => ({
      word: 'so',
      start: at,
      end: at + 1,
    }));
    const transcript = { transcript_object: [{ words }], transcript_with_tool_calls: [{ words }] };
    const { body } = await end(connection, 'long-1', 12, transcript);
    expect(body).toEqual({ ok: true, duplicate: false });
  });

  it('a later cost of a call replaces the earlier one, downwards too, and a repeat of an earlier report changes nothing', async () => {
    const { agentId, cap, connection, manage, spent } = await connected('corrected', 'livekit');
    const team = '/v1/developer/policies';
    const own = await cap({ kind: 'api', matchKey: 'livekit', limitRaw: '9000000' });
    const shared = await cap({ kind: 'session', windowKind: 'rolling', limitRaw: '9000000' }, team);
    await manage('PUT', `/v1/developer/agents/${agentId}/spend-limit`, { limitRaw: '9000000' });
    for (const [cost, duplicate] of [
      [0.8, false],
      [0.3, false],
      [0.8, true],
      [0.3, true],
      [0, false],
      [0.25, false],
    ] as const) {
      const answer = await end(connection, 'corrected-1', cost);
      expect(answer.body).toEqual({ ok: true, duplicate });
    }
    const { body } = await manage('GET', `/v1/developer/agents/${agentId}/spend-limit`);
    expect(body.sessionSpentRaw).toBe('250000');
    expect((await spent())[own]).toBe('250000');
    expect((await spent(team))[shared]).toBe('250000');
    expect(await written(agentId)).toMatchObject({ calls: 1, cost: '250000' });
  });

  it('a call-end beyond a kill switch of the agent suspends it, fires agent.suspended, and later calls are denied', async () => {
    const { agentId, cap, connection, manage, spent } = await connected('stopped', 'vapi');
    const policy = await cap({
      kind: 'api',
      matchKey: 'api.vapi.ai',
      limitRaw: '1000000',
      action: 'suspend_agent',
    });
    expect((await end(connection, 'stopped-1', 1)).status).toBe(200);
    const status = async () => {
      const { body } = await manage('GET', `/v1/developer/agents/${agentId}`);
      return body.agent as Record<string, unknown>;
    };
    expect((await status()).status).toBe('active');
    const ask1 = () =>
      sendSigned(connection, `${connection.preCallUrl}?assistantId=a1`, {
        message: {
          type: 'assistant-request',
          call: { id: 'in-1' },
          customer: { number: '+15550001' },
        },
      });
    // The cap has nothing left: the next call is denied, while the agent goes on.
    expect((await ask1()).body).toEqual({
      error: expect.stringContaining('cannot take further calls'),
    });
    expect((await end(connection, 'stopped-2', 0.2)).body).toEqual({ ok: true, duplicate: false });
    expect(await status()).toMatchObject({
      status: 'suspended',
      suspendedReason: `policy:${policy}`,
    });
    expect((await ask1()).body).toEqual({ error: expect.stringContaining('not available') });
    const fired = await world.sql`
      select name from events where name = 'agent.suspended'
        and (payload->>'agentId')::int = ${agentId}`;
    expect(fired).toHaveLength(1);
    const refused = await events('in-1');
    expect(refused.map(({ name, payload }) => [name, payload.reason, payload.from])).toEqual([
      ['call.rejected', 'budget_exceeded', '+15550001'],
      ['call.rejected', 'agent_suspended', '+15550001'],
    ]);
    // Money that was spent is counted all the same.
    expect((await end(connection, 'stopped-3', 0.1)).status).toBe(200);
    expect((await spent())[policy]).toBe('1300000');
  });

  it('a call-end beyond a kill switch of the team suspends the agent that made the call', async () => {
    const { agentId, cap, connection, manage } = await connected('team stopped', 'bland');
    const body = { kind: 'session', windowKind: 'rolling', limitRaw: '1000000' };
    const policy = await cap({ ...body, action: 'suspend_agent' }, '/v1/developer/policies');
    expect((await end(connection, 'team-1', 1.5)).body).toEqual({ ok: true, duplicate: false });
    const { agent } = (await manage('GET', `/v1/developer/agents/${agentId}`)).body;
    expect(agent).toMatchObject({ status: 'suspended', suspendedReason: `policy:${policy}` });
  });

  it.each(PROVIDERS)(
    'forged, unsigned and oversized requests of %s write nothing',
    async (provider) => {
      const { agentId, connection } = await connected(`forged ${provider}`, provider);
      const before = await written(agentId);
      const body = JSON.stringify(endOf(provider, 'forged-1', 1));
      const other = JSON.stringify(endOf(provider, 'forged-1', 0.01));
      const post = (headers: Record<string, string>, sent: string | Uint8Array = body) =>
        ask(connection.webhookUrl, { headers, body: sent }).then(({ status }) => status);
      const good = proofOf(connection, body);
      const [[name = '', value = ''] = []] = Object.entries(good);
      expect(await post({})).toBe(401);
      expect(await post({ [name]: '' })).toBe(401);
      expect(await post({ [name]: value.slice(0, -1) })).toBe(401);
      expect(await post(proofOf({ ...connection, secret: 'guessed-secret' }, body))).toBe(401);
      // Vapi's header is the secret itself and says nothing about the body.
      if (provider !== 'vapi') expect(await post(good, other)).toBe(401);
      const huge = Buffer.alloc(10 * 1024 * 1024, ' ');
      expect(await post(proofOf(connection, huge.toString()), huge)).toBe(413);
      expect(await post(proofOf(connection, 'no json'), 'no json')).toBe(400);
      expect(await post(proofOf(connection, '[]'), '[]')).toBe(400);
      // Some platforms connect a call after any error, so that a question which cannot be read is denied.
      const question = { headers: proofOf(connection, 'no json'), body: 'no json' };
      const denied = await ask(`${connection.preCallUrl}?assistantId=a1`, question);
      expect([denied.status, JSON.stringify(denied.body)]).toEqual([
        provider === 'bland' ? 402 : 200,
        expect.stringMatching(/error|reject|"allowed":false/),
      ]);
      expect(await written(agentId)).toEqual(before);
      expect(await post(good)).toBe(200);
    },
  );
});
