import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  readChallenge,
  valuesOf,
  vendorAnswer,
} from '../../../../src/payments/proxy/read-challenge.ts';
import { X402_LIMITS } from '../../../../src/x402/limits.ts';
import { base64, entryV1, entryV2, TERMS } from '../../../support/challenges.ts';
import { fakeAnswer, type ScriptedAnswer } from '../../../support/fakes/scripted-client.ts';

const V1 = JSON.stringify({ x402Version: 1, accepts: [entryV1()] });
const V2 = base64({ x402Version: 2, accepts: [entryV2()] });

const demanded = (answer: ScriptedAnswer) =>
  readChallenge(fakeAnswer({ status: 402, ...answer }), TERMS);

const refused = (error: string, fields: object = {}) =>
  expect.objectContaining({ status: 502, error, fields: expect.objectContaining(fields) });

async function* endless(piece = Buffer.alloc(8_192)): AsyncGenerator<Uint8Array> {
  for (;;) yield piece;
}

describe('the challenge of a vendor', () => {
  it('a vendor’s challenge is read from its header whatever the body is', async () => {
    const headers = [['Payment-Required', V2]] as const;
    expect(await demanded({ headers })).toMatchObject({ version: 2, offers: [{}] });
    expect(await demanded({ headers, body: V1 })).toMatchObject({ version: 2 });
    expect(await demanded({ headers, body: endless() })).toMatchObject({ version: 2 });
  });

  it('a vendor’s version 1 challenge is read from the body, compressed or not', async () => {
    expect(await demanded({ body: V1 })).toMatchObject({ version: 1, offers: [{}] });
    const headers = [['Content-Encoding', 'gzip']] as const;
    expect(await demanded({ headers, body: gzipSync(V1) })).toMatchObject({ version: 1 });
  });

  it('a vendor’s challenge that is missing or unusable is refused with the specification’s error', async () => {
    await expect(demanded({ body: 'Pay!' })).rejects.toEqual(
      refused('402 response missing PAYMENT-REQUIRED header'),
    );
    const header = (value: string) => demanded({ headers: [['payment-required', value]] });
    const unread = (code: string) => refused('Failed to parse PAYMENT-REQUIRED header', { code });
    await expect(header('*')).rejects.toEqual(unread('invalid_base64'));
    await expect(header(base64('{'))).rejects.toEqual(unread('invalid_json'));
    const foreign = base64({ x402Version: 2, accepts: [entryV2({ network: 'eip155:1' })] });
    await expect(header(foreign)).rejects.toEqual(unread('no_compatible_requirement'));
    // Two prices are none.
    const twice = demanded({
      headers: [
        ['payment-required', V2],
        ['PAYMENT-REQUIRED', V2],
      ],
    });
    await expect(twice).rejects.toEqual(unread('invalid_base64'));
  });
});

describe('what is read of a vendor’s answer', () => {
  it('a vendor’s answer is read up to `challengeBodyBytes`, and a longer one is discarded', async () => {
    const answer = fakeAnswer({ body: endless() });
    expect((await vendorAnswer(answer)).body).toBeUndefined();
    expect(answer.isDiscarded).toBe(true);
    expect(answer.readBytes).toBeLessThanOrEqual(X402_LIMITS.challengeBodyBytes + 8_192);
  });

  it('a vendor’s answer that unpacks above the bound, breaks off or has an unknown coding is discarded', async () => {
    const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024));
    async function* cut(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('{');
      throw new Error('cut');
    }
    const packed = (coding: string, body: Uint8Array | AsyncIterable<Uint8Array>) =>
      fakeAnswer({ headers: [['content-encoding', coding]], body });
    for (const answer of [packed('gzip', bomb), packed('zstd', bomb), packed('', cut())]) {
      expect((await vendorAnswer(answer)).body).toBeUndefined();
      expect(answer.isDiscarded).toBe(true);
    }
  });

  it('a vendor’s headers are found by name in any case, each value apart', () => {
    const headers = [
      ['A', '1'],
      ['b', '2'],
      ['a', '3'],
    ] as const;
    expect(valuesOf(fakeAnswer({ headers }), 'a')).toEqual(['1', '3']);
    expect(valuesOf(fakeAnswer({ headers }), 'c')).toEqual([]);
  });
});
