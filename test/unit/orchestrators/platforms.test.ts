import { createHmac } from 'node:crypto';
import { sign } from 'retell-sdk';
import { describe, expect, it } from 'vitest';
import { answerOf, type Refusal } from '../../../src/orchestrators/admission.ts';
import { createBatchedLookup } from '../../../src/orchestrators/batched-lookup.ts';
import { PROVIDERS, type Provider } from '../../../src/orchestrators/platform.ts';
import { readProof } from '../../../src/orchestrators/read-proof.ts';

const BODY = '{"event":"call_ended","call":{"call_id":"c1"}}';
const SECRET = 'key_0123456789abcdef';
const hmac = (text: string, secret = SECRET) =>
  createHmac('sha256', secret).update(text).digest('hex');

/** Judges a header over a body, at the time of the header where it names one. */
function isProven(
  provider: Provider,
  headers: Record<string, string>,
  { body = BODY, nowMs = Date.now() } = {},
): boolean {
  const proof = readProof(provider, new Map(Object.entries(headers)), nowMs);
  return proof?.(Buffer.from(body), SECRET) ?? false;
}

describe('the signature of a platform', () => {
  it("Retell's own SDK signs so that the signature is believed for five minutes, over these bytes alone", async () => {
    const signature = await sign(BODY, SECRET);
    const [, stamp = ''] = /^v=(\d+),/.exec(signature) ?? [];
    const at = (ms: number) => ({ nowMs: Number(stamp) + ms });
    const headers = { 'x-retell-signature': signature };
    expect(isProven('retell', headers, at(0))).toBe(true);
    expect(isProven('retell', headers, at(299_000))).toBe(true);
    expect(isProven('retell', headers, at(-299_000))).toBe(true);
    expect(isProven('retell', headers, at(301_000))).toBe(false);
    expect(isProven('retell', headers, at(-301_000))).toBe(false);
    expect(isProven('retell', headers, { ...at(0), body: `${BODY} ` })).toBe(false);
    const seconds = String(Math.floor(Date.now() / 1_000));
    const inSeconds = { 'x-retell-signature': `v=${seconds},d=${hmac(BODY + seconds)}` };
    expect(isProven('retell', inSeconds)).toBe(true);
  });

  it.each([
    ['vapi', 'x-vapi-secret', SECRET],
    ['bland', 'x-webhook-signature', hmac(BODY)],
    ['bland', 'x-webhook-signature', hmac(BODY).toUpperCase()],
    ['pipecat', 'x-svc-signature', hmac(BODY)],
    ['livekit', 'x-svc-signature', hmac(BODY)],
  ] as const)('a header of %s proves the body', (provider, name, value) => {
    expect(isProven(provider, { [name]: value })).toBe(true);
  });

  const now = String(Date.now());
  it.each([
    ['vapi', 'x-vapi-secret', ''],
    ['vapi', 'x-vapi-secret', SECRET.slice(1)],
    ['vapi', 'x-vapi-secret', `${SECRET}0`],
    ['vapi', 'authorization', SECRET],
    ['retell', 'x-retell-signature', hmac(BODY + now)],
    ['retell', 'x-retell-signature', `v=${now},d=${hmac(BODY)}`],
    ['retell', 'x-retell-signature', `v=${now},d=${hmac(BODY + now, 'other')}`],
    ['retell', 'x-retell-signature', `v=${now},d=`],
    ['retell', 'x-retell-signature', `v=,d=${hmac(BODY)}`],
    ['retell', 'x-retell-signature', `v=-1,d=${hmac(`${BODY}-1`)}`],
    ['bland', 'x-webhook-signature', hmac(BODY, 'other')],
    ['bland', 'x-webhook-signature', hmac(`${BODY}\n`)],
    ['bland', 'x-webhook-signature', hmac(BODY).slice(2)],
    ['bland', 'x-webhook-signature', `sha256=${hmac(BODY)}`],
    ['bland', 'x-webhook-signature', 'z'.repeat(64)],
    ['pipecat', 'x-svc-signature', hmac('')],
    ['pipecat', 'x-webhook-signature', hmac(BODY)],
    ['livekit', 'x-svc-signature', '0'.repeat(64)],
    ['livekit', 'x-vapi-secret', SECRET],
    ['livekit', 'x-svc-signature', `${hmac(BODY)}, ${hmac(BODY)}`],
  ] as const)('a forged header of %s proves nothing: %s %s', (provider, name, value) => {
    expect(isProven(provider, { [name]: value })).toBe(false);
  });
});

describe('the answer before a call', () => {
  const reasons: readonly Refusal[] = [
    'unknown_agent',
    'agent_suspended',
    'budget_exceeded',
    'admission_unavailable',
  ];

  it('each platform is told to admit a call in its own form', () => {
    const answers = PROVIDERS.map((provider) => answerOf(provider, undefined, 'assistant-1'));
    expect(answers).toEqual([
      { status: 200, body: { assistantId: 'assistant-1' } },
      { status: 200, body: { call_inbound: {} } },
      { status: 200, body: { allowed: true } },
      { status: 200, body: { allowed: true, reason: null } },
      { status: 200, body: { allowed: true, reason: null } },
    ]);
  });

  it.each(reasons)('each platform is told to deny a call for %s in its own form', (reason) => {
    const [vapi, ...others] = PROVIDERS.map((provider) => answerOf(provider, reason, undefined));
    expect(vapi).toEqual({ status: 200, body: { error: expect.stringMatching(/^Sorry, .+\.$/) } });
    expect(others).toEqual([
      { status: 200, body: { call_inbound: { reject: true } } },
      { status: 402, body: { allowed: false, reason } },
      { status: 200, body: { allowed: false, reason } },
      { status: 200, body: { allowed: false, reason } },
    ]);
  });
});

describe('look-ups that are gathered', () => {
  it('look-ups of one turn are one call, and none joins a call that began before it', async () => {
    const calls: (readonly string[])[] = [];
    let answer = () => {};
    const find = createBatchedLookup<string>(
      (keys) => {
        calls.push(keys);
        const found = new Map(keys.filter((key) => key !== 'c').map((key) => [key, `${key}!`]));
        return new Promise((resolve) => {
          answer = () => resolve(found);
        });
      },
      { most: 10, atOnce: 1 },
    );
    const first = [find('a'), find('b'), find('a'), find('c')];
    await expect.poll(() => calls.length).toBe(1);
    const later = find('a');
    answer();
    expect(await Promise.all(first)).toEqual(['a!', 'b!', 'a!', undefined]);
    await expect.poll(() => calls.length).toBe(2);
    answer();
    expect(await later).toBe('a!');
    expect(calls).toEqual([['a', 'b', 'c'], ['a']]);
  });

  it('a failed look-up fails those that wait for it, and no later one', async () => {
    let isAway = true;
    const find = createBatchedLookup<number>(
      async (keys) => {
        if (isAway) throw new Error('away');
        return new Map(keys.map((key) => [key, 1]));
      },
      { most: 1, atOnce: 1 },
    );
    const failed = await Promise.allSettled([find('a'), find('b')]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isAway = false;
    expect(await find('a')).toBe(1);
  });
});
