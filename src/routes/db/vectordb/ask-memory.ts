import type { Context, RouteReply } from '../../../http/route/route.ts';
import { abortSignalOf } from '../../../kernel/stop-signal.ts';
import type { Memory, MemoryOp } from '../../../memory/memory.ts';
import { readSpender } from '../../../models/purchase/read-spender.ts';

type Asked = Pick<
  Context<unknown, 'agent', undefined, undefined, undefined>,
  'admitPooled' | 'caller' | 'headers' | 'signal' | 'span' | 'workId'
>;

/** Returns true when the operation accepts an `Idempotency-Key`, because it may cost money: a query or an ingestion. */
export const isKeyed = (op: MemoryOp): boolean => op === 'ingest' || op === 'query';

/** Runs an operation of the memory store for a request that has an agent's key. */
export async function askMemory(
  memory: Memory,
  op: MemoryOp,
  body: unknown,
  { admitPooled, caller, headers, signal, span, workId }: Asked,
): Promise<RouteReply> {
  const { agentId } = caller;
  const isReadOnly = caller.permission === 'read';
  const spender = readSpender(caller, headers);
  const asking = { agentId, spender, isReadOnly, workId, admitPooled, span };
  const { bill, ...answer } = await memory.run(op, asking, body, abortSignalOf(signal));
  return bill === undefined ? answer : { ...answer, upstreamMs: bill.upstreamMs };
}
