import { z } from 'zod';
import { JSON_LIMITS } from '../../kernel/json/limits.ts';
import { JsonTooComplex, parseBoundedJson } from '../../kernel/json/parse-json.ts';
import { AnswerTooLarge, type Fetch } from '../egress/fetch.ts';
import { CHAIN_LIMITS } from './limits.ts';

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] };

/** Outcome of one request to the node. Only `error` is the node's own refusal to answer it. */
export type RpcReply =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'lost'; readonly why: string; readonly cause?: unknown };

export type JsonRpc = {
  ask(question: RpcCall): Promise<RpcReply>;
  /** Sends several questions in one exchange, which one node answers. The replies stand in the order of the questions. */
  askTogether(questions: readonly RpcCall[], maxBytes?: number): Promise<readonly RpcReply[]>;
};

const Answer = z.object({
  id: z.number().nullish(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string().default('') }).nullish(),
});
const Answers = z.array(Answer);

const HTTP_TOO_LARGE = 413;

/** Speaks JSON-RPC with one node, with bounds of time, answer size and exchanges under way. Its requests never reject. */
export function createJsonRpc(node: { readonly url: string; readonly fetch: Fetch }): JsonRpc {
  let underWay = 0;

  const exchange = async (message: unknown, maxBytes: number): Promise<RpcReply> => {
    if (underWay >= CHAIN_LIMITS.rpc.underWay) {
      return { kind: 'lost', why: 'too many calls under way' };
    }
    underWay++;
    try {
      const answer = await node.fetch({
        url: node.url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(message),
        timeoutMs: CHAIN_LIMITS.rpc.timeoutMs,
        maxResponseBytes: maxBytes,
      });
      if (answer.status === HTTP_TOO_LARGE) return { kind: 'too_large' };
      return { kind: 'result', result: parseBoundedJson(answer.body, JSON_LIMITS.upstream) };
    } catch (cause) {
      // Thousands of short logs exceed the number of JSON values before they exceed the number of bytes.
      if (cause instanceof AnswerTooLarge || cause instanceof JsonTooComplex) {
        return { kind: 'too_large' };
      }
      return { kind: 'lost', why: 'the node could not be reached', cause };
    } finally {
      underWay--;
    }
  };

  return {
    async ask(question) {
      const reply = await exchange(message(question, 1), CHAIN_LIMITS.rpc.responseBytes);
      if (reply.kind !== 'result') return reply;
      const answer = Answer.safeParse(reply.result);
      return answer.success ? read(answer.data) : UNREADABLE;
    },
    async askTogether(questions, maxBytes = CHAIN_LIMITS.rpc.responseBytes) {
      const messages = questions.map((question, i) => message(question, i + 1));
      const reply = await exchange(messages, maxBytes);
      if (reply.kind !== 'result') return questions.map(() => reply);
      const answers = Answers.safeParse(reply.result);
      if (!answers.success) {
        // Nodes send one error for all requests when they refuse the exchange as a whole.
        const one = Answer.safeParse(reply.result);
        const refused = one.success && one.data.error ? read(one.data) : UNREADABLE;
        return questions.map(() => refused);
      }
      return questions.map((_, i) => {
        const answer = answers.data.find(({ id }) => id === i + 1);
        return answer === undefined ? UNREADABLE : read(answer);
      });
    },
  };
}

const UNREADABLE: RpcReply = { kind: 'lost', why: 'the node did not answer in JSON-RPC' };

const message = ({ method, params }: RpcCall, id: number) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

function read({ error, result }: z.output<typeof Answer>): RpcReply {
  if (error) return { kind: 'error', code: error.code, message: error.message };
  if (result === undefined) return { kind: 'lost', why: 'the node answered without a result' };
  return { kind: 'result', result };
}
