import { describe, expect, it } from 'vitest';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import { createProbe } from '../../../../src/payments/quotes/probe-target.ts';
import { SendFailed } from '../../../../src/platform/egress/send-failed.ts';
import { base64, entryV1, entryV2, TERMS } from '../../../support/challenges.ts';
import {
  fakeAnswer,
  placeOf,
  type ScriptedAnswer,
  scriptedClient,
} from '../../../support/fakes/scripted-client.ts';

const TARGET = placeOf('https://vendor.example/paid');
const STAYS = new AbortController().signal;

const V2 = [['PAYMENT-REQUIRED', base64({ x402Version: 2, accepts: [entryV2()] })]] as const;

async function probed(answer: ScriptedAnswer) {
  const given = fakeAnswer(answer);
  const { client, sent } = scriptedClient({ send: () => given });
  const probe = createProbe({ client, terms: TERMS, atOnce: 1 });
  return { said: await probe(TARGET, 'GET', STAYS), given, sent };
}

describe('asking a target for its price', () => {
  it('a price request sends the method without the caller’s headers or body and waits up to `probeMs`', async () => {
    const { client, sent } = scriptedClient({});
    await createProbe({ client, terms: TERMS, atOnce: 1 })(TARGET, 'POST', STAYS);
    expect(sent).toMatchObject([
      {
        destination: TARGET,
        request: {
          method: 'POST',
          headers: [['accept', '*/*']],
          body: undefined,
          signal: STAYS,
          timeouts: {
            totalMs: PAYMENT_LIMITS.quote.probeMs,
            firstByteMs: PAYMENT_LIMITS.quote.probeMs,
          },
        },
      },
    ]);
    expect(PAYMENT_LIMITS.quote.probeMs).toBeLessThan(15_000);
  });

  it('a price request reads challenges of both x402 versions', async () => {
    const body = JSON.stringify({ x402Version: 1, accepts: [entryV1()] });
    expect((await probed({ status: 402, headers: V2 })).said).toMatchObject({
      kind: 'priced',
      challenge: { version: 2, offers: [{ amountRaw: 10_000n }] },
    });
    expect((await probed({ status: 402, body })).said).toMatchObject({
      kind: 'priced',
      challenge: { version: 1 },
    });
  });

  it('a price request downloads no body of a target that answers without 402', async () => {
    for (const status of [200, 204, 302, 401, 404, 500]) {
      const { said, given } = await probed({ status, headers: V2, body: 'x'.repeat(100) });
      expect(said).toEqual({ kind: 'unpriced', status });
      expect(given).toMatchObject({ isDiscarded: true, readBytes: 0 });
    }
  });

  it('a price request distinguishes an unreadable challenge from a 402 without one', async () => {
    expect((await probed({ status: 402, body: 'Pay!' })).said).toEqual({
      kind: 'unpriced',
      status: 402,
    });
    expect(
      (await probed({ status: 402, headers: [['payment-required', '*']] })).said,
    ).toMatchObject({ kind: 'unreadable', code: 'invalid_base64' });
  });

  it('price requests beyond the concurrency limit are refused until a running one ends', async () => {
    const finish: (() => void)[] = [];
    const { client, sent } = scriptedClient({
      send: () => new Promise((resolve) => finish.push(() => resolve(fakeAnswer({})))),
    });
    const probe = createProbe({ client, terms: TERMS, atOnce: 2 });
    const running = [probe(TARGET, 'GET', STAYS), probe(TARGET, 'GET', STAYS)];
    await expect(probe(TARGET, 'GET', STAYS)).rejects.toMatchObject({
      status: 502,
      error: 'Failed to reach target URL',
    });
    await expect.poll(() => sent).toHaveLength(2);
    for (const done of finish) done();
    await Promise.all(running);
    const next = probe(TARGET, 'GET', STAYS);
    await expect.poll(() => finish).toHaveLength(3);
    finish.at(-1)?.();
    expect(await next).toMatchObject({ status: 200 });
  });

  it('a price request that gets no answer gives its slot back', async () => {
    const { client } = scriptedClient({
      send: () => {
        throw new SendFailed('timeout', { beforeBytes: false });
      },
    });
    const probe = createProbe({ client, terms: TERMS, atOnce: 1 });
    for (let i = 0; i < 3; i++) {
      await expect(probe(TARGET, 'GET', STAYS)).rejects.toMatchObject({
        fields: { detail: 'The vendor did not answer in time.' },
      });
    }
  });
});
