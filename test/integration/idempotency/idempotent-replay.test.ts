import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ok, type RouteReply, route } from '../../../src/http/route/route.ts';
import { IDEMPOTENCY_LIMITS } from '../../../src/idempotency/limits.ts';
import { endLease } from '../../../src/ledger/store/lease-store.ts';
import { gatewayErrors } from '../../../src/models/errors.ts';
import { proxyErrors } from '../../../src/payments/errors.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { bearer, KEYS } from '../../support/edge.ts';
import { type KeyedEdge, startKeyedEdge } from '../../support/keyed-edge.ts';
import { RawSocket, rawRequest } from '../../support/raw-socket.ts';

const ODD = Buffer.concat([Buffer.from([0, 1, 10, 13, 92, 127, 128, 255]), Buffer.from('ü☂')]);
const CHUNK = Buffer.alloc(64 * 1024, 'c');

/** What the routes below were asked, and what they wait for. */
const play = { runs: 0, workIds: [] as (string | undefined)[], gate: Promise.resolve() };

/** Closes the way for whatever runs, until it is opened. */
function closeGate(): () => void {
  let open = () => {};
  play.gate = new Promise((resolve) => {
    open = resolve;
  });
  return open;
}

async function* chunks(count: number) {
  for (let n = 0; n < count; n++) {
    await play.gate;
    yield CHUNK;
  }
}

async function* broken() {
  yield CHUNK;
  throw new Error('the source broke');
}

const octets = { 'content-type': 'application/octet-stream' };
const SCRIPTS: Readonly<Record<string, () => RouteReply | Promise<RouteReply>>> = {
  odd: () => ({ status: 203, body: ODD, headers: { 'content-type': 'x/odd', 'x-svc-odd': 'a"ü' } }),
  json: () => ok({ run: play.runs, word: 'naïve ☂' }, { 'x-svc-cost-usdc': '17' }),
  async slow() {
    await play.gate;
    return ok({ run: play.runs });
  },
  refused() {
    throw gatewayErrors.budgetExhausted({ available: '1', required: '2' });
  },
  passing() {
    throw proxyErrors.unreachable('not now');
  },
  busy: () => ({
    status: 503,
    body: { error: 'vendor_unavailable' },
    headers: { 'x-should-retry': 'true', 'retry-after': '1' },
  }),
  bug() {
    throw new Error('a bug');
  },
  exactly: () => ({
    status: 200,
    body: Buffer.alloc(IDEMPOTENCY_LIMITS.answerBytes),
    headers: octets,
  }),
  tooLong: () => ({
    status: 200,
    body: Buffer.alloc(IDEMPOTENCY_LIMITS.answerBytes + 1),
    headers: octets,
  }),
  stream: () => ({ status: 200, body: chunks(10), headers: octets }),
  longStream: () => ({ status: 200, body: chunks(100), headers: octets }),
  brokenStream: () => ({ status: 200, body: broken(), headers: octets }),
};

const idempotent = (path: `/${string}`, envelope: 'flat' | 'openai', keepsRefusals = false) =>
  route()({
    method: 'POST',
    path,
    summary: 'test',
    envelope,
    idempotent: true,
    keepsRefusals,
    credential: 'any',
    rateLimit: 'gateway',
    body: z.object({ script: z.string() }),
    handle({ body, workId }) {
      play.runs++;
      play.workIds.push(workId);
      const script = SCRIPTS[body.script];
      if (script === undefined) throw new Error('no such script');
      return script();
    },
  });

let db: TestDatabase;
let edge: KeyedEdge;
beforeAll(async () => {
  db = await testDatabase(10);
  const routes = [
    idempotent('/v1/buy', 'flat'),
    idempotent('/v1/chat', 'openai'),
    idempotent('/v1/send', 'flat', true),
  ];
  edge = await startKeyedEdge(db.sql, routes, { rateLimits: { gatewayPerMinute: 10_000 } });
});
afterAll(async () => {
  await edge[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});
beforeEach(() => {
  play.runs = 0;
  play.workIds = [];
  play.gate = Promise.resolve();
});

let keys = 0;
const newKey = () => `key ${++keys} "'\\{}`;

type Options = { key?: string; credential?: string; path?: string; at?: KeyedEdge };

async function post(script: string, options: Options = {}) {
  const { key, credential = KEYS.agent, path = '/v1/buy', at = edge } = options;
  const answer = await fetch(at.url + path, {
    method: 'POST',
    headers: {
      ...bearer(credential),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify({ script }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const text = bytes.toString();
  return {
    status: answer.status,
    headers: answer.headers,
    bytes,
    json: () => JSON.parse(text) as Record<string, unknown>,
    isReplay: answer.headers.get('x-svc-idempotent-replay') === 'true',
  };
}

type Told = Awaited<ReturnType<typeof post>>;

/** Everything of an answer that its handler decided. */
const handlersPart = ({ status, headers, bytes }: Told) => ({
  status,
  bytes: bytes.toString('hex'),
  headers: ['content-type', 'x-svc-odd', 'x-svc-cost-usdc', 'x-should-retry'].map((name) =>
    headers.get(name),
  ),
});

describe('a request that is sent again under its key', () => {
  it('a repeated request under its Idempotency-Key gets the first response byte for byte, and runs once', async () => {
    for (const script of ['odd', 'json', 'refused', 'bug', 'nonsense', 'exactly', 'stream']) {
      play.runs = 0;
      const key = newKey();
      const first = await post(script, { key });
      const again = [await post(script, { key }), await post(script, { key })];
      expect([first, ...again].map(({ isReplay }) => isReplay)).toEqual([false, true, true]);
      for (const replay of again) expect(handlersPart(replay)).toEqual(handlersPart(first));
      expect([script, play.runs]).toEqual([script, 1]);
    }
  });

  it('an Idempotency-Key replays its response even to another body, but answers 409 on another route', async () => {
    const key = newKey();
    const first = await post('odd', { key });
    expect(handlersPart(await post('json', { key }))).toEqual(handlersPart(first));
    const elsewhere = await post('odd', { key, path: '/v1/chat' });
    expect(elsewhere.status).toBe(409);
    expect(elsewhere.json()).toMatchObject({
      idempotency_key: key,
      error: { type: 'invalid_request_error', code: 'idempotency_key_reused' },
    });
    expect(play.runs).toBe(1);
  });

  it('an Idempotency-Key is separate for each agent and account, and a request without one always runs', async () => {
    const key = newKey();
    const credentials = [KEYS.agent, KEYS.otherAgent, KEYS.developer];
    for (const credential of credentials) await post('json', { key, credential });
    for (const credential of credentials) {
      expect((await post('json', { key, credential })).isReplay).toBe(true);
    }
    expect(play.runs).toBe(3);
    expect(new Set(play.workIds).size).toBe(3);
    await post('json');
    await post('json');
    expect(play.runs).toBe(5);
    expect(play.workIds.slice(3)).toEqual([undefined, undefined]);
  });

  it('a request under its Idempotency-Key runs again ten minutes after its response, and not before', async () => {
    const key = newKey();
    await post('json', { key });
    const age = (seconds: number) => db.sql`
      update idempotency_keys set expires_at = expires_at - ${seconds} * interval '1 second'
      where key = ${key}`;
    await age(590);
    expect((await post('json', { key })).isReplay).toBe(true);
    await age(10);
    expect((await post('json', { key })).isReplay).toBe(false);
    expect(play.runs).toBe(2);
  });

  it('a 401 is not replayed to a later valid request with the same Idempotency-Key', async () => {
    const key = newKey();
    expect((await post('json', { key, credential: 'svc_wrong' })).status).toBe(401);
    expect(await post('json', { key })).toMatchObject({ status: 200, isReplay: false });
  });

  it('an Idempotency-Key must have 1 to 255 plain characters', async () => {
    for (const key of ['', 'k'.repeat(256), 'k\u00fck']) {
      const refused = await post('json', { key });
      expect([refused.status, refused.json().error]).toEqual([400, 'Invalid request']);
    }
    expect((await post('json', { key: 'k'.repeat(255) })).status).toBe(200);
  });
});

describe('a refusal that may pass', () => {
  it.each([
    ['is not kept, so that a client may repeat it', '/v1/buy', 'true', 2],
    [
      'is kept where a route keeps all, and says that a repetition is of no use',
      '/v1/send',
      'false',
      1,
    ],
  ])('a thrown passing refusal %s', async (_, path, retry, runs) => {
    const key = newKey();
    const told = [await post('passing', { key, path }), await post('passing', { key, path })];
    expect(told.map(({ status }) => status)).toEqual([502, 502]);
    expect(told.map(({ headers }) => headers.get('x-should-retry'))).toEqual([retry, retry]);
    expect([told[1]?.isReplay, play.runs]).toEqual([runs === 1, runs]);
  });

  it('a passing refusal that a handler returns is kept or not like a thrown one', async () => {
    for (const [path, retry, runs] of [
      ['/v1/buy', 'true', 2],
      ['/v1/send', 'false', 1],
    ] as const) {
      const [key, before] = [newKey(), play.runs];
      const told = [await post('busy', { key, path }), await post('busy', { key, path })];
      expect(told.map(({ status }) => status)).toEqual([503, 503]);
      expect(told.map(({ headers }) => headers.get('x-should-retry'))).toEqual([retry, retry]);
      expect([told[1]?.isReplay, play.runs - before]).toEqual([runs === 1, runs]);
    }
  });
});

describe('a key in flight', () => {
  it('a running Idempotency-Key answers 409 request_in_flight in every process, and its request runs once', async () => {
    await using other = await startKeyedEdge(db.sql, [
      idempotent('/v1/buy', 'flat'),
      idempotent('/v1/chat', 'openai'),
    ]);
    const open = closeGate();
    const [flat, chat] = [newKey(), newKey()];
    const running = [post('slow', { key: flat }), post('slow', { key: chat, path: '/v1/chat' })];
    await expect.poll(() => play.runs).toBe(2);
    for (const at of [edge, other]) {
      const refused = await post('slow', { key: flat, at });
      expect(refused.status).toBe(409);
      expect(refused.json()).toMatchObject({ error: 'request_in_flight', idempotency_key: flat });
      expect(refused.headers.get('x-should-retry')).toBe('false');
      const inChat = await post('slow', { key: chat, path: '/v1/chat', at });
      expect(inChat.json()).toMatchObject({
        idempotency_key: chat,
        error: { type: 'invalid_request_error', code: 'request_in_flight' },
      });
    }
    open();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await post('slow', { key: flat, at: other })).isReplay).toBe(true);
    expect(play.runs).toBe(2);
  });

  it('a running Idempotency-Key answers 409 beyond its ten minutes while its process lives', async () => {
    const open = closeGate();
    const key = newKey();
    const running = post('slow', { key });
    await expect.poll(() => play.runs).toBe(1);
    await db.sql`update idempotency_keys set expires_at = now() where key = ${key}`;
    expect((await post('slow', { key })).json().error).toBe('request_in_flight');
    open();
    await running;
    expect((await post('slow', { key })).isReplay).toBe(true);
  });

  it('a key of a process that died before any hold is taken over by one request, which runs once', async () => {
    await using dying = await startKeyedEdge(db.sql, [idempotent('/v1/buy', 'flat')]);
    const open = closeGate();
    const key = newKey();
    const lost = post('slow', { key, at: dying });
    await expect.poll(() => play.runs).toBe(1);
    await endLease(db.sql, dying.node);
    const racers = Array.from({ length: 6 }, () => post('slow', { key }));
    await expect.poll(() => play.runs).toBe(2);
    const early = await Promise.race(racers);
    expect(early.json().error).toBe('request_in_flight');
    open();
    const answers = await Promise.all(racers);
    // One that looks when the work is done is answered what it came to.
    const winners = answers.filter(({ status, isReplay }) => status === 200 && !isReplay);
    expect(winners).toHaveLength(1);
    expect((await lost).status).toBe(200);
    const replay = await post('slow', { key });
    // What the one that was given up for dead answered in the end is not what is kept.
    expect(replay.bytes.equals(winners[0]?.bytes ?? Buffer.alloc(0))).toBe(true);
    expect(play.runs).toBe(2);
  });
});

describe('an answer that is too long to keep', () => {
  it('a response too long to keep is sent whole, and its key answers 409 response_not_replayable from then on', async () => {
    for (const script of ['tooLong', 'longStream']) {
      const key = newKey();
      const first = await post(script, { key });
      expect(first.status).toBe(200);
      expect(first.bytes.byteLength).toBeGreaterThan(IDEMPOTENCY_LIMITS.answerBytes);
      const again = await post(script, { key });
      expect(again.status).toBe(409);
      expect(again.json()).toMatchObject({
        error: 'response_not_replayable',
        idempotency_key: key,
      });
    }
    expect(play.runs).toBe(2);
  });
});

describe('a streamed answer under a key', () => {
  const rawPost = (script: string, key: string) => {
    const body = JSON.stringify({ script });
    const headers = [`authorization: Bearer ${KEYS.agent}`, `idempotency-key: ${key}`];
    return rawRequest('POST /v1/buy', [...headers, `content-length: ${body.length}`]) + body;
  };

  it('a streamed response keeps its key in flight until its last byte, or until its client leaves', async () => {
    const open = closeGate();
    const key = `stream-${++keys}`;
    const socket = await RawSocket.open(edge.port);
    socket.send(rawPost('stream', key));
    await expect.poll(() => play.runs).toBe(1);
    expect((await post('stream', { key })).json().error).toBe('request_in_flight');
    socket.destroy();
    await expect
      .poll(async () => (await post('stream', { key })).json().error)
      .toBe('response_not_replayable');
    open();
    expect(play.runs).toBe(1);
  });

  it('a streamed response that broke is neither run again nor replayed', async () => {
    const key = newKey();
    await expect(post('brokenStream', { key })).rejects.toThrow();
    expect((await post('brokenStream', { key })).json().error).toBe('response_not_replayable');
  });
});

describe('the rate limit and a key', () => {
  it('a replay takes no rate limit token, and a 429 leaves the Idempotency-Key free for the retry', async () => {
    await using small = await startKeyedEdge(db.sql, [idempotent('/v1/buy', 'flat')], {
      rateLimits: { gatewayPerMinute: 2 },
    });
    const [first, second] = [newKey(), newKey()];
    expect((await post('json', { key: first, at: small })).status).toBe(200);
    for (let n = 0; n < 5; n++) {
      expect((await post('json', { key: first, at: small })).isReplay).toBe(true);
    }
    expect((await post('json', { at: small })).status).toBe(200);
    expect((await post('json', { key: second, at: small })).status).toBe(429);
    expect(await post('json', { key: second })).toMatchObject({ status: 200, isReplay: false });
  });
});
