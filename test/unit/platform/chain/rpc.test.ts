import { describe, expect, it } from 'vitest';
import { CHAIN_LIMITS } from '../../../../src/platform/chain/limits.ts';
import type { LogQuery } from '../../../../src/platform/chain/log-query.ts';
import {
  createRpc,
  RpcReverted,
  RpcTooMuch,
  RpcUnavailable,
} from '../../../../src/platform/chain/rpc.ts';
import type { Fetch } from '../../../../src/platform/egress/fetch.ts';
import {
  blockAnswer,
  fakeNode,
  hex,
  NodeRefusal,
  type NodeScript,
  word,
} from '../../../support/fakes/json-rpc-node.ts';

const url = 'http://node.example/secret';
const call = { data: '0x00' } as const;

const answering =
  (text: string): Fetch =>
  async () => ({ status: 200, headers: {}, body: Buffer.from(text) });

function setUp(script: NodeScript) {
  const { node, asked, requests } = fakeNode(script);
  return { rpc: createRpc(node), asked, requests };
}

describe('the chain over JSON-RPC', () => {
  it('the chain RPC sends calls through the outbound client with limits on time and size', async () => {
    const { rpc, requests } = setUp({ eth_call: () => '0x2a' });
    expect(await rpc.call(call)).toBe('0x2a');
    expect(requests).toMatchObject([
      {
        url,
        method: 'POST',
        timeoutMs: CHAIN_LIMITS.rpc.timeoutMs,
        maxResponseBytes: CHAIN_LIMITS.rpc.responseBytes,
      },
    ]);
    expect(JSON.parse(String(requests[0]?.body))).toMatchObject({
      method: 'eth_call',
      params: [call, 'latest'],
    });
  });

  it('the chain RPC calls a contract at one canonical block by its hash', async () => {
    const { rpc, asked } = setUp({ eth_call: () => '0x' });
    await rpc.call(call, { hash: word(7) });
    expect(asked[0]?.params[1]).toEqual({ blockHash: word(7), requireCanonical: true });
  });

  it('the chain RPC distinguishes an unavailable node from a contract that reverted', async () => {
    const broken: Fetch = () => Promise.reject(new Error('the answer has more than 5 bytes'));
    const withAnswer = (text: string) => createRpc({ url, fetch: answering(text) }).call(call);
    await expect(createRpc({ url, fetch: broken }).call(call)).rejects.toThrow(RpcUnavailable);
    for (const text of [
      '<html>',
      '{}',
      '{"result":null}',
      '{"result":"0x1"}',
      '{"result":{}}',
      '{"error":{"code":-32005,"message":"slow down"}}',
    ]) {
      await expect(withAnswer(text), text).rejects.toThrow(RpcUnavailable);
    }
    await expect(withAnswer('{"error":{"code":3,"message":"execution reverted"}}')).rejects.toThrow(
      RpcReverted,
    );
  });

  it('the chain RPC shortens a node’s error message', async () => {
    const { rpc } = setUp({
      eth_call: () => {
        throw new NodeRefusal(`no ${'x'.repeat(100_000)}`);
      },
    });
    const error: unknown = await rpc.call(call).catch((e: unknown) => e);
    expect(String(error).length).toBeLessThan(CHAIN_LIMITS.rpc.errorChars + 50);
  });

  it('the chain RPC reads blocks and returns undefined for one that does not exist yet', async () => {
    const { rpc } = setUp({
      eth_getBlockByNumber: (at: string) => {
        if (at === 'latest') return blockAnswer(9, 1_700_000_000);
        return Number(at) > 9 ? null : blockAnswer(Number(at));
      },
    });
    const head = await rpc.head();
    expect(head).toEqual({ number: 9, hash: word(9n + 2n ** 200n), timestampSec: 1_700_000_000 });
    expect((await rpc.block(8))?.number).toBe(8);
    expect(await rpc.block(10)).toBeUndefined();
  });

  it('the chain RPC reads receipts, nonces, fees, gas and the chain id, and sends transactions', async () => {
    const { rpc, asked } = setUp({
      eth_getTransactionReceipt: (hash: string) =>
        hash === word(1)
          ? { transactionHash: word(1), blockNumber: '0x5', blockHash: word(5), status: '0x0' }
          : null,
      eth_getTransactionCount: () => '0x11',
      eth_getBlockByNumber: () => blockAnswer(1),
      eth_maxPriorityFeePerGas: () => '0x7',
      eth_estimateGas: () => hex(103_244),
      eth_sendRawTransaction: () => word(0xabc),
      eth_chainId: () => '0x2105',
    });
    expect(await rpc.receipt(word(1))).toEqual({
      txHash: word(1),
      blockNumber: 5,
      blockHash: word(5),
      succeeded: false,
    });
    expect(await rpc.receipt(word(2))).toBeUndefined();
    expect(await rpc.transactionCount(word(1))).toBe(17);
    expect(asked.at(-1)?.params).toEqual([word(1), 'pending']);
    expect(await rpc.fees()).toEqual({ maxFeeWei: 2_007n, priorityFeeWei: 7n });
    expect(await rpc.estimateGas(call)).toBe(103_244n);
    expect(await rpc.send('0x02')).toBe(word(0xabc));
    expect(await rpc.chainId()).toBe(8_453);
  });
});

const TOKEN = `0x${'11'.repeat(20)}`;
const EVENT = word(1);
const WALLET = word(0xaa);
const query: LogQuery = {
  address: TOKEN,
  topics: [[EVENT], [WALLET, word(0xbb)]],
  fromBlock: 10,
  toBlock: 20,
};
const log = (more: object = {}) => ({
  address: TOKEN.toUpperCase().replace('0X', '0x'),
  topics: [EVENT, WALLET],
  data: '0xAB',
  blockNumber: hex(12),
  blockHash: word(12),
  transactionHash: word(0xcafe),
  logIndex: '0x3',
  ...more,
});

/** A node with these logs, on a chain of this length. */
function logsOf(
  logs: (filter: { blockHash?: string; fromBlock?: string }) => unknown,
  length = 100,
) {
  return setUp({
    eth_getLogs: logs,
    eth_getBlockByNumber: (at: string) => (Number(at) > length ? null : blockAnswer(Number(at))),
  });
}

describe('logs', () => {
  it('the chain RPC requests logs in one batch with the last block, under their own size limit', async () => {
    const { rpc, asked, requests } = logsOf(() => []);
    await rpc.logs(query);
    expect(asked).toEqual([
      {
        method: 'eth_getLogs',
        params: [{ address: TOKEN, topics: query.topics, fromBlock: '0xa', toBlock: '0x14' }],
      },
      { method: 'eth_getBlockByNumber', params: ['0x14', false] },
    ]);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.maxResponseBytes).toBe(CHAIN_LIMITS.rpc.logResponseBytes);
  });

  it('the chain RPC returns logs in chain order, in lower case, without removed ones', async () => {
    const { rpc } = logsOf(() => [
      log({ blockNumber: '0xd' }),
      log({ logIndex: '0xa' }),
      log({ removed: true }),
      log({ removed: false }),
    ]);
    const told = await rpc.logs(query);
    expect(told.map(({ blockNumber, logIndex }) => [blockNumber, logIndex])).toEqual([
      [12, 3],
      [12, 10],
      [13, 3],
    ]);
    expect(told[0]).toEqual({
      address: TOKEN,
      topics: [EVENT, WALLET],
      data: '0xab',
      blockNumber: 12,
      blockHash: word(12),
      txHash: word(0xcafe),
      logIndex: 3,
    });
  });

  it('the chain RPC refuses logs that are malformed or do not match the query', async () => {
    for (const wrong of [
      { blockNumber: null },
      { blockNumber: hex(21) },
      { blockNumber: hex(9) },
      { address: `0x${'22'.repeat(20)}` },
      { topics: [word(2), WALLET] },
      { topics: [EVENT, word(0xcc)] },
      { topics: [EVENT] },
      { data: '0xabc' },
      { transactionHash: '0x1' },
      { logIndex: '3' },
    ]) {
      const { rpc } = logsOf(() => [log(), log(wrong)]);
      await expect(rpc.logs(query), JSON.stringify(wrong)).rejects.toThrow(RpcUnavailable);
    }
    for (const wrong of [null, {}, 'logs', [null]]) {
      await expect(logsOf(() => wrong).rpc.logs(query)).rejects.toThrow(RpcUnavailable);
    }
  });

  it('the chain RPC refuses logs from a node that lags or follows another branch', async () => {
    const lagging = logsOf(() => [], 19);
    await expect(lagging.rpc.logs(query)).rejects.toThrow(RpcUnavailable);
    const knowing = { number: 30, hash: blockAnswer(30).hash };
    let knows = true;
    const { rpc, asked } = logsOf((filter: { blockHash?: string }) => {
      if (filter.blockHash && !knows) throw new NodeRefusal('unknown block');
      return [];
    });
    expect(await rpc.logs({ ...query, knowing })).toEqual([]);
    expect(asked.map(({ params }) => params[0])).toEqual([
      { address: TOKEN, topics: query.topics, fromBlock: '0xa', toBlock: '0x14' },
      hex(30),
      { address: TOKEN, topics: query.topics, blockHash: knowing.hash },
    ]);
    knows = false;
    await expect(rpc.logs({ ...query, knowing })).rejects.toThrow(RpcUnavailable);
    knows = true;
    const other = { ...knowing, hash: word(1) };
    await expect(rpc.logs({ ...query, knowing: other })).rejects.toThrow(RpcUnavailable);
  });

  it('the chain RPC refuses logs that end before the witness log', async () => {
    const told = log({ blockNumber: hex(20), blockHash: word(20), logIndex: '0x7' });
    const witness = {
      address: TOKEN,
      topics: [EVENT, WALLET],
      data: '0xab',
      blockNumber: 20,
      logIndex: 7,
      blockHash: word(20),
      txHash: word(0xcafe),
    };
    let lastBlock = 20;
    const { rpc, asked } = logsOf((filter: { fromBlock?: string }) =>
      Number(filter.fromBlock) > lastBlock ? [] : [told],
    );
    expect(await rpc.logs({ ...query, witness })).toHaveLength(1);
    expect(asked.at(-1)?.params).toEqual([
      { address: TOKEN, topics: [[EVENT], [WALLET]], fromBlock: hex(20), toBlock: hex(20) },
    ]);
    // Cut in silence, six blocks behind.
    lastBlock = 14;
    await expect(rpc.logs({ ...query, witness })).rejects.toThrow('end before its blocks');
    lastBlock = 20;
    const elsewhere = { ...witness, blockHash: word(21) };
    await expect(rpc.logs({ ...query, witness: elsewhere })).rejects.toThrow(RpcUnavailable);
  });

  it('the chain RPC reads logs within the `maxBytes` of the query', async () => {
    const { rpc, requests } = logsOf(() => []);
    await rpc.logs({ ...query, maxBytes: 77 });
    expect(requests[0]?.maxResponseBytes).toBe(77);
  });

  it('the chain RPC distinguishes a log range that is too large from every other error', async () => {
    const saying = (message: string) =>
      logsOf(() => {
        throw new NodeRefusal(message);
      }).rpc.logs(query);
    for (const message of [
      'query returned more than 10000 results. Try with this block range [0x1, 0x2].',
      'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range',
      'eth_getLogs is limited to a 10,000 range',
      'exceed maximum block range: 5000',
      'query exceeds max results 20000',
      'block range is too wide',
      'query timeout exceeded',
    ]) {
      await expect(saying(message), message).rejects.toThrow(RpcTooMuch);
    }
    for (const message of [
      'rate limit exceeded',
      'too many requests',
      'block range extends beyond current head block',
      'invalid block range params',
      'internal error',
    ]) {
      const error: unknown = await saying(message).catch((e: unknown) => e);
      expect(error, message).toBeInstanceOf(RpcUnavailable);
      expect(error, message).not.toBeInstanceOf(RpcTooMuch);
    }
  });
});
