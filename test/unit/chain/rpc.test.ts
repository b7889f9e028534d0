import { describe, expect, it } from 'vitest';
import { createRpc, RpcReverted, RpcUnavailable } from '../../../src/chain/rpc.ts';
import type { Fetch, OutboundRequest } from '../../../src/egress/fetch.ts';
import { LIMITS } from '../../../src/kernel/limits.ts';

const url = 'http://node.example/secret';
const call = { data: '0x00' } as const;

const answering =
  (text: string): Fetch =>
  async () => ({ status: 200, headers: {}, body: Buffer.from(text) });

describe('the chain over JSON-RPC', () => {
  it('goes out by the one outbound door, bounded in time and size', async () => {
    const asked: OutboundRequest[] = [];
    const fetch: Fetch = (request) => {
      asked.push(request);
      return answering('{"result":"0x2a"}')(request);
    };
    expect(await createRpc({ url, fetch }).call(call)).toBe('0x2a');
    expect(asked).toMatchObject([
      {
        url,
        method: 'POST',
        timeoutMs: LIMITS.rpcTimeoutMs,
        maxResponseBytes: LIMITS.rpcAnswerBytes,
      },
    ]);
    expect(JSON.parse(String(asked[0]?.body))).toMatchObject({
      method: 'eth_call',
      params: [call, 'latest'],
    });
  });

  it('says that the node is away whatever kept its answer, and that a contract refused', async () => {
    const broken: Fetch = () => Promise.reject(new Error('the answer has more than 5 bytes'));
    const withAnswer = (text: string) => createRpc({ url, fetch: answering(text) }).call(call);
    await expect(createRpc({ url, fetch: broken }).call(call)).rejects.toThrow(RpcUnavailable);
    await expect(withAnswer('<html>')).rejects.toThrow(RpcUnavailable);
    await expect(withAnswer('{}')).rejects.toThrow(RpcUnavailable);
    await expect(withAnswer('{"error":{"code":-32005,"message":"slow down"}}')).rejects.toThrow(
      RpcUnavailable,
    );
    await expect(withAnswer('{"error":{"code":3,"message":"execution reverted"}}')).rejects.toThrow(
      RpcReverted,
    );
  });

  it('refuses more calls than may be under way, and takes one again when another is done', async () => {
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const slow: Fetch = async (request) => {
      await held;
      return answering('{"result":"0x"}')(request);
    };
    const rpc = createRpc({ url, fetch: slow });
    const calls = Array.from({ length: LIMITS.rpcCallsUnderWay }, () => rpc.call(call));
    await expect(rpc.call(call)).rejects.toThrow(/too many calls/);
    finish();
    await Promise.all(calls);
    expect(await rpc.call(call)).toBe('0x');
  });
});
