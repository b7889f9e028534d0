import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACCOUNT_LIMITS } from '../../src/accounts/limits.ts';
import type { FundedAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { HTTP_LIMITS } from '../../src/http/limits.ts';
import { MODEL_LIMITS } from '../../src/models/limits.ts';
import { TestSocket } from '../support/web-socket-client.ts';
import {
  type Ask,
  ask,
  type Developer,
  type Money,
  moneyOf,
  newDeveloper,
  settledMoney,
  startWorld,
  type Told,
  type WholeWorld,
} from '../support/whole-world.ts';

let world: WholeWorld;
let developer: Developer;
let agent: FundedAgent;
let agentId: number;
let before: Money;
beforeAll(async () => {
  world = await startWorld();
  developer = await newDeveloper(world.api, 'careless');
  agentId = await developer.createAgent('sturdy');
  agent = await world.fund('funded');
  before = await moneyOf(world.sql, agent.agentId);
});
afterAll(async () => {
  expect(await moneyOf(world.sql, agent.agentId), 'nothing moved').toEqual(before);
  expect((await ask(`${world.url}/v1/health`)).status).toBe(200);
  await world[Symbol.asyncDispose]();
});

const to = (path: string, options: Ask = {}): Promise<Told> => ask(world.url + path, options);
const asDeveloper = (path: string, body: unknown) => to(path, { headers: developer.headers, body });
const asAgent = (path: string, body: unknown) =>
  to(path, { headers: { authorization: `Bearer ${agent.agentKey}` }, body });
const credit = (body: unknown, ref: number | string = agent.agentId) =>
  to(`/v1/admin/agents/${ref}/credit`, { headers: { 'x-admin-key': world.adminApiKey }, body });

const AGENT = { maxRateBps: 100, expirySeconds: 3_600 };

describe('a body that is no JSON', () => {
  const BROKEN: readonly (readonly [string, string | Uint8Array])[] = [
    ['malformed', '{"name": '],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
    ['two documents', '{} {}'],
    ['deeply nested', '['.repeat(100_000)],
    ['a byte order mark alone', Buffer.from([0xef, 0xbb, 0xbf])],
  ];
  for (const [what, body] of BROKEN) {
    it(`an invalid JSON body (${what}) is answered 400 in the error format of each area`, async () => {
      const flat = await asDeveloper('/v1/developer/agents', body);
      expect([flat.status, flat.body.error]).toEqual([400, 'Invalid request']);
      const key = await asDeveloper('/v1/developer/keys', body);
      expect([key.status, key.body.error]).toEqual([400, 'Invalid request body']);
      const chat = await asAgent('/v1/chat/completions', body);
      expect([chat.status, chat.body.error]).toMatchObject([
        400,
        { type: 'invalid_request_error' },
      ]);
      const admin = await credit(body);
      expect([admin.status, typeof admin.body.error]).toEqual([400, 'string']);
    });
  }

  it('a body larger than its route allows is answered 413, with or without a declared length', async () => {
    const large = await asDeveloper('/v1/developer/agents', {
      ...AGENT,
      name: 'x'.repeat(HTTP_LIMITS.body.jsonBytes),
    });
    expect([large.status, large.body]).toMatchObject([
      413,
      { error: 'payload_too_large', limit_bytes: HTTP_LIMITS.body.jsonBytes },
    ]);
    const chat = await asAgent('/v1/chat/completions', 'x'.repeat(MODEL_LIMITS.chat.bodyBytes + 1));
    expect([chat.status, chat.body.error]).toMatchObject([413, { code: 'payload_too_large' }]);
  });
});

describe('an address that is none', () => {
  it('an unknown path is answered 404, and a wrong method 405 with the allowed methods', async () => {
    const unknown = await to('/v1/developer/nothing/here');
    expect([unknown.status, unknown.body.error]).toEqual([404, 'not_found']);
    const ofClients = await to('/v1/chat/completion', { method: 'POST' });
    expect(ofClients.status).toBe(404);
    expect(ofClients.body.error).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('did you mean POST /v1/chat/completions?'),
    });
    const verb = await to('/v1/developer/agents', { method: 'DELETE' });
    expect([verb.status, verb.body.error]).toEqual([405, 'method_not_allowed']);
    expect(verb.headers.get('allow')?.split(', ')).toEqual(
      expect.arrayContaining(['GET', 'POST', 'OPTIONS']),
    );
  });

  it('a path with an id that is no number is answered 400, and with an unknown id 404', async () => {
    const { headers } = developer;
    for (const id of ['abc', '-1', '1.5', '1e3', '0x1', '%00', '1%20', '９', '9'.repeat(400)]) {
      const told = await to(`/v1/developer/agents/${id}`, { headers });
      expect([told.status, told.body.error], id).toEqual([400, 'Invalid request']);
      expect((await credit({ amountRaw: '1', reference: 'no' }, id)).status, id).toBe(400);
    }
    for (const id of ['0', '00', '2147483647', '2147483648', '999999999999999']) {
      const told = await to(`/v1/developer/agents/${id}`, { headers });
      expect([told.status, told.body.error], id).toEqual([404, 'not_found']);
      expect((await credit({ amountRaw: '1', reference: 'no' }, id)).status, id).toBe(404);
    }
    const wallet = `0x${'1'.repeat(40)}`;
    expect((await credit({ amountRaw: '1', reference: 'no' }, wallet)).status).toBe(404);
    expect((await credit({ amountRaw: '1', reference: 'no' }, `${wallet}1`)).status).toBe(400);
    const badEscape = await to('/v1/models/%E0%A4', { headers: developer.headers });
    expect(badEscape.status).toBe(400);
  });
});

describe('an amount that is none', () => {
  const HUGE = (2n ** 300n).toString();
  const AMOUNTS = [
    '0',
    '00',
    '-1',
    '+1',
    '1.5',
    '1e6',
    '0x10',
    ' 1',
    '1 ',
    '١',
    '',
    HUGE,
    '9'.repeat(100_000),
    '9223372036854775808',
    '1_000',
    'Infinity',
    'NaN',
    '1\u0000',
    1,
    1.5,
    -1,
    null,
    true,
    [],
    ['1'],
    {},
  ];
  it('an invalid amount credits nothing and is answered 400, whatever its form', async () => {
    for (const amountRaw of AMOUNTS) {
      const told = await credit({ amountRaw, reference: `bad-${String(amountRaw).slice(0, 40)}` });
      expect([told.status, told.body.error], String(amountRaw)).toEqual([400, 'Invalid request']);
    }
    const missing = await credit({ reference: 'without' });
    expect(missing.status).toBe(400);
  });

  it('an amount that fits a number but overflows balances is refused', async () => {
    for (const amountRaw of [`${ACCOUNT_LIMITS.agent.creditRaw + 1n}`, '9223372036854775807']) {
      const told = await credit({ amountRaw, reference: 'the-most-there-is' });
      expect([told.status, told.body.error], amountRaw).toEqual([400, 'Invalid request']);
    }
  });
});

describe('text that no column holds', () => {
  it('text with a NUL in a label, a name, a reference or a customer is answered 400', async () => {
    const { headers } = developer;
    const keys = `/v1/developer/agents/${agentId}/keys`;
    const told = [
      await asDeveloper('/v1/developer/agents', { ...AGENT, name: 'nul\u0000' }),
      await asDeveloper('/v1/developer/keys', { label: 'nul\u0000' }),
      await asDeveloper(keys, { label: 'nul\u0000' }),
      await credit({ amountRaw: '1', reference: 'nul\u0000' }),
      await to('/v1/admin/agents/%00/balance', { headers: { 'x-admin-key': world.adminApiKey } }),
      await to('/v1/admin/agents?cursor=%00', { headers: { 'x-admin-key': world.adminApiKey } }),
    ];
    expect(told.map(({ status }) => status)).toEqual(told.map(() => 400));
    expect((await to(keys, { headers })).body.keys).toEqual([]);
  });

  it('a session whose customer tag holds a NUL opens without the tag', async () => {
    const spare = await world.fund('tagged');
    const bearer = { authorization: `Bearer ${spare.agentKey}` };
    for (const [path, customer] of [
      ['/v1/realtime?model=local/realtime&customer_id=', 'a%00b'],
      ['/v1/audio/transcriptions/stream?model=local/pocketsphinx&customer_id=', '%00'],
      ['/v1/listen?model=local/pocketsphinx&customer_id=', '%00'],
    ]) {
      const socket = new TestSocket(`${world.wsUrl}${path}${customer}`, [], bearer);
      await socket.opened();
      socket.ws.close();
      await socket.closed;
    }
    await settledMoney(world.sql, spare.agentId);
    const rows = await world.sql`
      select distinct customer_id from sessions where agent_id = ${spare.agentId}`;
    expect(rows).toEqual([{ customer_id: null }]);
  });

  it('a label in any script is returned as sent, and a label with half a surrogate pair is refused', async () => {
    const keys = `/v1/developer/agents/${agentId}/keys`;
    for (const label of ['🔑 ключ', 'مفتاح', '‮txet', 'e\u0301', "'; drop table agents; --"]) {
      const made = await asDeveloper(keys, { label });
      expect([made.status, made.body.label]).toEqual([201, label]);
      const listed = (await to(keys, { headers: developer.headers })).body.keys;
      expect(listed).toMatchObject([{ label }]);
      await to(`${keys}/${made.body.keyId}`, { method: 'DELETE', headers: developer.headers });
    }
    expect((await asDeveloper(keys, '{"label":"\\ud83d"}')).status).toBe(400);
    const named = await asDeveloper('/v1/developer/agents', { ...AGENT, name: '🤖' });
    expect([named.status, named.body.error]).toEqual([400, 'Invalid request']);
  });
});

describe('a body that says too little or too much', () => {
  it('a body may be missing when all of its fields are optional', async () => {
    const { headers } = developer;
    const keys = `/v1/developer/agents/${agentId}/keys`;
    const made = await to(keys, { method: 'POST', headers });
    expect([made.status, made.body.label]).toEqual([201, null]);
    const rotated = await to(`${keys}/${made.body.keyId}/rotate`, { method: 'POST', headers });
    expect(rotated.status).toBe(201);
    await to(`${keys}/${rotated.body.keyId}`, { method: 'DELETE', headers });

    const empty = await to('/v1/developer/agents', { method: 'POST', headers });
    expect([empty.status, empty.body.error]).toEqual([400, 'Invalid request']);
    expect(empty.body.details).toEqual(
      expect.arrayContaining([expect.objectContaining({ path: ['name'] })]),
    );
  });

  it('a body is read without unknown fields, `__proto__` among them', async () => {
    const text = `{"name":"odd fields","maxRateBps":100,"expirySeconds":3600,
      "status":"closed","agentId":1,"accountId":"acct_x","__proto__":{"status":"closed"},"nope":1}`;
    const made = await asDeveloper('/v1/developer/agents', text);
    expect([made.status, made.body.status]).toEqual([201, 'active']);
    for (const body of ['null', '1', '"text"', '[]', 'true']) {
      const told = await asDeveloper('/v1/developer/agents', body);
      expect([told.status, told.body.error], body).toEqual([400, 'Invalid request']);
    }
  });
});
