import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FundedAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { RATE_LIMITS } from '../../src/rate-limit/limits.ts';
import { SPEND_LIMITS } from '../../src/spend/limits.ts';
import { answersIn, RawSocket, rawRequest } from '../support/raw-socket.ts';
import {
  ask,
  askGuide,
  newDeveloper,
  startWorld,
  type WholeWorld,
} from '../support/whole-world.ts';

const PATH = '/v1/agents/ledger/sync';
const AT = 1_786_449_600;

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const event = (change: object = {}) =>
  JSON.stringify({
    timestamp: AT,
    kind: 'llm',
    model_or_tool: 'gpt-x',
    cost_usd: 0.25,
    prompt_tokens: 3,
    ...change,
  });
const upload = (agent: FundedAgent, body: string | Uint8Array) =>
  ask(world.url + PATH, {
    headers: { ...bearer(agent.agentKey), 'content-type': 'application/x-ndjson' },
    body,
  });

async function rowsOf(agentId: number): Promise<number> {
  const [row] = await world.sql<{ count: number }[]>`
    select count(*)::int as count from reconciled_events where agent_id = ${agentId}`;
  return row?.count ?? -1;
}

/** An upload on a bare connection, sent piece by piece in whatever cuts. */
async function beginUpload(agent: FundedAgent) {
  const socket = await RawSocket.open(world.port);
  const headers = [`Authorization: Bearer ${agent.agentKey}`, 'Transfer-Encoding: chunked'];
  socket.send(rawRequest(`POST ${PATH}`, headers));
  return {
    socket,
    send(bytes: string | Uint8Array) {
      const piece = Buffer.from(bytes);
      const size = `${piece.length.toString(16)}\r\n`;
      socket.send(Buffer.concat([Buffer.from(size), piece, Buffer.from('\r\n')]));
    },
    end: () => socket.send('0\r\n\r\n'),
    answer: () => socket.until((text) => answersIn(text) > 0 && text.endsWith('}')),
  };
}

describe('an upload of what was bought elsewhere', () => {
  it('an upload of outside purchases stores each valid event line, counts the rest, and has only duplicates when repeated', async () => {
    const agent = await world.fund('uploads');
    const lines = [
      event({ timestamp: '2026-08-11T12:00:00.123456Z', label: 'größe', completion_tokens: 4 }),
      '',
      event({ cost_usd: 0.0000005 }),
      event({ unknown: 1 }),
      'no json',
      `${event({ kind: 'tool', reserved: 0.3 })}\r`,
      'x'.repeat(SPEND_LIMITS.sync.lineBytes + 1),
      event(),
    ];
    const body = lines.join('\n');
    const first = await upload(agent, body);
    expect([first.status, first.body]).toEqual([200, { synced: 4, duplicates: 0, rejected: 3 }]);
    expect((await upload(agent, `${body}\n\n`)).body).toEqual({
      synced: 0,
      duplicates: 4,
      rejected: 3,
    });
    const rows = await world.sql`
      select to_char(at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS.US') as at, kind, model_or_tool,
        cost_raw, prompt_tokens, completion_tokens, label
      from reconciled_events where agent_id = ${agent.agentId} order by label, kind, cost_raw`;
    const plain = {
      model_or_tool: 'gpt-x',
      prompt_tokens: 3,
      completion_tokens: null,
      label: null,
    };
    const noon = { at: '2026-08-11 12:00:00.000000', ...plain };
    expect(rows).toEqual([
      {
        ...plain,
        at: '2026-08-11 12:00:00.123456',
        kind: 'llm',
        cost_raw: 250_000n,
        completion_tokens: 4,
        label: 'größe',
      },
      { ...noon, kind: 'llm', cost_raw: 1n },
      { ...noon, kind: 'llm', cost_raw: 250_000n },
      { ...noon, kind: 'tool', cost_raw: 250_000n },
    ]);
  });

  it('an upload of outside purchases tells equal lines apart by their number in the upload, and agents from each other', async () => {
    const [agent, other] = [await world.fund('repeats'), await world.fund('repeats too')];
    const same = event();
    const twice = `${same}\n${same}`;
    expect((await upload(agent, twice)).body).toEqual({ synced: 2, duplicates: 0, rejected: 0 });
    expect((await upload(agent, twice)).body).toEqual({ synced: 0, duplicates: 2, rejected: 0 });
    expect((await upload(agent, `${twice}\n${same}`)).body).toMatchObject({
      synced: 1,
      duplicates: 2,
    });
    // Another way to say the same is the same.
    const spelled = event({ timestamp: '2026-08-11T14:00:00+02:00', label: null, reserved: true });
    expect((await upload(agent, spelled)).body).toMatchObject({ synced: 0, duplicates: 1 });
    for (const change of [{ cost_usd: 0.26 }, { label: '' }, { completion_tokens: 0 }]) {
      expect((await upload(agent, event(change))).body).toMatchObject({ synced: 1 });
    }
    expect((await upload(other, twice)).body).toMatchObject({ synced: 2 });
  });

  it('an upload of outside purchases is stored once by concurrent senders, in whatever order', async () => {
    const agent = await world.fund('races uploads');
    const lines = Array.from({ length: 4_000 }, (_, i) => event({ label: `line ${i}` }));
    const told = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        upload(agent, (i % 2 === 0 ? lines : lines.toReversed()).join('\n')),
      ),
    );
    const sum = (name: string) => told.reduce((total, { body }) => total + Number(body[name]), 0);
    expect([sum('synced'), sum('duplicates'), sum('rejected')]).toEqual([4_000, 20_000, 0]);
    expect(await rowsOf(agent.agentId)).toBe(4_000);
  });

  it('an upload of outside purchases moves no money and changes no totals', async () => {
    const agent = await world.fund('stays rich');
    await askGuide(world.url, agent.agentKey);
    const state = async () => {
      const tables = ['agent_funds', 'postings', 'holds', 'charges', 'events'];
      const counted = ['action_totals', 'spend_totals', 'team_counters'];
      const texts = await Promise.all(
        [...tables, ...counted].map((table) =>
          world.sql.unsafe(`select t::text from ${table} t order by 1`),
        ),
      );
      return JSON.stringify(texts);
    };
    // What the chat is counted under is written behind its answer.
    let before = await state();
    const isAtRest = async () => {
      const earlier = before;
      before = await state();
      return before === earlier;
    };
    await expect.poll(isAtRest, { interval: 250 }).toBe(true);
    expect(before.length).toBeGreaterThan(200);
    expect((await upload(agent, event({ cost_usd: 999_999_999 }))).body.synced).toBe(1);
    expect(await state()).toBe(before);
  });
});

describe('an upload that is refused', () => {
  it('an upload of outside purchases gets 400 when no line is readable, and 200 when some line is', async () => {
    const agent = await world.fund('sends nothing');
    for (const body of ['', '\n \r\n\t\n', 'x', '[]\n1\n', 'x'.repeat(20_000)]) {
      const told = await upload(agent, body);
      expect([told.status, told.body.error]).toEqual([400, 'Invalid request']);
      expect(told.body.details).toMatchObject([{ code: 'no_readable_line' }]);
    }
    expect((await upload(agent, 'x\n{}\n')).body).toEqual({
      synced: 0,
      duplicates: 0,
      rejected: 2,
    });
  });

  it('an upload of outside purchases gets 413 from the first event or byte over the limit, and stores nothing', async () => {
    const agent = await world.fund('sends too much');
    const many = (count: number) => `${event()}\n${'{}\n'.repeat(count - 1)}`;
    const tooMany = await upload(agent, many(SPEND_LIMITS.sync.events + 1));
    expect([tooMany.status, tooMany.body]).toMatchObject([
      413,
      { error: 'payload_too_large', limit_events: SPEND_LIMITS.sync.events },
    ]);
    expect((await upload(agent, many(1_000_000))).status).toBe(413);
    // The last one needs no newline to be one too many; a blank one is none.
    expect((await upload(agent, `${many(SPEND_LIMITS.sync.events)}{}`)).status).toBe(413);

    const padded = (bytes: number) => event().padEnd(bytes, ' \n');
    const tooLong = await upload(agent, padded(SPEND_LIMITS.sync.bodyBytes + 1));
    expect([tooLong.status, tooLong.body]).toMatchObject([
      413,
      { error: 'payload_too_large', limit_bytes: SPEND_LIMITS.sync.bodyBytes },
    ]);
    expect(await rowsOf(agent.agentId)).toBe(0);
    expect((await upload(agent, `${many(SPEND_LIMITS.sync.events)}\n\n`)).body).toEqual({
      synced: 1,
      duplicates: 0,
      rejected: 4_999,
    });
    expect((await upload(agent, padded(SPEND_LIMITS.sync.bodyBytes))).body).toMatchObject({
      duplicates: 1,
    });
  });

  it('an upload of outside purchases needs an agent key with write permission, of an active agent', async () => {
    const developer = await newDeveloper(world.api, 'refused uploads');
    const agentId = await developer.createAgent('reads only');
    const keys = `${world.url}/v1/developer/agents/${agentId}`;
    const minted = await ask(`${keys}/keys`, {
      headers: developer.headers,
      body: { permissions: 'read' },
    });
    const told = async (headers: Readonly<Record<string, string>>) => {
      const { status, body } = await ask(world.url + PATH, { headers, body: event() });
      return [status, body.error];
    };
    expect(await told(bearer(String(minted.body.key)))).toEqual([403, 'read_only_key']);
    expect(await told(developer.headers)).toEqual([401, 'wrong_credential_type']);
    expect(await told({})).toEqual([401, 'Missing or invalid Authorization header']);
    const { key } = await developer.mintKey(agentId);
    const patch = { method: 'PATCH', headers: developer.headers, body: { status: 'suspended' } };
    await ask(`${keys}/status`, patch);
    expect(await told(bearer(key))).toEqual([403, 'agent_suspended']);
    await ask(`${keys}/close`, { method: 'POST', headers: developer.headers });
    expect(await told(bearer(key))).toEqual([403, 'account_closed']);
    expect(await rowsOf(agentId)).toBe(0);
  });

  it('uploads of outside purchases are limited to sixty a minute, counted per agent', async () => {
    const [agent, other] = [await world.fund('hurries'), await world.fund('does not')];
    const statuses: number[] = [];
    for (let i = 0; i < RATE_LIMITS.usual.ledgerSyncPerMinute; i++) {
      statuses.push((await upload(agent, '{}')).status);
    }
    expect(statuses.every((status) => status === 200)).toBe(true);
    const told = await upload(agent, '{}');
    expect([told.status, told.body]).toMatchObject([
      429,
      { error: 'rate_limit_exceeded', reason: 'agent_ledger_limit', limit_per_minute: 60 },
    ]);
    expect(Number(told.headers.get('retry-after'))).toBeGreaterThan(0);
    const fine = await upload(other, '{}');
    expect([fine.status, fine.headers.get('x-ratelimit-remaining')]).toEqual([200, '59']);
  });
});

describe('an upload on its way', () => {
  it('an upload of outside purchases may be split anywhere on the wire, even in the middle of a character', async () => {
    const agent = await world.fund('dribbles');
    const { socket, send, end, answer } = await beginUpload(agent);
    const bytes = Buffer.from(`${event({ label: 'größe 🔑' })}\r\n${event({ label: 'b' })}`);
    for (let i = 0; i < bytes.length; i += 3) {
      send(bytes.subarray(i, i + 3));
      if (i % 9 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    end();
    expect(await answer()).toContain('{"synced":2,"duplicates":0,"rejected":0}');
    const labels = await world.sql`
      select label from reconciled_events where agent_id = ${agent.agentId} order by label`;
    expect(labels).toEqual([{ label: 'b' }, { label: 'größe 🔑' }]);
    // A chunked request is the last one of its connection.
    expect(answersIn(await socket.untilClosed())).toBe(1);
  });

  it('an upload of outside purchases whose client leaves halfway stores nothing', async () => {
    const agent = await world.fund('leaves');
    const { socket, send } = await beginUpload(agent);
    send(`${event()}\n`.repeat(2_000));
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await rowsOf(agent.agentId)).toBe(0);
    expect((await upload(agent, event())).status).toBe(200);
  });

  it('an upload of outside purchases is refused while it is still being sent, and its client can read the reason', async () => {
    const agent = await world.fund('writes on');
    const { socket, send, end, answer } = await beginUpload(agent);
    for (let i = 0; i < 40; i++) send('{}\n'.repeat(20_000));
    end();
    expect(await answer()).toContain('413 Payload Too Large');
    expect(answersIn(await socket.untilClosed())).toBe(1);
    expect(await rowsOf(agent.agentId)).toBe(0);
  });

  it('an unread upload with an unknown key does not block the connection', async () => {
    const socket = await RawSocket.open(world.port);
    const headers = [`Authorization: Bearer svc_${'0'.repeat(64)}`, 'Content-Length: 1000000'];
    socket.send(rawRequest(`POST ${PATH}`, headers));
    socket.send(Buffer.alloc(1_000_000, 'x\n'));
    await socket.until((text) => text.includes('Invalid API key'));
    socket.send(rawRequest('GET /v1/health', ['Connection: close']));
    expect(await socket.untilClosed()).toContain('HTTP/1.1 200 OK');
  });
});
