import { generateKeyPairSync } from 'node:crypto';
import { verifyTypedData } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { retryProvisions } from '../../../src/accounts/agents/retry-provisions.ts';
import { ACCOUNT_LIMITS } from '../../../src/accounts/limits.ts';
import { createRemoteWallets } from '../../../src/accounts/wallets/remote-wallets.ts';
import {
  createWalletProvider,
  type ProviderSettings,
  WalletProviderError,
} from '../../../src/accounts/wallets/wallet-provider.ts';
import { createFetch } from '../../../src/platform/egress/fetch.ts';
import { typedTransfer, usdcDomain } from '../../../src/x402/authorization.ts';
import { accountsWorld, agentWish } from '../../support/accounts.ts';
import { GOLDEN, USDC } from '../../support/challenges.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type FakeWalletProvider, fakeWalletProvider } from '../../support/wallet-provider.ts';

let db: TestDatabase;
const door = createFetch();
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(async () => {
  await door.close();
  await db[Symbol.asyncDispose]();
});

const domain = usdcDomain(USDC);

/** One process's wallets, as impatient as the test needs it to be. */
function walletsAt(
  provider: FakeWalletProvider,
  { settings = {}, timeoutMs }: { settings?: Partial<ProviderSettings>; timeoutMs?: number } = {},
) {
  const fetch: typeof door.fetch = (request) =>
    door.fetch({ ...request, timeoutMs: timeoutMs ?? request.timeoutMs });
  const client = createWalletProvider({ ...provider.settings, ...settings, fetch });
  return createRemoteWallets({ sql: db.sql, provider: client });
}

/** Enough that of so many races at least one has been lost in each way. */
const ROUNDS = 20;

let references = 0;
const freshReference = () => `acct_remote:${++references}`;

/** A wallet at a fresh provider, and a transfer out of it. */
async function providedWallet(provider: FakeWalletProvider) {
  const wallets = walletsAt(provider);
  const reference = freshReference();
  const from = await wallets.provide(reference);
  const authorization = { ...GOLDEN, from };
  const sign = () => wallets.signTransfer(reference, domain, authorization);
  return { wallets, reference, from, authorization, sign };
}

describe('a wallet at a provider', () => {
  it('a remote wallet is created once per reference by whichever process asks, and not requested again', async () => {
    await using provider = await fakeWalletProvider();
    const reference = freshReference();
    const address = await walletsAt(provider).provide(reference);
    expect(address).toMatch(/^0x[0-9a-f]{40}$/);
    expect(provider.seen).toEqual(['GET /v1/wallets', 'POST /v1/wallets']);
    expect(await walletsAt(provider).provide(reference)).toBe(address);
    expect(await walletsAt(provider).provide(freshReference())).not.toBe(address);
    expect(provider.refused).toEqual([]);
    expect(provider.seen).toHaveLength(4);
  });

  it('several processes that create one remote wallet concurrently get the same wallet', async () => {
    await using provider = await fakeWalletProvider();
    // Whose row comes first is chance, and so is which of its keys the others meet.
    for (let round = 1; round <= ROUNDS; round++) {
      const reference = freshReference();
      const asked = Array.from({ length: 8 }, () => walletsAt(provider).provide(reference));
      expect(new Set(await Promise.all(asked)).size).toBe(1);
      expect(provider.wallets.size).toBe(round);
    }
  });

  it('a remote wallet is found again when the response to its creation was lost, even a day later', async () => {
    await using provider = await fakeWalletProvider();
    const reference = freshReference();
    provider.faults.push({ kind: 'status', status: 500 });
    await expect(walletsAt(provider).provide(reference)).rejects.toThrow(WalletProviderError);
    provider.faults.push({ kind: 'text', text: '{"data":[]}' }, { kind: 'mute' });
    await expect(walletsAt(provider).provide(reference)).rejects.toThrow(WalletProviderError);
    const made = [...provider.wallets.values()];
    expect(made).toHaveLength(1);
    provider.forgetIdempotencyKeys();
    // This time the search finds nothing, as behind a lagging replica, and making it is a conflict.
    provider.faults.push({ kind: 'text', text: '{"data":[]}' });
    expect(await walletsAt(provider).provide(reference)).toBe(made[0]?.address.toLowerCase());
    expect(provider.wallets.size).toBe(1);
  });

  it('a remote wallet is never the wallet of another id, nor shared by two references', async () => {
    await using provider = await fakeWalletProvider();
    const { from, reference } = await providedWallet(provider);
    const taken = { kind: 'other wallet', externalId: reference.replace(':', '-') } as const;
    const [first] = provider.wallets.values();
    provider.faults.push({ kind: 'text', text: JSON.stringify({ data: [first] }) }, taken);
    await expect(walletsAt(provider).provide(freshReference())).rejects.toThrow('another id');
    const { external_id: _, ...nameless } = first ?? { external_id: '' };
    const text = JSON.stringify(nameless);
    provider.faults.push({ kind: 'text', text: '{"data":[]}' }, { kind: 'text', text });
    await expect(walletsAt(provider).provide(freshReference())).rejects.toThrow(
      'another reference',
    );
    expect(from).toBe(first?.address.toLowerCase());
  });

  it('a malformed wallet response of the provider is refused', async () => {
    await using provider = await fakeWalletProvider();
    const wallet = { id: 'w1', address: GOLDEN.to, chain_type: 'ethereum' };
    for (const wrong of [
      { address: 'bob' },
      { address: undefined },
      { id: '../apps' },
      { id: 7 },
      { chain_type: 'solana' },
    ]) {
      const text = JSON.stringify({ ...wallet, ...wrong });
      provider.faults.push({ kind: 'text', text: '{"data":[]}' }, { kind: 'text', text });
      const failure = walletsAt(provider).provide(freshReference());
      await expect(failure, text).rejects.toThrow('answered no wallet');
    }
  });

  it('a remote wallet signs transfers that another library verifies', async () => {
    await using provider = await fakeWalletProvider();
    const { from, reference, authorization, sign } = await providedWallet(provider);
    const signature = await sign();
    const typed = typedTransfer(domain, authorization);
    expect(await verifyTypedData({ address: from, signature, ...typed } as never)).toBe(true);
    const elsewhere = walletsAt(provider).signTransfer(reference, domain, authorization);
    expect(await elsewhere).toBe(signature);
    expect(provider.refused).toEqual([]);
  });

  it('a remote wallet normalizes its signature to the one form that the token accepts', async () => {
    await using provider = await fakeWalletProvider();
    const { sign } = await providedWallet(provider);
    const plain = await sign();
    const bit = (hex: string) => `${hex.slice(0, -2)}0${Number.parseInt(hex.slice(-2), 16) - 27}`;
    provider.faults.push({ kind: 'signature', bend: bit });
    expect(await sign()).toBe(plain);
    provider.faults.push({ kind: 'signature', bend: (hex) => `0x${hex.slice(2).toUpperCase()}` });
    expect(await sign()).toBe(plain);
  });

  it('a remote wallet never returns a signature that the token would refuse', async () => {
    await using provider = await fakeWalletProvider();
    const { sign } = await providedWallet(provider);
    const order = 2n ** 256n - 0x14551231950b75fc4402da1732fc9bebfn;
    const twin = (hex: string) => {
      const s = (order - BigInt(`0x${hex.slice(66, 130)}`)).toString(16).padStart(64, '0');
      return `${hex.slice(0, 66)}${s}${hex.endsWith('1b') ? '1c' : '1b'}`;
    };
    for (const bend of [
      twin,
      (hex: string) => `${hex.slice(0, -2)}${hex.endsWith('1b') ? '1c' : '1b'}`,
      (hex: string) => `${hex.slice(0, -2)}25`,
      (hex: string) => `${hex.slice(0, 4)}${hex[4] === '0' ? '1' : '0'}${hex.slice(5)}`,
      () => `0x${'00'.repeat(65)}`,
      () => '0x',
      (hex: string) => `${hex}00`,
    ]) {
      provider.faults.push({ kind: 'signature', bend });
      await expect(sign()).rejects.toThrow(WalletProviderError);
    }
    provider.faults.push({ kind: 'other wallet', externalId: 'stranger' });
    await expect(sign()).rejects.toThrow('signature of another wallet');
  });

  it('a remote wallet signs transfers from its own address alone', async () => {
    await using provider = await fakeWalletProvider();
    const { wallets, reference } = await providedWallet(provider);
    const foreign = wallets.signTransfer(reference, domain, GOLDEN);
    await expect(foreign).rejects.toThrow('a wallet signs for itself');
    const unknown = wallets.signTransfer('acct_remote:none', domain, GOLDEN);
    await expect(unknown).rejects.toThrow('there is no wallet');
  });
});

describe('a provider', () => {
  it('the wallet provider refuses requests without the app’s secret or the key’s signature', async () => {
    await using provider = await fakeWalletProvider();
    const { reference, authorization } = await providedWallet(provider);
    const stranger = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
    for (const [settings, reason] of [
      [{ appSecret: 'guessed' }, 'wrong app secret'],
      [{ appId: 'another' }, 'wrong app secret'],
      [{ signingKey: stranger }, 'wrong request signature'],
      [{ headerPrefix: 'other' }, 'wrong app id'],
    ] as const) {
      const wallets = walletsAt(provider, { settings });
      await expect(wallets.signTransfer(reference, domain, authorization)).rejects.toMatchObject({
        name: 'WalletProviderError',
        status: 401,
        message: expect.stringContaining(reason),
      });
      await expect(wallets.provide(freshReference())).rejects.toThrow(reason);
    }
  });

  it('a wallet provider that fails, stalls or returns junk gives one kind of error, within its time and size limits', async () => {
    await using provider = await fakeWalletProvider();
    const { reference, authorization, sign } = await providedWallet(provider);
    const long = ' '.repeat(ACCOUNT_LIMITS.wallet.answerBytes + 1);
    for (const fault of [
      { kind: 'status', status: 500, body: { error: 'x'.repeat(10_000) } },
      { kind: 'status', status: 429, body: [] },
      { kind: 'status', status: 302 },
      { kind: 'text', text: '<html>' },
      { kind: 'text', text: '{"data":{"signature":7}}' },
      { kind: 'text', text: long },
      { kind: 'mute' },
    ] as const) {
      provider.faults.push(fault);
      const failure = await sign().catch((error: unknown) => error);
      expect(failure, fault.kind).toBeInstanceOf(WalletProviderError);
      expect((failure as Error).message.length).toBeLessThan(300);
    }
    provider.faults.push({ kind: 'silence' });
    const hasty = walletsAt(provider, { timeoutMs: 50 });
    await expect(hasty.signTransfer(reference, domain, authorization)).rejects.toThrow(
      'cannot be reached',
    );
    await sign();
  });

  it('a stalled wallet provider gets at most a bounded number of concurrent requests', async () => {
    await using provider = await fakeWalletProvider();
    const { reference, authorization } = await providedWallet(provider);
    const wallets = walletsAt(provider, { timeoutMs: 300 });
    for (let i = 0; i < ACCOUNT_LIMITS.wallet.underWay; i++)
      provider.faults.push({ kind: 'silence' });
    const asked = Array.from({ length: ACCOUNT_LIMITS.wallet.underWay + 1 }, () =>
      wallets.signTransfer(reference, domain, authorization),
    );
    const outcomes = (await Promise.allSettled(asked)).map((outcome) =>
      outcome.status === 'rejected' ? (outcome.reason as Error).message : 'signed',
    );
    expect(outcomes.filter((message) => message.startsWith('too many'))).toHaveLength(1);
    await wallets.signTransfer(reference, domain, authorization);
  });

  it('an agent stays pending while the wallet provider is down, and gets its wallet when the provider is back', async () => {
    await using provider = await fakeWalletProvider();
    const world = accountsWorld(db.sql, { wallets: walletsAt(provider) });
    const { accountId } = await world.owner('remote');
    provider.faults.push({ kind: 'status', status: 503 });
    await expect(world.agents.create(accountId, agentWish('remote'))).rejects.toMatchObject({
      status: 502,
      error: 'managed_provisioning_failed',
    });
    world.clock.advance(ACCOUNT_LIMITS.provisioning.retry.max);
    await retryProvisions(world.agentsDeps).tick();
    const [{ address } = { address: '' }] = provider.wallets.values();
    expect(await world.agents.list(accountId)).toMatchObject([
      { status: 'active', managedWalletAddress: address.toLowerCase() },
    ]);
  });
});
