import { describe, expect, it } from 'vitest';
import type { HoldRefusal } from '../../../src/ledger/rules/requests.ts';
import { MODEL_LIMITS } from '../../../src/models/limits.ts';
import { cascadeStage, done } from '../../support/cascade-steps.ts';
import { answer, say } from '../../support/cascade-world.ts';
import { bearer, KEYS } from '../../support/edge.ts';
import type { FakeLedger } from '../../support/fake-ledger.ts';
import { response } from '../../support/realtime-session.ts';
import { settled } from '../../support/settled.ts';
import { answers, sends } from '../../support/speech-upstream.ts';
import { policyOf } from '../../support/spending.ts';
import { AGENT } from '../../support/voice-world.ts';
import { refusal } from '../../support/web-socket-client.ts';

const FEE = MODEL_LIMITS.byokFeeRaw;

const stage = cascadeStage();
const { leave, start } = stage;

const QUOTA = { type: 'insufficient_quota', code: 'budget_exhausted' };

/** What a session spends at one maker may come to so much, settled or held. */
function capMaker(ledger: FakeLedger, host: string, capRaw: bigint): void {
  const { extend, openSession } = ledger;
  const policy = policyOf({ kind: 'api', matchKey: host, limitRaw: capRaw });
  const refusalOf = (requiredRaw: bigint, spentRaw: bigint): HoldRefusal => ({
    reason: 'cap_exceeded',
    availableRaw: 0n,
    suspended: false,
    breach: { policy, requiredRaw, spentRaw, capRaw },
  });
  ledger.openSession = async (request) =>
    request.destination.host === host && request.reserveRaw > capRaw
      ? { kind: 'refused', refusal: refusalOf(request.reserveRaw, 0n) }
      : openSession(request);
  ledger.extend = async (claim, byRaw) => {
    const { amountRaw, facts } = claim.hold;
    return facts.host === host && amountRaw + byRaw > capRaw
      ? { kind: 'refused', refusal: refusalOf(byRaw, amountRaw) }
      : extend(claim, byRaw);
  };
}

describe('the spending of a realtime session of several models', () => {
  it("a cascade session counts its spend under the caps of each model's maker, from the first purchase to the last", async () => {
    const { chat, connect, ledger, speech } = await start();
    capMaker(ledger, 'other', 12_000n);
    const words = Array.from({ length: 6 }, (_, i) => `This is the long sentence number ${i}. `);
    chat.play({ pieces: answer(words) });
    const client = await connect({ tts_model: 'other/orator' });
    say(client, 'hello');
    const turn = await done(client);
    expect(turn).toMatchObject({ status: 'failed', status_details: { error: QUOTA } });
    expect(speech.seen).toHaveLength(2);
    await leave(client);
    const [session] = new Set(ledger.charges.map(({ sessionId }) => sessionId));
    expect(session).toMatch(/^sess_[0-9a-f]{24}$/);
    const lines = ledger.charges.map(({ costRaw, model, sessionId, targetHost, usage }) => ({
      costRaw,
      model,
      sessionId,
      targetHost,
      requests: usage.request,
    }));
    expect(lines).toEqual(
      expect.arrayContaining([
        { ...of('acme', 'acme/chat', session), costRaw: expect.any(BigInt), requests: undefined },
        { ...of('other', 'other/orator', session), costRaw: 10_000n, requests: 2 },
      ]),
    );
    expect(lines).toHaveLength(2);
    expect(ledger.summaries).toHaveLength(1);
  });

  it('the guide model of a cascade session reports the balance and spend as they will be after settlement', async () => {
    const { connect, engines, ledger } = await start();
    const client = await connect({ model: 'local/guide', tts_model: 'acme/say' });
    for (const nth of [1, 2]) {
      say(client, 'what is my balance');
      await done(client, nth);
    }
    const [first, second] = engines.guide.asked.map(({ facts }) => facts);
    expect(first).toMatchObject({ spendableRaw: 10_000_000n, heldRaw: 0n, spentRaw: 0n });
    const spentRaw = second?.spentRaw ?? 0n;
    expect(spentRaw).toBeGreaterThan(0n);
    expect(second).toMatchObject({ spendableRaw: 10_000_000n - spentRaw, heldRaw: 0n });
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
    await leave(client);
  });

  it("a cascade session pays a source's reported usage only up to the possible maximum, and then drops that source", async () => {
    const { chat, connect, ledger, second } = await start();
    chat.play({ pieces: answer(['Good day.'], [1_000_000, 1_000_000]) });
    const client = await connect();
    for (const nth of [1, 2]) {
      say(client, 'hello');
      await done(client, nth);
    }
    const costs = client.of('response.done').map((event) => response(event).metadata.cost_raw);
    client.ws.close();
    await settled(ledger);
    expect([chat.seen.length, second.seen.length]).toEqual([1, 1]);
    const receiptsRaw = costs.reduce((sum, raw) => sum + BigInt(raw ?? '0'), 0n);
    expect(ledger.consumedRaw(AGENT)).toBe(receiptsRaw);
    // By its report, the first turn costs three million raw.
    expect(receiptsRaw).toBeLessThan(50_000n);
    expect(ledger.shortfalls.get('shortfall:chat')).toBeGreaterThan(2_950_000n);
  });

  it('a cascade session is refused before any source is called when a cap on one maker leaves no turn', async () => {
    const { chat, ledger, url } = await start();
    capMaker(ledger, 'other', 4_000n);
    const refused = await refusal(url({ tts_model: 'other/orator' }), [], bearer(KEYS.agent));
    expect([refused.status, refused.body.error]).toMatchObject([402, { code: 'budget_exhausted' }]);
    expect([chat.seen.length, ledger.openHolds(), ledger.charges.length]).toEqual([0, 0, 0]);
    const client = await stage.world.connect({ tts_model: 'acme/orator' });
    say(client, 'hello');
    expect(await done(client)).toMatchObject({ status: 'completed' });
    await leave(client);
  });
});

describe('a realtime session that has lost one hold to another process', () => {
  it('a cascade session that loses one hold to another process ends, and is charged for its purchases on the other holds', async () => {
    const { chat, connect, ledger } = await start();
    const words = Array.from({ length: 6 }, (_, i) => `This is the long sentence number ${i}. `);
    chat.play({ pieces: answer(words) });
    const client = await connect({ tts_model: 'other/orator' });
    const session = client.of('session.created')[0]?.session;
    ledger.takeOver(`${(session as { id: string }).id}.other`);
    say(client, 'hello');
    expect(await client.closed).toEqual({ code: 1011, reason: 'settled elsewhere' });
    await expect.poll(() => ledger.openHolds()).toBe(1);
    const lines = ledger.charges.map(({ costRaw, model, status }) => ({ costRaw, model, status }));
    const costRaw = ledger.consumedRaw(AGENT);
    expect(lines).toEqual([{ costRaw, model: 'acme/chat', status: 'failed' }]);
    expect(costRaw).toBeGreaterThan(0n);
  });
});

describe('a realtime session of several models on provider keys of its caller', () => {
  const KEYED = { model: 'keyed/chat', tts_model: 'keyed/say' };
  const OWN = { keyed: 'sk-own', 'keyed-voice': 'sk-own-voice' };
  const brought = { 'x-svc-provider-key': 'sk-brought' };

  it('a cascade session on stored provider keys costs the fee per turn for each part, however many requests that takes', async () => {
    const { chat, connect, ledger, speech, usedKeys } = await start({ storedKeys: OWN });
    const accounts: string[] = [];
    const { closeSession } = ledger;
    ledger.closeSession = async (request) => {
      if (request.charges !== undefined) accounts.push(request.account);
      return closeSession(request);
    };
    const client = await connect(KEYED);
    for (const nth of [1, 2]) {
      say(client, 'hello');
      const turn = await done(client, nth);
      expect(turn).toMatchObject({ status: 'completed', usage: { total_tokens: 28 } });
      expect(turn.metadata.cost_raw).toBe(String(2n * FEE));
    }
    expect(new Set(chat.authorizations)).toEqual(new Set(['Bearer sk-own']));
    const voices = speech.seen.map(({ authorization }) => authorization);
    expect(voices).toEqual(Array.from({ length: 4 }, () => 'Bearer sk-own-voice'));
    expect(usedKeys.filter((provider) => provider === 'keyed')).toHaveLength(2);
    await leave(client);
    expect(ledger.charges).toMatchObject([
      { costRaw: 4n * FEE, rail: 'byok', model: 'keyed/chat', usage: { request: 4 } },
    ]);
    expect(accounts).toEqual(['byok']);
  });

  it('a cascade session on stored provider keys costs the fee once per part even if several providers serve it in a turn', async () => {
    const storedKeys = { ...OWN, 'other-voice': 'sk-other-voice' };
    const { connect, speech } = await start({ storedKeys });
    speech.plays.push(sends(speech.sound, speech.contentType), answers(500));
    const client = await connect({ model: 'keyed/chat', tts_model: 'keyed/choir' });
    say(client, 'hello');
    const turn = await done(client);
    const voices = new Set(speech.seen.map(({ authorization }) => authorization));
    expect(voices).toEqual(new Set(['Bearer sk-own-voice', 'Bearer sk-other-voice']));
    expect(turn).toMatchObject({ status: 'completed', metadata: { cost_raw: String(2n * FEE) } });
    await leave(client);
  });

  it('a cascade session on provider keys holds no more than the fee for the parts bought with those keys', async () => {
    const { chat, ledger, speech, url } = await start({ creditRaw: 8_000n });
    const poor = await refusal(url({ model: 'keyed/chat' }), [], bearer(KEYS.agent));
    expect([poor.status, ledger.openHolds()]).toEqual([402, 0]);
    const client = await stage.world.connect({ model: 'keyed/chat' }, brought);
    say(client, 'hello');
    expect(await done(client)).toMatchObject({ status: 'completed' });
    // No other provider gets it.
    expect(chat.authorizations).toEqual(['Bearer sk-brought']);
    expect([stage.world.usedKeys, speech.seen]).toEqual([[], []]);
    await leave(client);
  });

  it('a cascade session refuses a key in the header that could belong to several providers, and sends it to none', async () => {
    const { chat, ledger, speech, url } = await start();
    const headers = { ...bearer(KEYS.agent), ...brought };
    for (const query of [KEYED, { model: 'acme/shared' }]) {
      const refused = await refusal(url(query), [], headers);
      expect(refused.status).toBe(400);
      expect(refused.body.error).toMatchObject({ param: 'x-svc-provider-key' });
    }
    expect([chat.seen, speech.seen, ledger.openHolds()]).toEqual([[], [], 0]);
  });

  it('a cascade session is served by the pool, at its price, when its stored key is refused or deleted', async () => {
    const { chat, connect, ledger, storedKeys } = await start({ storedKeys: { keyed: 'sk-own' } });
    chat.play(() =>
      chat.authorizations.at(-1) === 'Bearer sk-own'
        ? { status: 401, pieces: ['{}'] }
        : { pieces: answer(['Hi.']) },
    );
    const client = await connect({ model: 'keyed/chat' });
    client.say({ type: 'session.update', session: { output_modalities: ['text'] } });
    say(client, 'hello');
    expect((await done(client)).metadata.cost_raw).toBe(String(20 + 2 * 8));
    expect(chat.authorizations).toEqual(['Bearer sk-own', 'Bearer sk-server']);
    delete storedKeys.keyed;
    say(client, 'hello');
    expect((await done(client, 2)).metadata.cost_raw).toBe(String(20 + 2 * 8));
    expect(chat.authorizations.slice(2)).toEqual(['Bearer sk-server']);
    await leave(client);
    expect(ledger.charges).toMatchObject([{ costRaw: 72n, rail: 'direct-account' }]);
  });

  it('a cascade session reports the refusal of its own provider key when the balance does not cover the pool', async () => {
    const { chat, connect } = await start({ creditRaw: 8_000n, storedKeys: { keyed: 'sk-own' } });
    chat.play({ status: 401, pieces: ['{}'] });
    const client = await connect({ model: 'keyed/chat' });
    client.say({ type: 'session.update', session: { instructions: 'x'.repeat(8_000) } });
    say(client, 'hello');
    expect(await done(client)).toMatchObject({
      status: 'failed',
      status_details: { error: { code: 'upstream_declined' } },
    });
    expect(await leave(client)).toBe(0n);
  });

  it("a cascade session opens models that only the caller's own key can buy, and hides them from others", async () => {
    const { chat, connect, ledger, url } = await start();
    const refused = await refusal(url({ model: 'shut/chat' }), [], bearer(KEYS.agent));
    expect([refused.status, refused.body.error]).toMatchObject([404, { code: 'model_not_found' }]);
    const client = await connect({ model: 'shut/chat' }, brought);
    say(client, 'hello');
    expect(await done(client)).toMatchObject({ status: 'completed' });
    expect(chat.authorizations).toEqual(['Bearer sk-brought']);
    await leave(client);
    expect(ledger.charges).toContainEqual(
      expect.objectContaining({ costRaw: FEE, rail: 'byok', model: 'shut/chat' }),
    );
  });
});

const of = (targetHost: string, model: string, sessionId: string | null | undefined) => ({
  targetHost,
  model,
  sessionId,
});
