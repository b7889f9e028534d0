import { Pool } from 'undici';

type Refusal = { readonly code: number; readonly message: string; readonly data?: unknown };

/** The node answered, and the answer is an error. */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  readonly code: number;
  readonly data: unknown;

  constructor(error: Refusal) {
    super(error.message.slice(0, 300));
    this.code = error.code;
    this.data = error.data;
  }
}

export type JsonRpc = AsyncDisposable & {
  ask<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T>;
};

const TIMEOUT_MS = 20_000;

/** JSON-RPC over connections of its own, so that a port used again never meets an old socket. */
export function jsonRpc(url: string): JsonRpc {
  const pool = new Pool(new URL(url).origin, {
    connections: 8,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  return {
    async ask<T>(method: string, ...params: readonly unknown[]) {
      const { body } = await pool.request({
        path: '/',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      const answer = (await body.json()) as {
        result?: T;
        error?: Refusal;
      };
      if (answer.error !== undefined) throw new NodeError(answer.error);
      return answer.result as T;
    },
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}
