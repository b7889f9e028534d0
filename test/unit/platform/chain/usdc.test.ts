import { describe, expect, it } from 'vitest';
import { topicOf } from '../../../../src/platform/chain/abi.ts';
import { CHAIN_LIMITS } from '../../../../src/platform/chain/limits.ts';
import type { LogQuery } from '../../../../src/platform/chain/log-query.ts';
import { isAskedFor } from '../../../../src/platform/chain/log-query.ts';
import { RpcTooMuch, RpcUnavailable } from '../../../../src/platform/chain/rpc.ts';
import type { ChainLog } from '../../../../src/platform/chain/rpc-answers.ts';
import { carriedOut, incoming, outgoing } from '../../../../src/platform/chain/usdc.ts';
import { USDC_EVENTS } from '../../../support/fakes/fake-chain.ts';
import { word } from '../../../support/fakes/json-rpc-node.ts';

const USDC = `0x${'11'.repeat(20)}`;
const walletOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}`;
const [payer, other, vendor] = [walletOf(0xaa), walletOf(0xbb), walletOf(0xcc)];
const NONCE = word(0x1234);
const range = { fromBlock: 0, to: { number: 63, hash: word(63) } };

function log(blockNumber: number, logIndex: number, topics: string[], more = {}): ChainLog {
  const place = { blockNumber, blockHash: word(blockNumber), txHash: word(1_000), logIndex };
  return { address: USDC, data: '0x', ...place, topics, ...more };
}
const used = (block: number, index: number, by: string, nonce = NONCE) =>
  log(block, index, [USDC_EVENTS.used, topicOf(by), nonce]);
const canceled = (block: number, index: number, by: string, nonce = NONCE) =>
  log(block, index, [USDC_EVENTS.canceled, topicOf(by), nonce]);
const transfer = (block: number, index: number, from: string, to: string, valueRaw: number) =>
  log(block, index, [USDC_EVENTS.transfer, topicOf(from), topicOf(to)], { data: word(valueRaw) });

/** A node that knows these logs and refuses what the test says. */
function nodeWith(logs: readonly ChainLog[], refuses: (query: LogQuery) => boolean = () => false) {
  const asked: LogQuery[] = [];
  return {
    asked,
    async logs(query: LogQuery) {
      asked.push(query);
      if (refuses(query)) throw new RpcTooMuch('too much');
      return logs.filter((one) => isAskedFor(query, one));
    },
  };
}

describe('what leaves wallets', () => {
  it('outgoing USDC is read for hundreds of wallets in one query of all three events', async () => {
    const node = nodeWith([]);
    const wallets = Array.from({ length: CHAIN_LIMITS.logs.walletsPerQuery + 1 }, (_, i) =>
      walletOf(i),
    );
    await outgoing(node, USDC, wallets, range);
    expect(node.asked).toHaveLength(2);
    expect(node.asked[0]).toEqual({
      address: USDC,
      topics: [
        [USDC_EVENTS.used, USDC_EVENTS.canceled, USDC_EVENTS.transfer],
        wallets.slice(0, -1).map(topicOf),
      ],
      fromBlock: 0,
      toBlock: 63,
      knowing: range.to,
    });
    expect(node.asked[1]?.topics[1]).toEqual([
      topicOf(walletOf(CHAIN_LIMITS.logs.walletsPerQuery)),
    ]);
  });

  it('outgoing USDC of no wallets is empty and sends no query', async () => {
    const node = nodeWith([]);
    expect(await outgoing(node, USDC, [], range)).toEqual({ used: [], canceled: [] });
    expect(node.asked).toEqual([]);
  });

  it('an authorization’s transfer is the one in the log right behind it, and no other', async () => {
    const far = { ...transfer(6, 8, payer, vendor, 7), txHash: word(2_000) };
    const node = nodeWith([
      used(5, 0, payer),
      transfer(5, 1, payer, vendor, 10_000),
      used(5, 2, payer, word(2)),
      transfer(5, 4, payer, vendor, 10_000),
      used(5, 6, other, word(3)),
      transfer(5, 7, payer, vendor, 5),
      used(6, 7, payer, word(4)),
      far,
      used(8, 0, payer, word(5)),
      transfer(9, 1, payer, vendor, 10_000),
    ]);
    const found = await outgoing(node, USDC, [payer, other], range);
    expect(found.used.map(({ nonce, transfer: moved }) => [nonce, moved])).toEqual([
      [NONCE, { to: vendor, valueRaw: 10_000n }],
      [word(2), undefined],
      [word(3), undefined],
      [word(4), undefined],
      [word(5), undefined],
    ]);
    expect(found.used[0]).toEqual({
      authorizer: payer,
      nonce: NONCE,
      txHash: word(1_000),
      blockNumber: 5,
      blockHash: word(5),
      logIndex: 0,
      transfer: { to: vendor, valueRaw: 10_000n },
    });
  });

  it('outgoing USDC distinguishes cancelled authorizations from used ones', async () => {
    const node = nodeWith([canceled(3, 1, payer), used(4, 0, payer, word(9))]);
    const found = await outgoing(node, USDC, [payer], range);
    expect(found.canceled).toMatchObject([{ authorizer: payer, nonce: NONCE, blockNumber: 3 }]);
    expect(found.used).toMatchObject([{ nonce: word(9), transfer: undefined }]);
  });

  it('outgoing USDC comes in chain order, however many queries it took', async () => {
    const many = Array.from({ length: CHAIN_LIMITS.logs.walletsPerQuery + 1 }, (_, i) =>
      walletOf(i + 1),
    );
    const last = walletOf(CHAIN_LIMITS.logs.walletsPerQuery + 1);
    const node = nodeWith([used(2, 0, last), used(9, 0, walletOf(1), word(1))]);
    const found = await outgoing(node, USDC, many, range);
    expect(found.used.map(({ blockNumber }) => blockNumber)).toEqual([2, 9]);
  });
});

describe('what comes into wallets', () => {
  it('incoming USDC is queried by the receiver, from any sender', async () => {
    const node = nodeWith([transfer(5, 1, vendor, payer, 70), transfer(6, 1, payer, vendor, 8)]);
    expect(await incoming(node, USDC, [payer, other], range)).toEqual([
      {
        from: vendor,
        to: payer,
        valueRaw: 70n,
        txHash: word(1_000),
        blockNumber: 5,
        blockHash: word(5),
        logIndex: 1,
      },
    ]);
    expect(node.asked[0]?.topics).toEqual([
      [USDC_EVENTS.transfer],
      null,
      [topicOf(payer), topicOf(other)],
    ]);
  });

  it('incoming USDC returns amounts up to 2^256 - 1', async () => {
    const all = log(5, 1, [USDC_EVENTS.transfer, topicOf(vendor), topicOf(payer)], {
      data: `0x${'f'.repeat(64)}`,
    });
    const [moved] = await incoming(nodeWith([all]), USDC, [payer], range);
    expect(moved?.valueRaw).toBe(2n ** 256n - 1n);
  });
});

describe('a range that the node finds too large', () => {
  it('a log range that the node finds too large is read in halves without losing or repeating logs', async () => {
    const logs = Array.from({ length: 64 }, (_, block) => used(block, 0, payer, word(block)));
    const node = nodeWith(logs, ({ fromBlock, toBlock }) => toBlock - fromBlock >= 10);
    const found = await outgoing(node, USDC, [payer], range);
    expect(found.used.map(({ nonce }) => nonce)).toEqual(logs.map(({ topics }) => topics[2]));
    expect(node.asked.every(({ knowing }) => knowing === range.to)).toBe(true);
  });

  it('a log range is given up when one block is too large, or after a bounded number of queries', async () => {
    const never = nodeWith([], () => true);
    await expect(outgoing(never, USDC, [payer], range)).rejects.toThrow(RpcTooMuch);
    expect(never.asked.at(-1)).toMatchObject({ fromBlock: 0, toBlock: 0 });
    const crumbs = nodeWith([], ({ fromBlock, toBlock }) => toBlock > fromBlock);
    const long = { fromBlock: 1, to: { number: 1_000_000, hash: word(1) } };
    await expect(outgoing(crumbs, USDC, [payer], long)).rejects.toThrow(RpcUnavailable);
    expect(crumbs.asked.length).toBe(CHAIN_LIMITS.logs.queriesPerRead);
  });

  it('a block with too many logs of one wallet is read for the others, and the wallet is reported', async () => {
    // Anybody can move nothing out of and into any wallet, ten thousand times in a block.
    const wallets = Array.from({ length: 40 }, (_, i) => walletOf(i + 1));
    const flooded = walletOf(7);
    const logs = [
      ...wallets.map((wallet, i) => used(5, 2 * i, wallet, word(i))),
      ...wallets.map((wallet, i) => transfer(5, 2 * i + 1, wallet, vendor, 3)),
      transfer(4, 0, vendor, flooded, 5),
      transfer(5, 90, vendor, flooded, 6),
      transfer(6, 0, vendor, flooded, 7),
    ];
    const isFlood = ({ topics, fromBlock, toBlock }: LogQuery) =>
      fromBlock <= 5 &&
      toBlock >= 5 &&
      topics[0]?.includes(USDC_EVENTS.transfer) === true &&
      topics.slice(1).some((wanted) => wanted?.includes(topicOf(flooded)));
    const node = nodeWith(logs, isFlood);
    const floods: unknown[] = [];
    const whole = { ...range, onFlood: (flood: unknown) => floods.push(flood) };
    const left = await outgoing(node, USDC, wallets, whole);
    // All authorizations are known, since only this server makes them; of one it is not known what it moved.
    expect(left.used).toHaveLength(wallets.length);
    const bare = left.used.filter((event) => event.transfer === undefined);
    expect(bare.map(({ authorizer }) => authorizer)).toEqual([flooded]);
    const came = await incoming(node, USDC, wallets, whole);
    expect(came.map(({ valueRaw }) => valueRaw)).toEqual([5n, 7n]);
    expect(floods).toEqual(Array(2).fill({ wallet: flooded, blockNumber: 5 }));
    expect(node.asked.length).toBeLessThan(2 * 40);
    await expect(incoming(node, USDC, wallets, range)).rejects.toThrow(RpcTooMuch);
  });

  it('a size limit on a log range applies only as long as the range can be split', async () => {
    const one = transfer(5, 0, vendor, payer, 5);
    const node = nodeWith([one], ({ maxBytes }) => maxBytes !== undefined);
    const tight = { ...range, fromBlock: 5, to: { number: 6, hash: word(6) }, maxBytes: 100 };
    expect(await incoming(node, USDC, [payer], tight)).toHaveLength(1);
    expect(
      node.asked.map(({ fromBlock, toBlock, maxBytes }) => [fromBlock, toBlock, maxBytes]),
    ).toEqual([
      [5, 6, 100],
      [5, 5, 100],
      [5, 5, undefined],
      [6, 6, 100],
      [6, 6, undefined],
    ]);
  });

  it('a log range is not queried again when the node is away', async () => {
    let asked = 0;
    const away = {
      async logs() {
        asked++;
        throw new RpcUnavailable('away');
      },
    };
    await expect(incoming(away, USDC, [payer], range)).rejects.toThrow(RpcUnavailable);
    expect(asked).toBe(1);
  });
});

describe('a log of the token', () => {
  it('a log of the token that is not complete is refused', async () => {
    const read = (one: ChainLog) => incoming({ logs: async () => [one] }, USDC, [vendor], range);
    const good = transfer(1, 1, payer, vendor, 5);
    expect(await read(good)).toMatchObject([{ valueRaw: 5n }]);
    const [event, from, to] = good.topics as [string, string, string];
    for (const wrong of [
      { ...good, data: '0x' },
      { ...good, data: `${word(1)}${'0'.repeat(64)}` },
      { ...good, topics: [event, from] },
      { ...good, topics: [event, from, to, to] },
      { ...good, topics: [event, word(2n ** 200n), to] },
      { ...good, topics: [word(5), from, to] },
      { ...good, topics: [] },
    ]) {
      await expect(read(wrong), JSON.stringify(wrong)).rejects.toThrow(RpcUnavailable);
    }
  });
});

describe('authorizations that were carried out', () => {
  it('used authorizations come from one query of one event, in chain order', async () => {
    const logs = [used(9, 1, payer), transfer(9, 2, payer, vendor, 5), used(4, 0, other, word(9))];
    const node = nodeWith(logs);
    const witness = transfer(60, 0, vendor, other, 1);
    const told = await carriedOut(node, USDC, [payer, other], { ...range, witness, maxBytes: 9 });
    expect(told.map(({ authorizer, nonce }) => [authorizer, nonce])).toEqual([
      [other, word(9)],
      [payer, NONCE],
    ]);
    expect(node.asked).toMatchObject([
      { topics: [[USDC_EVENTS.used], [payer, other].map(topicOf)], witness, maxBytes: 9 },
    ]);
  });

  it('a log that is no used authorization fails the reading of used authorizations', async () => {
    const node = { logs: async () => [transfer(9, 2, payer, vendor, 5)] };
    await expect(carriedOut(node, USDC, [payer], range)).rejects.toThrow(RpcUnavailable);
  });
});
