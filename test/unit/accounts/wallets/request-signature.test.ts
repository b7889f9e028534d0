import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  publicKeyText,
  readSigningKey,
  signRequest,
} from '../../../../src/accounts/wallets/request-signature.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const der = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');

const requireKey = (text: string) => {
  const key = readSigningKey(text);
  if (key === undefined) throw new Error('expected a key');
  return key;
};

describe('a signing key', () => {
  it('a signing key is read in every spelling that wallet providers hand out', () => {
    for (const text of [der, `wallet-auth:${der}`, ` ${der}\n`, pem, pem.replaceAll('\n', '\\n')]) {
      expect(publicKeyText(requireKey(text)), text).toBe(publicKeyText(privateKey));
    }
  });

  it('a signing key of another curve or of broken text is refused', () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey;
    const text = other.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    for (const wrong of [text, 'k'.repeat(32), '', 'wallet-auth:', pem.slice(0, -60)]) {
      expect(readSigningKey(wrong)).toBeUndefined();
    }
  });
});

describe('a request signature', () => {
  const request = {
    method: 'POST',
    url: 'https://wallets.example/v1/wallets',
    body: { chain_type: 'ethereum', b: [2, { d: 1, c: null }], a: 'ä' },
    headers: { 'managed-idempotency-key': 'k', 'managed-app-id': 'app' },
  } as const;
  const proves = (text: string, signature: string) =>
    verify(
      'sha256',
      Buffer.from(text),
      createPublicKey(privateKey),
      Buffer.from(signature, 'base64'),
    );

  it('a request signature covers exactly the request in canonical JSON', () => {
    const signature = signRequest(privateKey, request);
    const text =
      '{"body":{"a":"ä","b":[2,{"c":null,"d":1}],"chain_type":"ethereum"},' +
      '"headers":{"managed-app-id":"app","managed-idempotency-key":"k"},' +
      '"method":"POST","url":"https://wallets.example/v1/wallets","version":1}';
    expect(proves(text, signature)).toBe(true);
    expect(proves(text.replace('ethereum', 'Ethereum'), signature)).toBe(false);
  });
});
