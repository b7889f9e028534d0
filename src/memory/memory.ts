import { isUtf8 } from 'node:buffer';
import type { z } from 'zod';
import type { FairQueue } from '../engines/threads/fair-queue.ts';
import { requestErrors } from '../http/route/errors.ts';
import { ApiError } from '../kernel/api-error.ts';
import type { Clock } from '../kernel/clock.ts';
import { JsonTooComplex } from '../kernel/json/parse-json.ts';
import { parseJsonInTurns } from '../kernel/json/parse-json-in-turns.ts';
import type { Random } from '../kernel/random.ts';
import { memoryErrors } from './errors.ts';
import type { Indexer } from './indexing/indexer.ts';
import { findIngested, ingest } from './ingest.ts';
import { itemPage, itemStatuses, removeItems } from './keep-items.ts';
import { MEMORY_LIMITS } from './limits.ts';
import type { MemoryCaller } from './memory-caller.ts';
import { BODIES, type Bodies } from './memory-shape.ts';
import type { PurchaseCost } from './purchase/models.ts';
import { type QueryDeps, queryMemory } from './query-memory.ts';
import { turnOf } from './search/turn-of.ts';
import { createTenant, deleteTenant, tenantStatus } from './tenants.ts';

export type MemoryOp = keyof typeof BODIES;

/** `body` is `{result: {success, data}}`, or `{error, details?, …}` with a status of 400 or more. */
export type MemoryAnswer = {
  readonly status: number;
  readonly body: unknown;
  /** Headers of the response, such as the `retry-after` of a refusal. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Charge for the request, when a purchase was made. Its receipt is among the headers. */
  readonly bill?: PurchaseCost | undefined;
};

export interface Memory {
  /**
   * Carries out an operation on the store of the calling agent. `body` is the parsed JSON, or the JSON itself as text or bytes.
   * Resolves with refusals, too; rejects when this server failed or `signal` fired.
   */
  run(
    op: MemoryOp,
    caller: MemoryCaller,
    body: unknown,
    signal: AbortSignal,
  ): Promise<MemoryAnswer>;
  /**
   * Returns the response of an `ingest` under an `Idempotency-Key` whose process was lost. Undefined when it has written
   * nothing.
   */
  recall(agentId: number, workId: string): Promise<MemoryAnswer | undefined>;
}

export type MemoryDeps = QueryDeps & {
  readonly clock: Clock;
  readonly random: Random;
  /** Queue of the agents that wait to write; each agent makes one write at a time. */
  readonly writes: FairQueue;
  readonly indexer: Pick<Indexer, 'wake'>;
};

type Told = { readonly data: object; readonly bill?: PurchaseCost | undefined };

type Operations = {
  readonly [Op in MemoryOp]: (
    caller: MemoryCaller,
    body: Bodies[Op],
    signal: AbortSignal,
  ) => Promise<Told>;
};

/** Creates the memory store of agents. Each agent sees only its own data, whatever its requests contain. */
export function createMemory(deps: MemoryDeps): Memory {
  const { indexer, line, sql } = deps;
  const read = <T>(agentId: number, find: () => Promise<T>) => turnOf(line, agentId, find);
  const operations: Operations = {
    async query(caller, body, signal) {
      const { bill, chunks } = await queryMemory(deps, caller, body, signal);
      const cost = bill && { costRaw: bill.costRaw.toString() };
      return { data: { chunks, ...cost }, bill };
    },
    async ingest(caller, body) {
      const data = await ingest(deps, caller, body);
      indexer.wake();
      return { data };
    },
    status: free(({ agentId }, body) => read(agentId, () => itemStatuses(sql, agentId, body))),
    list: free(({ agentId }, body) => read(agentId, () => itemPage(sql, agentId, body))),
    delete: free(({ agentId }, body) => removeItems(deps, agentId, body)),
    'tenant/create': free(({ agentId }, body) => createTenant(deps, agentId, body)),
    'tenant/status': free(({ agentId }) => read(agentId, () => tenantStatus(sql, agentId))),
    'tenant/delete': free(({ agentId }) => deleteTenant(deps, agentId)),
  };
  const carryOut = async <Op extends MemoryOp>(
    op: Op,
    caller: MemoryCaller,
    body: unknown,
    signal: AbortSignal,
  ) => operations[op](caller, checked(op, await readBody(body)), signal);
  return {
    async recall(agentId, workId) {
      const data = await read(agentId, () => findIngested(sql, agentId, workId));
      return data && succeeded({ data });
    },
    async run(op, caller, body, signal) {
      try {
        return succeeded(await carryOut(op, caller, body, signal));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const { fields, headers, status } = error;
        return { status, body: { error: error.error, ...fields }, headers };
      }
    },
  };
}

const succeeded = ({ bill, data }: Told): MemoryAnswer => ({
  status: 200,
  body: { result: { success: true, data } },
  headers: bill?.headers ?? {},
  bill,
});

const free =
  <B>(find: (caller: MemoryCaller, body: B) => Promise<object>) =>
  async (caller: MemoryCaller, body: B): Promise<Told> => ({ data: await find(caller, body) });

/** Parses the caller's JSON when it is still a text. An empty body reads as an object without members. */
async function readBody(body: unknown): Promise<unknown> {
  const isText = typeof body === 'string' || body instanceof Uint8Array;
  if (!isText) return body ?? {};
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body);
  if (bytes.length > MEMORY_LIMITS.body.bytes) throw memoryErrors.bodyTooLong();
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) throw memoryErrors.invalidJson();
  try {
    return await parseJsonInTurns(bytes, MEMORY_LIMITS.body.json);
  } catch (error) {
    if (error instanceof JsonTooComplex || error instanceof SyntaxError) {
      throw memoryErrors.invalidJson();
    }
    throw error;
  }
}

const DETAILS_SHOWN = 20;

function checked<Op extends MemoryOp>(op: Op, body: unknown): Bodies[Op] {
  const shape: z.ZodType = BODIES[op];
  const parsed = shape.safeParse(body);
  if (parsed.success) return parsed.data as Bodies[Op];
  throw requestErrors.invalid(
    parsed.error.issues.slice(0, DETAILS_SHOWN).map(({ code, message, path }) => ({
      path: path.map((part) => (typeof part === 'symbol' ? String(part) : part)),
      message,
      code,
    })),
  );
}
