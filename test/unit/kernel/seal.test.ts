import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/kernel/random.ts';
import { openSealed, seal } from '../../../src/kernel/seal.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe('sealed bytes', () => {
  it('sealed bytes open to the original, and to nothing once any byte has changed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.nat(), (bytes, anywhere) => {
        const sealed = seal('secret', 'acct_a:1', bytes, systemRandom);
        expect(sealed).toHaveLength(12 + bytes.length + 16);
        expect([...openSealed('secret', 'acct_a:1', sealed)]).toEqual([...bytes]);
        const bent = Uint8Array.from(sealed);
        const position = anywhere % bent.length;
        bent[position] = (bent[position] as number) ^ 1;
        expect(() => openSealed('secret', 'acct_a:1', bent)).toThrow();
      }),
    );
  });

  it('sealed bytes do not open with another secret, in another context or when cut', () => {
    const sealed = seal('secret', 'acct_a:1', bytesOf('a wallet key'), systemRandom);
    expect(() => openSealed('Secret', 'acct_a:1', sealed)).toThrow();
    expect(() => openSealed('secret', 'acct_a:2', sealed)).toThrow();
    for (let length = 0; length < sealed.length; length++) {
      expect(() => openSealed('secret', 'acct_a:1', sealed.subarray(0, length))).toThrow();
      expect(() => openSealed('secret', 'acct_a:1', sealed.subarray(length + 1))).toThrow();
    }
  });

  it('sealed bytes differ each time, whatever is sealed', () => {
    const looks = Array.from({ length: 100 }, () =>
      Buffer.from(seal('secret', 'place', bytesOf('same'), systemRandom)).toString('hex'),
    );
    expect(new Set(looks).size).toBe(100);
    expect(new Set(looks.map((look) => look.slice(0, 24))).size).toBe(100);
  });

  it('sealed bytes of an earlier version still open', () => {
    const kept =
      '8bee065867550535e0585e6d9b51383045b243df43ba8e960aa2051c2eab0ca64edf413d2829e077f368cca8a2b06c3a12f7adcf487e676fb5ca900e';
    expect(Buffer.from(openSealed('app secret', 'acct_a:1', Buffer.from(kept, 'hex')))).toEqual(
      Buffer.from('0123456789abcdef'.repeat(4), 'hex'),
    );
  });
});
