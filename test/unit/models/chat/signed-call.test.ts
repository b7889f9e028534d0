import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bareId,
  mayCarry,
  ownId,
  signatureOf,
  signed,
  signedId,
} from '../../../../src/models/chat/signed-call.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';

const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/);
const signature = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
  fc
    .uint8Array({ minLength: 1, maxLength: 200 })
    .map((bytes) => Buffer.from(bytes).toString('base64')),
);

describe('the id of a call that carries its signature', () => {
  it('a signed tool call id yields the id and the signature again, and uses only characters of every dialect', () => {
    fc.assert(
      fc.property(id, signature, (own, sign) => {
        const carried = signedId(own, sign);
        expect(carried).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(mayCarry(carried)).toBe(true);
        expect(ownId(carried)).toEqual({ id: own, signature: sign });
      }),
    );
  });

  it('a signed tool call id that was cut or changed is taken as a plain id', () => {
    fc.assert(
      fc.property(
        id,
        signature,
        fc.nat(),
        fc.constantFrom('A', 'z', '_'),
        (own, sign, at, char) => {
          const carried = signedId(own, sign);
          const place = at % carried.length;
          const cut = carried.slice(0, place);
          const changed = `${cut}${char}${carried.slice(place + 1)}`;
          expect(ownId(cut)).toEqual({ id: cut, signature: '' });
          if (changed !== carried) expect(bareId(changed)).toBe(changed);
        },
      ),
    );
    for (const like of ['call_sig1-', 'call_sig1-abcdefghbAAAA', '_sig1-']) {
      expect(ownId(like)).toEqual({ id: like, signature: '' });
    }
  });

  it('a signed tool call id carries no signature beyond the length limit, and reads none', () => {
    const longest = 'A'.repeat(MODEL_LIMITS.chat.signatureChars);
    expect(ownId(signedId('call', longest)).signature).toBe(longest);
    expect(signedId('call', `${longest}AAAA`)).toBe('call');
    expect(signedId('call', 'é'.repeat(MODEL_LIMITS.chat.signatureChars))).toBe('call');
    expect(signedId('call', '')).toBe('call');
    const long = signedId('call', longest) + 'A'.repeat(MODEL_LIMITS.chat.signatureChars);
    expect(bareId(long)).toBe(long);
  });

  it('a signed tool call id is not signed again', () => {
    const carried = signedId('call', 'sig');
    expect(signedId(carried, 'other')).toBe(carried);
  });
});

it('the signature of a tool call is Google’s thought_signature text, or empty for anything else', () => {
  expect(signatureOf(signed('sig'))).toBe('sig');
  for (const extra_content of [undefined, null, 7, {}, { google: 'sig' }, { google: {} }]) {
    expect(signatureOf({ extra_content })).toBe('');
  }
  expect(signatureOf({ extra_content: { google: { thought_signature: ['sig'] } } })).toBe('');
});
