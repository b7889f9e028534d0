import { encodePaymentRequiredHeader } from '@x402/core/http';
import { PaymentRequiredV1Schema, PaymentRequiredV2Schema } from '@x402/core/schemas';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChallenge, type VendorAnswer } from '../../../src/x402/challenge.ts';
import { X402_LIMITS } from '../../../src/x402/limits.ts';
import {
  base64,
  challengeV2,
  entryV1,
  entryV2,
  foreignEntry,
  TERMS,
  withBody,
  withHeader,
} from '../../support/challenges.ts';
import vectors from '../../vectors/x402.json' with { type: 'json' };

const parse = (answer: VendorAnswer) => parseChallenge(answer, TERMS);

function requireChallenge(answer: VendorAnswer) {
  const parsed = parse(answer);
  if (parsed.kind !== 'challenge') throw new Error(JSON.stringify(parsed));
  return parsed.challenge;
}

const code = (answer: VendorAnswer) => {
  const parsed = parse(answer);
  return parsed.kind === 'unreadable' ? parsed.code : parsed.kind;
};

const payable = {
  scheme: 'exact',
  amountRaw: 10_000n,
  asset: vectors.usdc.toLowerCase(),
  payTo: '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
};

describe('a challenge', () => {
  it('an x402 challenge is read from the version 2 header, with all that must be echoed', () => {
    const { version, offers, resource, extensions } = requireChallenge(
      withHeader(vectors.v2.challengeHeader),
    );
    expect(version).toBe(2);
    expect(offers).toMatchObject([
      { ...payable, version: 2, network: 'eip155:8453', maxTimeoutSeconds: 300 },
    ]);
    expect(offers[0]?.entry).toEqual(entryV2());
    expect(resource).toMatchObject({ url: 'https://vendor.example/paid' });
    expect(extensions).toBeUndefined();
  });

  it('an x402 challenge is read from the version 1 header, as one requirement, a list or an envelope', () => {
    for (const header of [
      vectors.v1.challengeHeaderSingle,
      vectors.v1.challengeHeaderList,
      base64({ x402Version: 1, accepts: [entryV1()] }),
      base64({ x402Version: 1, ...entryV1() }),
    ]) {
      const { version, offers } = requireChallenge(withHeader(header));
      expect(version).toBe(1);
      expect(offers).toMatchObject([
        { ...payable, version: 1, network: 'base', maxTimeoutSeconds: 60 },
      ]);
    }
  });

  it('an x402 challenge is read from the body that published version 1 servers send', () => {
    const { version, offers } = requireChallenge(withBody(vectors.v1.challengeBody));
    expect(version).toBe(1);
    expect(offers).toMatchObject([{ ...payable, version: 1, network: 'base' }]);
  });

  it('an x402 challenge in the header goes before one in the body', () => {
    const body = Buffer.from(vectors.v1.challengeBody);
    const both = { ...withHeader(vectors.v2.challengeHeader), body };
    expect(requireChallenge(both).version).toBe(2);
    expect(code({ ...withHeader('!'), body })).toBe('invalid_base64');
  });

  it('an x402 challenge is read from the body where the header is missing or blank', () => {
    const body = Buffer.from(vectors.v1.challengeBody);
    for (const silent of [withHeader(), withHeader(''), withHeader('  ')]) {
      expect(requireChallenge({ ...silent, body }).version).toBe(1);
    }
  });

  it('an x402 challenge is absent where neither the header nor the body holds one', () => {
    const bodies = ['', '{', 'null', '[]', '{}', '<html>', '{"x402Version":2,"accepts":[]}'];
    for (const text of [...bodies, '{"x402Version":1}', '{"error":"pay up"}']) {
      expect(parse(withBody(text)), text).toEqual({ kind: 'absent' });
    }
    expect(parse({ header: () => undefined, body: undefined })).toEqual({ kind: 'absent' });
  });

  it('an unreadable x402 challenge has one of three codes: base64, JSON or no compatible requirement', () => {
    for (const bad of ['%%%', 'e30*', 'e30-', 'a', 'abcde', 'ab=', 'a b', 'e30=, e30=', 'é']) {
      expect(code(withHeader(bad)), bad).toBe('invalid_base64');
    }
    for (const bad of ['{', 'hello', '\u0000', '{"a":1}}', "{'a':1}"]) {
      expect(code(withHeader(base64(bad))), bad).toBe('invalid_json');
    }
    expect(code(withHeader(Buffer.from([0x22, 0xff, 0x22]).toString('base64')))).toBe(
      'invalid_json',
    );
    const v3 = { x402Version: 3, accepts: [entryV2()] };
    for (const other of [null, 7, '"text"', {}, [], { accepts: [entryV2()] }, v3]) {
      expect(code(withHeader(base64(other))), JSON.stringify(other)).toBe(
        'no_compatible_requirement',
      );
    }
    expect(code(challengeV2([entryV2({ scheme: 'upto' })]))).toBe('no_compatible_requirement');
    expect(code(withBody('{"x402Version":1,"accepts":[]}'))).toBe('no_compatible_requirement');
  });

  it('an x402 challenge whose header occurs twice is unreadable, even with the same value', () => {
    const { challengeHeader } = vectors.v2;
    expect(code(withHeader(challengeHeader, challengeHeader))).toBe('invalid_base64');
    expect(code(withHeader(`${challengeHeader}, ${challengeHeader}`))).toBe('invalid_base64');
  });

  it('an x402 challenge of one version never yields an offer in the other version’s format', () => {
    expect(code(challengeV2([entryV1()]))).toBe('no_compatible_requirement');
    expect(code(challengeV2([entryV2({ network: 'base' })]))).toBe('no_compatible_requirement');
    expect(code(withHeader(base64([entryV2()])))).toBe('no_compatible_requirement');
    const caip2 = requireChallenge(withHeader(base64(entryV1({ network: 'eip155:8453' }))));
    expect(caip2.offers[0]?.network).toBe('eip155:8453');
  });

  it('an x402 challenge is not read beyond its limits', () => {
    const long = base64(`${JSON.stringify([entryV1()])}${' '.repeat(X402_LIMITS.headerChars)}`);
    expect(code(withHeader(long))).toBe('invalid_base64');
    const body = `${vectors.v1.challengeBody}${' '.repeat(X402_LIMITS.challengeBodyBytes)}`;
    expect(code(withBody(body))).toBe('absent');
    const nested = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    expect(code(withHeader(base64(nested)))).toBe('invalid_json');
    const late = [...Array(X402_LIMITS.offers).fill(0), entryV1()];
    expect(code(withHeader(base64(late)))).toBe('no_compatible_requirement');
  });
});

describe('any vendor', () => {
  it('any bytes from a vendor are read as an x402 challenge without an exception', () => {
    const junk = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      fc.json().map(base64),
      fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
    );
    fc.assert(
      fc.property(fc.array(junk, { maxLength: 2 }), fc.json(), (values, text) => {
        expect(code({ ...withHeader(...values), body: Buffer.from(text) })).toBeTypeOf('string');
        const accepts = { x402Version: 1, accepts: JSON.parse(text) };
        expect(code(withBody(JSON.stringify(accepts)))).toBeTypeOf('string');
      }),
    );
  });

  it('the one payable offer of an x402 challenge is found among any others', () => {
    fc.assert(
      fc.property(fc.array(foreignEntry, { maxLength: 20 }), fc.nat(), (others, at) => {
        const accepts = [...others];
        accepts.splice(at % (others.length + 1), 0, entryV2({ amount: '77' }));
        const answer = withHeader(base64({ x402Version: 2, accepts }));
        expect(requireChallenge(answer).offers.map(({ amountRaw }) => amountRaw)).toEqual([77n]);
      }),
    );
  });

  it('every x402 challenge that the published schemas accept is read', () => {
    const text = fc.string({ minLength: 1 });
    const amount = fc.bigInt(0n, 2n ** 63n - 1n).map(String);
    const maxTimeoutSeconds = fc.integer({ min: 1, max: 3_600 });
    const v2 = fc.record({
      error: fc.option(text, { nil: undefined }),
      resource: fc.record({
        url: fc.webUrl(),
        description: text,
        tags: fc.array(text, { maxLength: 5 }),
      }),
      accepts: fc.array(fc.record({ amount, maxTimeoutSeconds }).map(entryV2), { minLength: 1 }),
      extensions: fc.option(fc.dictionary(text, fc.jsonValue()), { nil: undefined }),
    });
    fc.assert(
      fc.property(v2, (said) => {
        const emitted = { x402Version: 2 as const, ...said };
        expect(PaymentRequiredV2Schema.safeParse(emitted).success).toBe(true);
        const header = encodePaymentRequiredHeader(
          emitted as Parameters<typeof encodePaymentRequiredHeader>[0],
        );
        const challenge = requireChallenge(withHeader(header));
        expect(challenge.offers.map(({ entry }) => entry)).toEqual(said.accepts);
        expect(challenge.resource).toEqual(said.resource);
        expect(JSON.stringify(challenge.extensions)).toBe(JSON.stringify(said.extensions));
      }),
    );
    const v1 = fc.record({ maxAmountRequired: amount, maxTimeoutSeconds, description: text });
    fc.assert(
      fc.property(fc.array(v1.map(entryV1), { minLength: 1 }), text, (accepts, error) => {
        const emitted = { x402Version: 1, error, accepts };
        expect(PaymentRequiredV1Schema.safeParse(emitted).success).toBe(true);
        expect(requireChallenge(withBody(JSON.stringify(emitted))).offers).toHaveLength(
          accepts.length,
        );
      }),
    );
  });
});
