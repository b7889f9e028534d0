import { describe, expect, it } from 'vitest';
import { bloomBitsOf, mayHoldLogs } from '../../../../src/platform/chain/bloom.ts';
import { CHAIN_LIMITS } from '../../../../src/platform/chain/limits.ts';
import type { LogQuery } from '../../../../src/platform/chain/log-query.ts';
import { findWitness } from '../../../../src/platform/chain/log-witness.ts';
import { RpcTooMuch, RpcUnavailable } from '../../../../src/platform/chain/rpc.ts';
import type { Block, ChainLog } from '../../../../src/platform/chain/rpc-answers.ts';
import { word } from '../../../support/fakes/json-rpc-node.ts';

const TOKEN = `0x${'11'.repeat(20)}`;
const EMPTY = `0x${'00'.repeat(256)}`;

/** A filter with these bits and no other, as a header has it. */
function bloomOf(bits: readonly number[]): string {
  const value = bits.reduce((filter, bit) => filter | (1n << BigInt(bit)), 0n);
  return `0x${value.toString(16).padStart(512, '0')}`;
}

const logAt = (blockNumber: number, logIndex: number): ChainLog => ({
  address: TOKEN,
  topics: [word(1), word(2)],
  data: '0x',
  blockNumber,
  logIndex,
  blockHash: word(blockNumber),
  txHash: word(logIndex),
});

/** A chain of 101 blocks, of which these have logs of the token. */
async function nodeWith(logs: readonly ChainLog[], told = logs) {
  const full = bloomOf(await bloomBitsOf(TOKEN));
  const blockOf = (number: number): Block => ({
    number,
    hash: word(number),
    timestampSec: number,
    logsBloom: logs.some(({ blockNumber }) => blockNumber === number) ? full : EMPTY,
  });
  const asked: (number | LogQuery)[] = [];
  return {
    asked,
    to: blockOf(100),
    rpc: {
      async block(number: number) {
        asked.push(number);
        return number > 100 ? undefined : blockOf(number);
      },
      async logs(query: LogQuery) {
        asked.push(query);
        return told.filter(
          ({ blockNumber }) => blockNumber >= query.fromBlock && blockNumber <= query.toBlock,
        );
      },
    },
  };
}

describe('the filter of a header', () => {
  it('a block header’s bloom filter has three bits per address and excludes an address that is absent', async () => {
    const bits = await bloomBitsOf(TOKEN);
    expect(bits).toHaveLength(3);
    expect(mayHoldLogs(bloomOf(bits), bits)).toBe(true);
    expect(mayHoldLogs(`0x${'ff'.repeat(256)}`, bits)).toBe(true);
    expect(mayHoldLogs(EMPTY, bits)).toBe(false);
    for (const missing of bits) {
      expect(mayHoldLogs(bloomOf(bits.filter((bit) => bit !== missing)), bits)).toBe(false);
    }
  });
});

describe('a log that proves where the logs of a node end', () => {
  it('the log witness is the last log of the newest block, requested by itself', async () => {
    const { rpc, to, asked } = await nodeWith([logAt(100, 3), logAt(100, 9), logAt(99, 40)]);
    expect(await findWitness(rpc, TOKEN, { fromBlock: 90, to })).toEqual(logAt(100, 9));
    expect(asked).toEqual([
      { address: TOKEN, topics: [], fromBlock: 100, toBlock: 100, knowing: to },
    ]);
  });

  it('the log witness comes from an earlier block where the headers show no logs in the newer ones', async () => {
    const { rpc, to, asked } = await nodeWith([logAt(97, 3), logAt(90, 1)]);
    expect(await findWitness(rpc, TOKEN, { fromBlock: 80, to })).toEqual(logAt(97, 3));
    expect(asked.slice(0, 3)).toEqual([99, 98, 97]);
    expect(asked).toHaveLength(4);
  });

  it('there is no log witness where the last `witnessBlocks` headers show no logs', async () => {
    const { rpc, to, asked } = await nodeWith([logAt(100 - CHAIN_LIMITS.logs.witnessBlocks, 3)]);
    expect(await findWitness(rpc, TOKEN, { fromBlock: 0, to })).toBeUndefined();
    expect(asked).toHaveLength(CHAIN_LIMITS.logs.witnessBlocks - 1);
    expect(await findWitness(rpc, TOKEN, { fromBlock: 100, to })).toBeUndefined();
  });

  it('no log witness is requested from a node that returns no bloom filter', async () => {
    const { rpc, to, asked } = await nodeWith([logAt(100, 1)]);
    const { logsBloom: _, ...bare } = to;
    expect(await findWitness(rpc, TOKEN, { fromBlock: 0, to: bare })).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('a block with more logs than can be read gives no log witness and fails nothing', async () => {
    const { rpc, to } = await nodeWith([logAt(100, 1)]);
    const flooded = { ...rpc, logs: () => Promise.reject(new RpcTooMuch('too much')) };
    expect(await findWitness(flooded, TOKEN, { fromBlock: 0, to })).toBeUndefined();
  });

  it('a node that returns no logs of a block that has some, or lacks an earlier block, fails the reading', async () => {
    const silent = await nodeWith([logAt(98, 1)], []);
    await expect(findWitness(silent.rpc, TOKEN, { fromBlock: 0, to: silent.to })).rejects.toThrow(
      RpcUnavailable,
    );
    const { rpc, to } = await nodeWith([]);
    const gappy = { ...rpc, block: async () => undefined };
    await expect(findWitness(gappy, TOKEN, { fromBlock: 0, to })).rejects.toThrow(RpcUnavailable);
  });
});
