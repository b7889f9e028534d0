import fc from 'fast-check';
import { sign } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import {
  addressOfPrivateKey,
  recoverSigner,
  signHash,
} from '../../../../src/platform/chain/account.ts';
import vectors from '../../../vectors/x402.json' with { type: 'json' };

const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex');
const hex = (raw: Uint8Array) => `0x${Buffer.from(raw).toString('hex')}` as const;

describe('signHash', () => {
  it('signHash gives the signature of the golden vector', () => {
    expect(signHash(bytes(vectors.digest), bytes(vectors.privateKey))).toBe(vectors.signature);
  });

  it('signHash gives the same bytes as another library, and its key is recovered from the signature', async () => {
    const word = fc.uint8Array({ minLength: 32, maxLength: 32 });
    await fc.assert(
      fc.asyncProperty(word, word, async (hash, privateKey) => {
        const address = await addressOfPrivateKey(privateKey);
        fc.pre(address !== undefined);
        const signature = signHash(hash, privateKey);
        expect(signature).toBe(
          await sign({ hash: hex(hash), privateKey: hex(privateKey), to: 'hex' }),
        );
        expect(await recoverSigner(hash, bytes(signature))).toBe(address);
      }),
    );
  });
});
