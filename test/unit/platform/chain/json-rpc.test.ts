import { describe, expect, it } from 'vitest';
import { JSON_LIMITS } from '../../../../src/kernel/json/limits.ts';
import { createJsonRpc } from '../../../../src/platform/chain/json-rpc.ts';
import { CHAIN_LIMITS } from '../../../../src/platform/chain/limits.ts';
import { AnswerTooLarge, type Fetch } from '../../../../src/platform/egress/fetch.ts';

const url = 'http://node.example/secret';
const question = { method: 'eth_chainId', params: [] };

const answering = (body: unknown, status = 200): Fetch => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return async () => ({ status, headers: {}, body: Buffer.from(text) });
};

describe('JSON-RPC', () => {
  it('a JSON-RPC batch matches each response to its request, whatever their order', async () => {
    const fetch = answering([
      { id: 2, error: { code: -1, message: 'no' } },
      { id: 1, result: '0x1' },
    ]);
    expect(await createJsonRpc({ url, fetch }).askTogether([question, question])).toEqual([
      { kind: 'result', result: '0x1' },
      { kind: 'error', code: -1, message: 'no' },
    ]);
  });

  it('a JSON-RPC batch reports missing responses as lost, and one error for all to each request', async () => {
    const some = createJsonRpc({ url, fetch: answering([{ id: 2, result: null }]) });
    expect(await some.askTogether([question, question])).toMatchObject([
      { kind: 'lost' },
      { kind: 'result', result: null },
    ]);
    const error = { code: -32_600, message: 'batches are not served' };
    const none = createJsonRpc({ url, fetch: answering({ id: null, error }) });
    expect(await none.askTogether([question, question])).toEqual([
      { kind: 'error', ...error },
      { kind: 'error', ...error },
    ]);
  });

  it('JSON-RPC distinguishes a null result from a missing result', async () => {
    const ask = (body: unknown) => createJsonRpc({ url, fetch: answering(body) }).ask(question);
    expect(await ask({ id: 1, result: null })).toEqual({ kind: 'result', result: null });
    expect(await ask({ id: 1, result: '0x', error: null })).toMatchObject({ kind: 'result' });
    expect(await ask({ id: 1 })).toMatchObject({ kind: 'lost' });
    expect(await ask('<html>')).toMatchObject({ kind: 'lost' });
    expect(await ask([])).toMatchObject({ kind: 'lost' });
  });

  it('JSON-RPC distinguishes a response that is too large from a node that is away', async () => {
    const tooLarge: Fetch = () => Promise.reject(new AnswerTooLarge('more than 5 bytes'));
    const away: Fetch = () => Promise.reject(new Error('refused'));
    expect(await createJsonRpc({ url, fetch: tooLarge }).ask(question)).toEqual({
      kind: 'too_large',
    });
    const refused = createJsonRpc({ url, fetch: answering('too large', 413) });
    expect(await refused.ask(question)).toEqual({ kind: 'too_large' });
    const parts = Array.from({ length: JSON_LIMITS.upstream.members + 1 }, () => ({ a: 1 }));
    const crowded = createJsonRpc({ url, fetch: answering([{ id: 1, result: parts }]) });
    expect(await crowded.askTogether([question])).toEqual([{ kind: 'too_large' }]);
    expect(await createJsonRpc({ url, fetch: away }).ask(question)).toMatchObject({ kind: 'lost' });
  });

  it('JSON-RPC refuses requests beyond `rpcCallsUnderWay` until another one ends', async () => {
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const slow: Fetch = async (request) => {
      await held;
      return answering({ id: 1, result: '0x' })(request);
    };
    const json = createJsonRpc({ url, fetch: slow });
    const asked = Array.from({ length: CHAIN_LIMITS.rpc.underWay }, () => json.ask(question));
    expect(await json.ask(question)).toMatchObject({
      kind: 'lost',
      why: expect.stringContaining('too many'),
    });
    finish();
    await Promise.all(asked);
    expect(await json.ask(question)).toMatchObject({ kind: 'result' });
  });
});
