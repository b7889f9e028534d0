import { type Hex, numberToHex, parseEventLogs, zeroAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { account, type Chain, startChain } from '../../support/chain/chain.ts';
import {
  digestOf,
  signCancel,
  signTransfer,
  type Transfer,
  USDC,
  USDC_ABI,
} from '../../support/chain/eip3009.ts';
import { PRICE_FEED, SEQUENCER_FEED } from '../../support/chain/feeds.ts';
import { MULTICALL3 } from '../../support/chain/install.ts';
import { transferRequest } from '../../support/chain/usdc.ts';

const payer = account(3);
const payee = account(4).address;
const PRICE_RAW = 10_000n;

let chain: Chain;
beforeAll(async () => {
  chain = await startChain({ slotsInAnEpoch: 4 });
  await chain.fundUsdc(payer.address, 1_000_000_000n);
});
afterAll(() => chain[Symbol.asyncDispose]());

let nonces = 0;

/** An authorization that is good for a minute from the head on, unless told otherwise. */
async function authorization(wanted: Partial<Transfer> = {}): Promise<Transfer> {
  const { timestamp } = await chain.head();
  return {
    from: payer.address,
    to: payee,
    value: PRICE_RAW,
    validAfter: 0n,
    validBefore: BigInt(timestamp + 60),
    nonce: numberToHex(++nonces, { size: 32 }),
    ...wanted,
  };
}

async function statusOf(hash: Hex): Promise<string | undefined> {
  return (await chain.receipt(hash))?.status;
}

const [FAILED, DONE] = ['0x0', '0x1'];

const call = (to: Hex, data: Hex) => chain.node.ask<Hex>('eth_call', { to, data }, 'latest');

describe('the token of the local chain', () => {
  it('the token of the local chain signs in the same domain as the token of the public chain', async () => {
    expect(await call(USDC, '0x3644e515')).toBe(
      '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f',
    );
  });

  it('the token of the local chain has the same digest and signature as a captured payment', async () => {
    const transfer: Transfer = {
      from: payer.address,
      to: payee,
      value: 10_000n,
      validAfter: 0n,
      validBefore: 1_795_247_090n,
      nonce: '0x00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff',
    };
    expect(digestOf(transfer)).toBe(
      '0xf282f7eb5f9f0abf5192f3ea123ff677afab2655a271207afde0f2b523dd1103',
    );
    expect(await signTransfer(payer, transfer)).toBe(
      '0x76cebd98b7fc293e1783516002d6c0b062d260aa7fc2e15534cc5d67292b54711e4feb2ec068d74ff151158f2ca562c490b08b22d0b91c3b8bd7048ee6068b271b',
    );
  });

  it('the token of the local chain takes thousands of transfers at once, and leaves out invalid ones', async () => {
    const transfers = await Promise.all(
      Array.from({ length: 300 }, () => authorization({ value: 1n })),
    );
    const signed = await Promise.all(
      transfers.map(async (transfer) => ({
        transfer,
        signature: await signTransfer(payer, transfer),
      })),
    );
    const before = await chain.usdcOf(payee);
    await chain.submitMany([...signed, ...signed.slice(0, 3)]);
    expect(await chain.usdcOf(payee)).toBe(before + 300n);
  });

  it('the token of the local chain takes an authorization in both encodings, and logs its use right before the transfer', async () => {
    for (const form of ['bytes', 'vrs'] as const) {
      const transfer = await authorization();
      const before = await chain.usdcOf(payee);
      const hash = await chain.submit(transfer, await signTransfer(payer, transfer), { form });
      const { logs } = await chain.mined(hash);
      const seen = parseEventLogs({ abi: USDC_ABI, logs: logs as never });
      expect(seen.map((log) => log.eventName)).toEqual(['AuthorizationUsed', 'Transfer']);
      expect(seen[0]?.args).toEqual({ authorizer: payer.address, nonce: transfer.nonce });
      expect(seen[1]?.args).toEqual({ from: payer.address, to: payee, value: PRICE_RAW });
      expect(await chain.usdcOf(payee)).toBe(before + PRICE_RAW);
      expect(await chain.authorizationState(payer.address, transfer.nonce)).toBe(true);
    }
  });

  it('the token of the local chain refuses an authorization in its last second, and takes it one second before', async () => {
    const { timestamp } = await chain.head();
    for (const [late, status] of [
      [0, FAILED],
      [1, DONE],
    ] as const) {
      const at = timestamp + 10 * (late + 1);
      const transfer = await authorization({ validBefore: BigInt(at + late) });
      const signature = await signTransfer(payer, transfer);
      await chain.setNextTimestamp(at);
      expect(await statusOf(await chain.submit(transfer, signature))).toBe(status);
      expect((await chain.head()).timestamp).toBe(at);
    }
  });

  it('the token of the local chain refuses an authorization before its first second has passed', async () => {
    const at = (await chain.head()).timestamp + 5;
    const transfer = await authorization({ validAfter: BigInt(at) });
    const signature = await signTransfer(payer, transfer);
    for (const status of [FAILED, DONE]) {
      await chain.setNextTimestamp(status === FAILED ? at : at + 1);
      expect(await statusOf(await chain.submit(transfer, signature))).toBe(status);
    }
  });

  it('the token of the local chain moves money once for a nonce, and never after the nonce is cancelled', async () => {
    const transfer = await authorization();
    const signature = await signTransfer(payer, transfer);
    expect(await statusOf(await chain.submit(transfer, signature))).toBe(DONE);
    expect(await statusOf(await chain.submit(transfer, signature))).toBe(FAILED);
    expect(await chain.refusalOf(transfer, signature)).toContain(
      'authorization is used or canceled',
    );

    const cancelled = await authorization();
    const late = await signTransfer(payer, cancelled);
    const cancel = await signCancel(payer, cancelled.nonce);
    expect(await statusOf(await chain.cancel(payer.address, cancelled.nonce, cancel))).toBe(DONE);
    expect(await chain.authorizationState(payer.address, cancelled.nonce)).toBe(true);
    expect(await chain.refusalOf(cancelled, late)).toContain('authorization is used or canceled');
  });

  it('the token of the local chain gives the reason of a refusal', async () => {
    const refusal = async (wanted: Partial<Transfer>, signer = payer) => {
      const transfer = await authorization(wanted);
      return chain.refusalOf(transfer, await signTransfer(signer, transfer));
    };
    expect(await refusal({})).toBeUndefined();
    expect(await refusal({}, account(5))).toContain('invalid signature');
    expect(await refusal({ value: 10n ** 15n })).toContain('amount exceeds balance');
    expect(await refusal({ to: zeroAddress })).toContain('transfer to the zero address');
    expect(await refusal({ to: USDC })).toContain('account is blacklisted');
    expect(await refusal({ to: payer.address })).toBeUndefined();
  });

  it('the token of the local chain logs a deposit, and does not log a balance that is set directly', async () => {
    const wallet = account(6).address;
    const fromBlock = (await chain.head()).number;
    await chain.setUsdc(wallet, 7n);
    const txHash = await chain.fundUsdc(wallet, 5n);
    expect(await chain.usdcOf(wallet)).toBe(12n);
    expect(await chain.transferLogs({ to: wallet, fromBlock })).toEqual([
      expect.objectContaining({ from: account(0).address, to: wallet, value: 5n, txHash }),
    ]);
  });
});

describe('the local chain', () => {
  it('the local chain forgets a transaction when its block is replaced', async () => {
    const transfer = await authorization();
    const signature = await signTransfer(payer, transfer);
    const hash = await chain.submit(transfer, signature);
    await chain.mine(2);
    const before = await chain.head();
    await chain.reorg(3);
    expect(await chain.receipt(hash)).toBeUndefined();
    expect(await chain.authorizationState(payer.address, transfer.nonce)).toBe(false);
    const after = await chain.head();
    expect(after.number).toBe(before.number);
    expect(after.hash).not.toBe(before.hash);

    const how = { form: 'bytes', from: account(5).address } as const;
    const request = transferRequest(transfer, signature, how);
    await chain.mine(2);
    await chain.reorg(2, [{ request, block: 1 }]);
    expect(await chain.authorizationState(payer.address, transfer.nonce)).toBe(true);
  });

  it('the local chain holds transactions back, moves its clock forward and reverts to a snapshot', async () => {
    const start = await chain.snapshot();
    const before = await chain.head();
    await chain.setAutomine(false);
    const transfer = await authorization();
    const hash = await chain.submit(transfer, await signTransfer(payer, transfer));
    expect(await chain.receipt(hash)).toBeUndefined();
    await chain.travel(60);
    expect((await chain.head()).timestamp).toBe(before.timestamp + 60);
    expect(await statusOf(hash)).toBe(FAILED);
    await chain.setAutomine(true);
    await chain.revert(start);
    expect((await chain.head()).hash).toBe(before.hash);
  });

  it('the local chain makes blocks at a given interval from a given time', async () => {
    await using ticking = await startChain({ blockTime: 1, timestamp: 1_700_000_000 });
    const first = await ticking.head();
    expect(Math.abs(first.timestamp - 1_700_000_000)).toBeLessThan(5);
    await expect
      .poll(async () => (await ticking.head()).timestamp)
      .toBeGreaterThan(first.timestamp);
  });

  it('the safe block of the local chain is some blocks behind its head', async () => {
    await chain.mine(10);
    const { number } = await chain.head();
    const block = await chain.node.ask<{ number: Hex }>('eth_getBlockByNumber', 'safe', false);
    expect(Number(block.number)).toBe(number - 4);
  });

  it('the local chain carries many payments at once, each in its own transaction', async () => {
    const transfers = await Promise.all(Array.from({ length: 20 }, () => authorization()));
    const hashes = await Promise.all(
      transfers.map(async (each) => chain.submit(each, await signTransfer(payer, each))),
    );
    expect(new Set(hashes).size).toBe(20);
    expect(await Promise.all(hashes.map(statusOf))).toEqual(hashes.map(() => DONE));
  });

  it('the local chain answers many calls at one block', async () => {
    const block = await call(MULTICALL3, '0x42cbb15c');
    expect(Number(block)).toBeGreaterThan(0);
  });
});

describe('the feeds of the local chain', () => {
  const LATEST: Hex = '0xfeaf968c';
  const round = (id: bigint): Hex => `0x9a6fc8f5${id.toString(16).padStart(64, '0')}`;
  const words = (answer: Hex) =>
    Array.from({ length: (answer.length - 2) / 64 }, (_, i) =>
      BigInt.asIntN(256, BigInt(`0x${answer.slice(2 + 64 * i, 66 + 64 * i)}`)),
    );

  it('the feeds of the local chain return the latest round and the one before, and no other', async () => {
    await chain.setPrice(4_000_00000000n);
    await chain.mine();
    await chain.setPrice(-5n, { updatedAt: 123 });
    const [id, answer, , updatedAt, answeredIn] = words(await call(PRICE_FEED, LATEST));
    expect([answer, updatedAt, answeredIn]).toEqual([-5n, 123n, id]);
    const before = words(await call(PRICE_FEED, round((id ?? 0n) - 1n)));
    expect(before.slice(0, 2)).toEqual([(id ?? 0n) - 1n, 4_000_00000000n]);
    await expect(call(PRICE_FEED, round(99n))).rejects.toThrow('revert');
    expect(words(await call(PRICE_FEED, '0x313ce567'))).toEqual([8n]);
    await expect(call(PRICE_FEED, '0x12345678')).rejects.toThrow('revert');
  });

  it('the feeds of the local chain report whether the sequencer is up, and since when', async () => {
    const { timestamp } = await chain.head();
    await chain.setSequencer(false);
    expect(words(await call(SEQUENCER_FEED, LATEST)).slice(1, 3)).toEqual([1n, BigInt(timestamp)]);
    await chain.setSequencer(true, { startedAt: timestamp - 10 });
    expect(words(await call(SEQUENCER_FEED, LATEST)).slice(1, 3)).toEqual([
      0n,
      BigInt(timestamp - 10),
    ]);
  });
});
