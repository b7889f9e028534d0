import { request } from 'undici';
import { encodeFunctionData, numberToHex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { account, type Chain, startChain } from '../../support/chain/chain.ts';
import { USDC, USDC_ABI } from '../../support/chain/eip3009.ts';
import { type RpcProxy, startRpcProxy } from '../../support/chain/rpc-proxy.ts';

let chain: Chain;
beforeAll(async () => {
  chain = await startChain();
});
afterAll(() => chain[Symbol.asyncDispose]());

describe('the way to the node', () => {
  type Answer = { result?: unknown; error?: { code: number; message: string } };

  async function ask(proxy: RpcProxy, method: string, ...params: unknown[]): Promise<Answer> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
    const answer = await request(proxy.url, { method: 'POST', body });
    return (await answer.body.json()) as Answer;
  }

  it('the test proxy of the node counts requests, one by one and in batches', async () => {
    await using proxy = await startRpcProxy(chain.url);
    expect(await ask(proxy, 'eth_chainId')).toEqual({ jsonrpc: '2.0', id: 7, result: '0x2105' });
    const batch = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId' }));
    const answer = await request(proxy.url, { method: 'POST', body: JSON.stringify(batch) });
    expect(await answer.body.json()).toHaveLength(2);
    expect(proxy.count('eth_chainId')).toBe(3);
    proxy.forget();
    expect(proxy.count('eth_chainId')).toBe(0);
    expect(await ask(proxy, 'eth_nothing')).toEqual(
      expect.objectContaining({ error: expect.objectContaining({ code: -32_601 }) }),
    );
  });

  it('the test proxy of the node fails in each scripted way, and recovers', async () => {
    await using proxy = await startRpcProxy(chain.url);
    proxy.mode = { kind: 'down' };
    await expect(ask(proxy, 'eth_chainId')).rejects.toThrow('other side closed');
    proxy.mode = { kind: 'garbage' };
    await expect(ask(proxy, 'eth_chainId')).rejects.toThrow('not valid JSON');
    proxy.mode = { kind: 'status', status: 503 };
    const { statusCode } = await request(proxy.url, { method: 'POST', body: '{"method":"a"}' });
    expect(statusCode).toBe(503);
    proxy.mode = { kind: 'failing', methods: ['eth_getLogs'] };
    expect((await ask(proxy, 'eth_getLogs', {})).error?.code).toBe(-32_005);
    expect((await ask(proxy, 'eth_chainId')).result).toBe('0x2105');
    proxy.mode = { kind: 'lying', method: 'eth_getLogs', result: [] };
    expect((await ask(proxy, 'eth_getLogs', { fromBlock: '0x0' })).result).toEqual([]);
    proxy.mode = { kind: 'slow', byMs: 80 };
    const since = performance.now();
    await ask(proxy, 'eth_chainId');
    expect(performance.now() - since).toBeGreaterThanOrEqual(75);
    proxy.mode = { kind: 'up' };
    expect((await ask(proxy, 'eth_chainId')).result).toBe('0x2105');
  });

  it('the test proxy of the node, when lagging, hides everything after its head', async () => {
    await using proxy = await startRpcProxy(chain.url);
    const { number: head } = await chain.head();
    const wallet = account(7).address;
    const hash = await chain.fundUsdc(wallet, 5n);
    const fresh = await chain.head();
    const balance = encodeFunctionData({
      abi: USDC_ABI,
      functionName: 'balanceOf',
      args: [wallet],
    });
    const filter = { address: USDC, fromBlock: numberToHex(head + 1) };

    proxy.mode = { kind: 'lagging', head, of: 'all' };
    expect((await ask(proxy, 'eth_blockNumber')).result).toBe(numberToHex(head));
    const { result } = await ask(proxy, 'eth_getBlockByNumber', 'latest', false);
    expect(result).toEqual(expect.objectContaining({ number: numberToHex(head) }));
    const next = numberToHex(fresh.number);
    expect((await ask(proxy, 'eth_getBlockByNumber', next, false)).result).toBeNull();
    expect((await ask(proxy, 'eth_getTransactionReceipt', hash)).result).toBeNull();

    for (const of of ['all', 'state'] as const) {
      proxy.mode = { kind: 'lagging', head, of };
      expect(
        Number((await ask(proxy, 'eth_call', { to: USDC, data: balance }, 'latest')).result),
      ).toBe(0);
      const at = { blockHash: fresh.hash };
      const byHash = await ask(proxy, 'eth_call', { to: USDC, data: balance }, at);
      expect(byHash.error?.message).toBe('Resource not found');
      expect((await ask(proxy, 'eth_getLogs', filter)).result ?? []).toEqual([]);
    }
    expect((await ask(proxy, 'eth_blockNumber')).result).toBe(next);
    proxy.mode = { kind: 'up' };
    expect((await ask(proxy, 'eth_getLogs', filter)).result).toHaveLength(1);
  });
});
