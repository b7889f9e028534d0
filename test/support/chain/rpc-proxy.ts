import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerCut, answerDenied } from './denying-node.ts';
import { type JsonRpc, jsonRpc, NodeError } from './json-rpc.ts';
import { answerAsOf, type Question, type Reply } from './lagging-node.ts';
import { closed, listening } from './vendor.ts';

/** What stands between the product and the node now. */
export type RpcMode =
  | { readonly kind: 'up' }
  /** Every connection breaks. */
  | { readonly kind: 'down' }
  /** Never answers; with `methods`, these only, and the node never hears of them. */
  | { readonly kind: 'silent'; readonly methods?: readonly string[] }
  /** The node gets these methods, and the client never gets its answer. */
  | { readonly kind: 'swallowing'; readonly methods: readonly string[] }
  | { readonly kind: 'slow'; readonly byMs: number }
  | { readonly kind: 'status'; readonly status: number }
  /** 200 with this text instead of JSON-RPC. */
  | { readonly kind: 'garbage'; readonly text?: string }
  /** Has seen no block after `head`; with `state`, only calls and logs come from that node. */
  | { readonly kind: 'lagging'; readonly head: number; readonly of: 'all' | 'state' }
  /** These methods answer an error, the others well. */
  | { readonly kind: 'failing'; readonly methods: readonly string[] }
  /** Its logs end so many blocks before its head, and it does not say so. */
  | { readonly kind: 'cutting'; readonly by: number }
  /** Nothing has happened since this block, by its logs, its state and its headers. */
  | { readonly kind: 'denying'; readonly since: number }
  /** This method answers this, whatever is true. */
  | { readonly kind: 'lying'; readonly method: string; readonly result: unknown };

export type RpcProxy = AsyncDisposable & {
  readonly url: string;
  mode: RpcMode;
  /** Every question since the start or the last `forget`, answered or not. */
  readonly calls: { readonly method: string; readonly params: readonly unknown[] }[];
  count(method: string): number;
  forget(): void;
};

/** A way to the node that can be told to fail in each way that nodes fail, and counts what is asked. */
export async function startRpcProxy(nodeUrl: string): Promise<RpcProxy> {
  const node = jsonRpc(nodeUrl);
  const calls: RpcProxy['calls'] = [];
  const server = createServer((request, response) => {
    pass(request, response, proxy, node).catch(() => response.destroy());
  });
  const proxy: RpcProxy = {
    url: await listening(server),
    mode: { kind: 'up' },
    calls,
    count: (method) => calls.filter((call) => call.method === method).length,
    forget: () => {
      calls.length = 0;
    },
    async [Symbol.asyncDispose]() {
      await closed(server);
      await node[Symbol.asyncDispose]();
    },
  };
  return proxy;
}

async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  { mode, calls }: RpcProxy,
  node: JsonRpc,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const asked = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Question | Question[];
  for (const { method, params = [] } of [asked].flat()) calls.push({ method, params });
  const concerns = (methods?: readonly string[]) =>
    methods === undefined || [asked].flat().some(({ method }) => methods.includes(method));
  if (mode.kind === 'silent' && concerns(mode.methods)) return;
  if (mode.kind === 'down') {
    response.destroy();
    return;
  }
  if (mode.kind === 'status' || mode.kind === 'garbage') {
    response.writeHead(mode.kind === 'status' ? mode.status : 200);
    response.end(mode.kind === 'garbage' ? (mode.text ?? '<html>busy</html>') : '');
    return;
  }
  if (mode.kind === 'slow') await sleep(mode.byMs);
  const one = async (question: Question) => ({
    jsonrpc: '2.0',
    id: question.id,
    ...(await answer(question, mode, node)),
  });
  const isSwallowed = mode.kind === 'swallowing' && concerns(mode.methods);
  const body = Array.isArray(asked) ? await Promise.all(asked.map(one)) : await one(asked);
  if (isSwallowed) return;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

const READS_STATE = new Set(['eth_call', 'eth_getLogs', 'eth_getTransactionReceipt']);

async function answer(question: Question, mode: RpcMode, node: JsonRpc): Promise<Reply> {
  const { method, params = [] } = question;
  if (mode.kind === 'failing' && mode.methods.includes(method)) {
    return { error: { code: -32_005, message: 'limit exceeded' } };
  }
  if (mode.kind === 'lying' && mode.method === method) return { result: mode.result };
  try {
    if (mode.kind === 'lagging' && (mode.of === 'all' || READS_STATE.has(method))) {
      return await answerAsOf(mode.head, question, node);
    }
    if (mode.kind === 'cutting') return await answerCut(mode.by, question, node);
    if (mode.kind === 'denying') return await answerDenied(mode.since, question, node);
    return { result: await node.ask(method, ...params) };
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return { error: { code: error.code, message: error.message, data: error.data } };
  }
}
