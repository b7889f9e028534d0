import { verifyTypedData } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertWallet } from '../../../src/accounts/wallets/local-wallet-store.ts';
import { createLocalWallets } from '../../../src/accounts/wallets/local-wallets.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { seal } from '../../../src/kernel/seal.ts';
import { typedTransfer, usdcDomain } from '../../../src/x402/authorization.ts';
import { GOLDEN, USDC } from '../../support/challenges.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import vectors from '../../vectors/x402.json' with { type: 'json' };

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(async () => db[Symbol.asyncDispose]());

const APP_SECRET = 'app secret of the tests';
const localWallets = (appSecret = APP_SECRET) =>
  createLocalWallets({
    sql: db.sql,
    random: systemRandom,
    authorizationKey: 'authorization key of the tests',
    appSecret,
  });
const domain = usdcDomain(USDC);

describe('a wallet that this server holds', () => {
  it('a local wallet signs a transfer to the bytes of the golden vector', async () => {
    const privateKey = Buffer.from(vectors.privateKey.slice(2), 'hex');
    const sealedKey = seal(APP_SECRET, 'acct_golden:1', privateKey, systemRandom);
    await insertWallet(db.sql, 'acct_golden:1', { address: GOLDEN.from, sealedKey });
    const signature = await localWallets().signTransfer('acct_golden:1', domain, GOLDEN);
    expect(signature).toBe(vectors.signature);
  });

  it('a local wallet signs as the address it was created with, from the first call and in any process', async () => {
    const address = await localWallets().provide('acct_a:1');
    const wallets = localWallets();
    const authorization = { ...GOLDEN, from: address };
    const signature = await wallets.signTransfer('acct_a:1', domain, authorization);
    expect(await wallets.signTransfer('acct_a:1', domain, authorization)).toBe(signature);
    const typed = typedTransfer(domain, authorization);
    const proven = await verifyTypedData({ address, signature, ...typed } as never);
    expect(proven).toBe(true);
  });

  it('a local wallet signs for no other wallet, and signs nothing when its key cannot be decrypted', async () => {
    const wallets = localWallets();
    await wallets.provide('acct_b:1');
    const foreign = wallets.signTransfer('acct_b:1', domain, GOLDEN);
    await expect(foreign).rejects.toThrow('a wallet signs for itself');
    const unknown = wallets.signTransfer('acct_b:2', domain, GOLDEN);
    await expect(unknown).rejects.toThrow('there is no wallet');
    const from = await wallets.provide('acct_b:1');
    const stranger = localWallets('another secret').signTransfer('acct_b:1', domain, {
      ...GOLDEN,
      from,
    });
    await expect(stranger).rejects.toThrow();
  });
});
