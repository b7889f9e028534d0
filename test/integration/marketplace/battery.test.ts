import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { REMOTE_VENDORS } from '../../../src/marketplace/vendors/vendors.ts';
import {
  MARKET,
  type MarketWorld,
  type Shopper,
  SPEECH,
  startMarketWorld,
  TEXT,
  TEXT_RAW,
} from '../../support/vendors/market-world.ts';
import { KEY } from '../../support/vendors/vendor-peer.ts';
import { moneyOf, settledMoney, type Told } from '../../support/whole-world.ts';

let market: MarketWorld;
beforeAll(async () => {
  market = await startMarketWorld({}, { vendorMs: 400 });
});
afterAll(() => market[Symbol.asyncDispose]());

const HEARING = '/v1/stt/deepgram';
const MINUTE_RAW = 8_085n;

const pause = () => new Promise((resolve) => setTimeout(resolve, 5));

const costOf = ({ headers }: Told) => BigInt(headers.get('x-svc-cost-usdc') ?? '0');

/** All that an agent was told it was charged is what its ledger has, to the raw unit, and nothing stays held. */
async function expectTold(agent: Shopper, startRaw: bigint, ...told: readonly Told[]) {
  const money = await settledMoney(market.world.sql, agent.agentId);
  const sum = told.reduce((all, one) => all + costOf(one), 0n);
  expect({ spent: startRaw - money.spendable, charged: money.charged, held: money.held }).toEqual({
    spent: sum,
    charged: sum,
    held: 0n,
  });
  expect(await checkInvariants(market.world.sql)).toEqual([]);
}

describe('a vendor that does not deliver costs nothing', () => {
  it.each([
    ['fails', { kind: 'status', status: 500 }, 500, 'passthrough'],
    [
      'is away',
      { kind: 'status', status: 503, headers: { 'retry-after': '7' } },
      503,
      'passthrough',
    ],
    [
      'refuses the request',
      { kind: 'status', status: 422, body: `{"key":"${KEY}"}` },
      422,
      'passthrough',
    ],
    ['limits its callers', { kind: 'status', status: 429 }, 429, 'passthrough'],
    ['refuses the account', { kind: 'status', status: 401 }, 503, 'passthrough'],
    ['wants money itself', { kind: 'status', status: 402 }, 503, 'passthrough'],
    [
      'sends its callers elsewhere',
      { kind: 'status', status: 302, headers: { location: 'http://a/' } },
      503,
      'passthrough',
    ],
    ['breaks off', { kind: 'cut' }, 502, null],
    ['says nothing', { kind: 'silence' }, 502, null],
    ['answers no sound', { kind: 'says', said: { type: 'text/html', body: '<p>' } }, 502, null],
    ['answers with nothing', { kind: 'says', said: { type: 'audio/mpeg', body: '' } }, 502, null],
  ] as const)('a speech vendor that %s costs nothing', async (_, fault, status, payment) => {
    const agent = await market.shopper('unlucky');
    market.peer.faults.push(fault);
    const told = await agent.buy(SPEECH, { text: TEXT });
    expect([told.status, told.headers.get('x-svc-payment')]).toEqual([status, payment]);
    expect(JSON.stringify(told.body)).not.toContain(KEY);
    await expectTold(agent, 1_000_000n, told);
    // And the next one is served.
    const next = await agent.buy(SPEECH, { text: TEXT });
    expect(costOf(next)).toBe(TEXT_RAW);
    await expectTold(agent, 1_000_000n, told, next);
  });

  it('a transcription whose vendor returns no transcript or never finishes costs nothing', async () => {
    const agent = await market.shopper('unheard');
    const body = { audioUrl: market.sound(1_000) };
    market.peer.faults.push({ kind: 'says', said: { body: '{"results":{}}' } });
    const none = await agent.buy(HEARING, body);
    expect([none.status, none.body.error]).toEqual([502, 'Failed to reach target URL']);
    const waiting = { id: 'a', status: 'processing' };
    const said = { body: JSON.stringify({ ...waiting, upload_url: 'cdn:a' }) };
    market.peer.faults.push(...Array.from({ length: 4 }, () => ({ kind: 'says', said }) as const));
    const never = await agent.buy('/v1/stt/assemblyai', body);
    expect([never.status, never.headers.get('x-svc-payment')]).toEqual([502, null]);
    market.peer.faults.length = 0;
    await expectTold(agent, 1_000_000n, none, never);
  });

  it.each([
    ['assemblyai', { id: 'a', status: 'queued', upload_url: 'cdn:a' }, '/transcript/a'],
    ['speechmatics', { id: 'a', job: { status: 'running' } }, '/jobs/a?force=true'],
  ])(
    'a transcription that never finishes costs nothing, and its job is deleted at %s',
    async (vendor, waiting, path) => {
      const agent = await market.shopper(`waiting for ${vendor}`);
      const asked = market.peer.heard.length;
      const said = { body: JSON.stringify(waiting) };
      market.peer.faults.push(
        ...Array.from({ length: 8 }, () => ({ kind: 'says', said }) as const),
      );
      const never = await agent.buy(`/v1/stt/${vendor}`, { audioUrl: market.sound(1_000) });
      market.peer.faults.length = 0;
      expect([never.status, never.headers.get('x-svc-payment')]).toEqual([502, null]);
      const deleted = market.peer.heard.slice(asked).filter(({ method }) => method === 'DELETE');
      expect(deleted.map(({ url }) => url.pathname + url.search)).toEqual([path]);
      await expectTold(agent, 1_000_000n, never);
    },
  );

  it('a transcription whose vendor gives the file up is refused with 422 and costs nothing', async () => {
    const agent = await market.shopper('given up');
    const said = { body: JSON.stringify({ id: 'a', status: 'error', error: 'no sound in it' }) };
    market.peer.faults.push({ kind: 'says', said: { body: '{"upload_url":"cdn:a"}' } });
    market.peer.faults.push({ kind: 'says', said });
    const told = await agent.buy('/v1/stt/assemblyai', { audioUrl: market.sound(1_000) });
    expect([told.status, told.headers.get('x-svc-payment')]).toEqual([422, 'passthrough']);
    expect(told.body).toMatchObject({ error: { message: 'could not: no sound in it' } });
    await expectTold(agent, 1_000_000n, told);
  });
});

describe('each vendor', () => {
  it.each(
    REMOTE_VENDORS.map(({ name, services }) => [name, services.tts ? 'tts' : 'stt'] as const),
  )('vendor %s costs nothing when it fails or breaks off', async (vendor, service) => {
    const agent = await market.shopper(`unlucky with ${vendor}`);
    const body = service === 'tts' ? { text: TEXT } : { audioUrl: market.sound(1_000) };
    market.peer.faults.push({ kind: 'status', status: 500 });
    const failed = await agent.buy(`/v1/${service}/${vendor}`, body);
    expect([failed.status, failed.headers.get('x-svc-payment')]).toEqual([500, 'passthrough']);
    market.peer.faults.push({ kind: 'cut' });
    const cut = await agent.buy(`/v1/${service}/${vendor}`, body);
    expect([cut.status, cut.body.error]).toEqual([502, 'Failed to reach target URL']);
    const money = await settledMoney(market.world.sql, agent.agentId);
    expect(money).toMatchObject({ spendable: 1_000_000n, charged: 0n, held: 0n });
  });
});

describe('a long recording', () => {
  it('an hour of fast speech is transcribed with every word and space, and charged', async () => {
    const agent = await market.shopper('listening long');
    const words = Array.from({ length: 2 * 300 * 60 }, (_, at) => ({
      text: at % 2 ? ' ' : 'word',
      start: at / 10,
      end: at / 10,
      logprob: 0,
      type: at % 2 ? 'spacing' : 'word',
      speaker_id: 'speaker_0',
    }));
    const said = { body: JSON.stringify({ text: 'word', words }) };
    market.peer.faults.push({ kind: 'says', said });
    const told = await agent.buy('/v1/stt/elevenlabs', { audioUrl: market.sound(1_000) });
    expect(told.status).toBe(200);
    expect((told.body.result as { words: unknown[] }).words).toHaveLength(words.length);
    expect(costOf(told)).toBe(65n);
    await expectTold(agent, 1_000_000n, told);
  });
});

describe('a vendor that lies', () => {
  it('a vendor that exaggerates its work is paid only for what was requested', async () => {
    const agent = await market.shopper('lied to');
    // The peer claims a day of sound, and a million characters.
    const heard = await agent.buy(HEARING, { audioUrl: market.sound(1_000) });
    expect(costOf(heard)).toBe(MINUTE_RAW);
    const spoken = await agent.buy('/v1/tts/inworld', { text: TEXT });
    expect(costOf(spoken)).toBe(2_625n);
    await expectTold(agent, 1_000_000n, heard, spoken);
  });

  it('a vendor that answers 200 with a refusal in its body is paid nothing', async () => {
    const agent = await market.shopper('refused kindly');
    const body = JSON.stringify({ base_resp: { status_code: 1008, status_msg: 'no money' } });
    market.peer.faults.push({ kind: 'says', said: { body } });
    const told = await agent.buy('/v1/tts/minimax', { text: TEXT });
    expect([told.status, told.headers.get('x-svc-payment')]).toEqual([502, 'passthrough']);
    await expectTold(agent, 1_000_000n, told);
  });
});

describe('a client that leaves', () => {
  it('a client that leaves while its speech vendor works pays for its order, since the vendor bills it', async () => {
    const agent = await market.shopper('leaving');
    let go = () => {};
    const until = new Promise<void>((resolve) => {
      go = resolve;
    });
    market.peer.faults.push({ kind: 'held', until });
    const before = market.peer.left.count;
    const leaving = new AbortController();
    const asked = market.peer.heard.length;
    const gone = fetch(`${market.world.url}/v1/proxy/fetch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: `${MARKET}${SPEECH}`, method: 'POST', body: { text: TEXT } }),
      signal: leaving.signal,
    }).catch(() => undefined);
    while (market.peer.heard.length === asked) await pause();
    expect(await moneyOf(market.world.sql, agent.agentId)).toMatchObject({ held: TEXT_RAW });
    leaving.abort();
    await gone;
    // The server has heard of it by now.
    for (let turn = 0; turn < 10; turn++) await pause();
    go();
    const money = await settledMoney(market.world.sql, agent.agentId);
    expect(money).toMatchObject({ spendable: 1_000_000n - TEXT_RAW, charged: TEXT_RAW });
    expect(market.peer.left.count).toBe(before);
  });
});

describe('a client that leaves and comes back with its key', () => {
  it('a client that left and retries with its Idempotency-Key gets the result bought after it left, and pays once', async () => {
    const agent = await market.shopper('coming back');
    let go = () => {};
    const until = new Promise<void>((resolve) => {
      go = resolve;
    });
    market.peer.faults.push({ kind: 'held', until });
    const asked = market.peer.heard.length;
    const leaving = new AbortController();
    const request = {
      method: 'POST',
      headers: {
        authorization: `Bearer ${agent.key}`,
        'content-type': 'application/json',
        'idempotency-key': 'back',
      },
      body: JSON.stringify({ url: `${MARKET}${SPEECH}`, method: 'POST', body: { text: TEXT } }),
    };
    const url = `${market.world.url}/v1/proxy/fetch`;
    const gone = fetch(url, { ...request, signal: leaving.signal }).catch(() => undefined);
    while (market.peer.heard.length === asked) await pause();
    leaving.abort();
    await gone;
    go();
    let again = await fetch(url, request);
    while (again.status === 409) {
      await pause();
      again = await fetch(url, request);
    }
    expect([again.status, again.headers.get('x-svc-cost-usdc')]).toEqual([200, String(TEXT_RAW)]);
    expect(market.peer.heard).toHaveLength(asked + 1);
    const money = await settledMoney(market.world.sql, agent.agentId);
    expect(money).toMatchObject({ spendable: 1_000_000n - TEXT_RAW, charged: TEXT_RAW });
  });
});

describe('money that is not there', () => {
  it('a balance below the price refuses a marketplace call before any vendor is called or file fetched', async () => {
    const agent = await market.shopper('poor', TEXT_RAW - 1n);
    const asked = market.peer.heard.length;
    const refused = await agent.buy(SPEECH, { text: TEXT });
    expect([refused.status, refused.body]).toMatchObject([
      402,
      { error: 'insufficient_balance', available: '3149', required: '3150' },
    ]);
    expect(market.peer.heard).toHaveLength(asked);
    const files = market.fetched.count;
    const unheard = await agent.buy(HEARING, { audioUrl: market.sound(1_000) });
    expect([unheard.status, unheard.body]).toMatchObject([
      402,
      { error: 'insufficient_balance', available: '3149', required: '8085' },
    ]);
    // Nothing is fetched for one that cannot pay for it, and too long a file is refused by its hold.
    expect(market.fetched.count).toBe(files);
    const long = await agent.buy('/v1/stt/xai', { audioUrl: market.sound(120_000) });
    expect([long.status, long.body.required]).toEqual([402, '3500']);
    expect(market.peer.heard).toHaveLength(asked);
    await expectTold(agent, TEXT_RAW - 1n);
  });

  it('a balance for one marketplace call serves exactly one of two concurrent calls', async () => {
    const agent = await market.shopper('racing', 2n * TEXT_RAW - 1n);
    let go = () => {};
    const until = new Promise<void>((resolve) => {
      go = resolve;
    });
    market.peer.faults.push({ kind: 'held', until });
    const asked = market.peer.heard.length;
    const both = [agent.buy(SPEECH, { text: TEXT }), agent.buy(SPEECH, { text: TEXT })];
    const first = await Promise.race(both);
    expect(first.status).toBe(402);
    go();
    const told = await Promise.all(both);
    expect(told.map(({ status }) => status).sort()).toEqual([200, 402]);
    expect(market.peer.heard).toHaveLength(asked + 1);
    await expectTold(agent, 2n * TEXT_RAW - 1n, ...told);
  });

  it('concurrent marketplace calls spend a balance to its last unit, and not beyond', async () => {
    const agent = await market.shopper('crowd', 5n * TEXT_RAW);
    const told = await Promise.all(
      Array.from({ length: 20 }, () => agent.buy(SPEECH, { text: TEXT })),
    );
    const by = (status: number) => told.filter((one) => one.status === status).length;
    expect([by(200), by(402)]).toEqual([5, 15]);
    await expectTold(agent, 5n * TEXT_RAW, ...told);
    expect(await moneyOf(market.world.sql, agent.agentId)).toMatchObject({ spendable: 0n });
  });
});
