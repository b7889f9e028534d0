import fc from 'fast-check';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { RpcReverted, RpcUnavailable } from '../../../../src/platform/chain/rpc.ts';
import { createWalletSignatures } from '../../../../src/platform/chain/wallet-signature.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { testWallet } from '../../../support/wallet.ts';

const clock = new ManualClock();
const wallet = testWallet('signer');
const stranger = testWallet('stranger');

/** Signatures over a node that gives one answer, and how often it was asked. */
function signatures(answer?: string | Error) {
  let asked = 0;
  const rpc = {
    async call() {
      asked++;
      if (answer instanceof Error) throw answer;
      return answer ?? '0x';
    },
  };
  const deps = { clock, rpc: answer === undefined ? undefined : rpc, log: silentLog };
  return { check: createWalletSignatures(deps).check, asked: () => asked };
}

const INVALID = expect.objectContaining({ status: 401, error: 'Invalid signature' });
const UNCHECKABLE = expect.objectContaining({ status: 503, error: 'signature_check_unavailable' });
const STALE = expect.objectContaining({ status: 401, error: 'Timestamp out of window' });

describe('the signed text', () => {
  it('the text that a wallet signs is the two lines that every client builds, byte for byte', async () => {
    const { check } = signatures();
    const timestamp = String(Math.floor(clock.now() / 1_000));
    const proofOf = async (message: string) => {
      const signature = await privateKeyToAccount(wallet.privateKey).signMessage({ message });
      return { wallet: wallet.address, signature, timestamp };
    };
    const text = `Svc Credit API\nTimestamp: ${timestamp}`;
    expect(await check(await proofOf(text))).toBe(wallet.address);
    await expect(check(await proofOf(`${text}\n`))).rejects.toThrow();
  });
});

describe('plain wallets', () => {
  it('a plain wallet signs in without the chain, whatever the case of its address', async () => {
    const { check, asked } = signatures(new RpcUnavailable('away'));
    const proof = await wallet.sign(clock.now());
    for (const spelling of [proof.wallet, wallet.address]) {
      expect(await check({ ...proof, wallet: spelling })).toBe(wallet.address);
    }
    expect(asked()).toBe(0);
  });

  it('a plain wallet’s signature may count its recovery id from 0 or from 27', async () => {
    const proof = await wallet.sign(clock.now());
    const v = Number.parseInt(proof.signature.slice(-2), 16) - 27;
    const signature = `${proof.signature.slice(0, -2)}0${v}`;
    expect(await signatures().check({ ...proof, signature })).toBe(wallet.address);
  });

  it('a plain wallet signs in only with its own signature over its own timestamp', async () => {
    const { check } = signatures();
    const proof = await wallet.sign(clock.now());
    await expect(check({ ...proof, wallet: stranger.address })).rejects.toEqual(INVALID);
    const timestamp = String(Number(proof.timestamp) + 1);
    await expect(check({ ...proof, timestamp })).rejects.toEqual(INVALID);
  });

  it('a plain wallet’s invalid signature is refused and never throws another error', async () => {
    const { check } = signatures();
    const { timestamp } = await wallet.sign(clock.now());
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 65, maxLength: 65 }), async (noise) => {
        const signature = `0x${Buffer.from(noise).toString('hex')}`;
        const attempt = check({ wallet: wallet.address, signature, timestamp });
        await expect(attempt).rejects.toEqual(INVALID);
      }),
      { numRuns: 50 },
    );
  });
});

describe('what is checked before any cryptography', () => {
  it('a sign-in’s timestamp must be within five minutes, in plain digits, before any cryptography', async () => {
    const { check, asked } = signatures('0x01');
    const now = Math.floor(clock.now() / 1_000);
    const at = (timestamp: string) => check({ wallet: 'x', signature: 'y', timestamp });
    for (const seconds of [now - 301, now + 301]) {
      await expect(at(String(seconds))).rejects.toEqual(STALE);
    }
    for (const seconds of [now - 300, now + 300]) {
      await expect(at(String(seconds))).rejects.toEqual(INVALID);
    }
    for (const text of ['', 'NaN', '1e9', `${now}.5`, `${now} `, '9'.repeat(40), `-${now}`]) {
      await expect(at(text)).rejects.toEqual(STALE);
    }
    expect(asked()).toBe(0);
  });

  it('a sign-in’s address and signature must be well formed before any cryptography', async () => {
    const { check, asked } = signatures('0x01');
    const proof = await wallet.sign(clock.now());
    for (const signature of ['', '0x', '0x1', 'ab', '0xzz', `0x${'ab'.repeat(4_096)}`]) {
      await expect(check({ ...proof, signature })).rejects.toEqual(INVALID);
    }
    for (const address of ['', '0x', `0x${'g'.repeat(40)}`, wallet.address.slice(2)]) {
      await expect(check({ ...proof, wallet: address })).rejects.toEqual(INVALID);
    }
    expect(asked()).toBe(0);
  });
});

describe('addresses that belong to no key', () => {
  const NO_KEY = `0x${'00'.repeat(64)}1b`;
  const reserved = ['0', '1', '4', '9', 'a', 'b', '100', 'ffff'].map(
    (digits) => `0x${digits.padStart(40, '0')}`,
  );

  it('a reserved address (zero, precompiles) cannot sign in, and the node is not asked', async () => {
    const { check, asked } = signatures('0x01');
    const { timestamp, signature } = await wallet.sign(clock.now());
    for (const address of reserved) {
      for (const any of [NO_KEY, signature, `0x${'ab'.repeat(200)}`]) {
        const attempt = check({ wallet: address, signature: any, timestamp });
        await expect(attempt).rejects.toEqual(INVALID);
      }
    }
    expect(asked()).toBe(0);
  });

  it('the first address after the precompiles can sign in', async () => {
    const { timestamp } = await wallet.sign(clock.now());
    const first = `0x${'10000'.padStart(40, '0')}`;
    expect(await signatures('0x01').check({ wallet: first, signature: NO_KEY, timestamp })).toBe(
      first,
    );
  });
});

describe('contract wallets', () => {
  const long = async () => ({
    ...(await wallet.sign(clock.now())),
    wallet: stranger.address,
    signature: `0x${'ab'.repeat(200)}`,
  });

  it('a contract wallet signs in as its contract answers', async () => {
    for (const yes of ['0x01', `0x${'0'.repeat(63)}1`]) {
      expect(await signatures(yes).check(await long())).toBe(stranger.address);
    }
    for (const no of ['0x00', '0x', '0x02', `0x01${'0'.repeat(62)}`]) {
      await expect(signatures(no).check(await long())).rejects.toEqual(INVALID);
    }
    await expect(signatures(new RpcReverted('no')).check(await long())).rejects.toEqual(INVALID);
  });

  it('a contract wallet is never refused as invalid because the chain is away or not configured', async () => {
    const away = signatures(new RpcUnavailable('away'));
    await expect(away.check(await long())).rejects.toEqual(UNCHECKABLE);
    const short = { ...(await wallet.sign(clock.now())), wallet: stranger.address };
    await expect(away.check(short)).rejects.toEqual(UNCHECKABLE);
    await expect(signatures().check(await long())).rejects.toEqual(UNCHECKABLE);
  });
});
