import { systemClock } from '../../src/kernel/clock.ts';
import type { BatchOrder, SharedOrder } from '../../src/phone/batches/batch.ts';
import { createBatches } from '../../src/phone/batches/batches.ts';
import { createBatchRunner } from '../../src/phone/batches/run-batches.ts';
import type { CallDeps } from '../../src/phone/calls/call-deps.ts';
import { advanceRow } from '../../src/phone/calls/call-store.ts';
import { createCalls } from '../../src/phone/calls/calls.ts';
import { refuseNumber } from '../../src/phone/dialling/refuse-number.ts';
import { startCallWorld } from './call-world.ts';

type World = Awaited<ReturnType<typeof startCallWorld>>;
export type BatchAgent = Awaited<ReturnType<World['agent']>>;

/** The order of a call that has nothing of its own. */
export const PLAIN_ORDER: SharedOrder = {
  maxSpendRaw: 100_000n,
  detectsMachine: false,
  wantsReport: false,
  isRecorded: false,
  overrides: {
    texts: {},
    model: undefined,
    variables: undefined,
    metadata: undefined,
    voice: { conversation: {} },
  },
};

/** Numbers that may be called, all different. */
export const numbered = (count: number, from = 0): { to: string }[] =>
  Array.from({ length: count }, (_, n) => ({ to: `+1415${String(7_000_000 + from + n)}` }));

type Ended = 'completed' | 'busy' | 'no-answer' | 'canceled' | 'failed' | 'invalid';

/** Batches of calls at one process, on a database of their own. The carrier takes every call, and a test ends it. */
export async function startBatchWorld(change: Partial<CallDeps> = {}) {
  const world = await startCallWorld();
  const { sql } = world;
  const dialled: { callId: string; to: string }[] = [];
  const at = { nowMs: undefined as number | undefined };
  const clock = { ...systemClock, now: () => at.nowMs ?? systemClock.now() };
  const calls = {
    ...world.deps.carrier.calls,
    dial: async ({ callId, to }: { callId: string; to: string }) => {
      dialled.push({ callId, to });
      return { carrierCallId: `LB${callId}` };
    },
  };
  const made = {
    ...world.deps,
    clock,
    feed: { tell() {}, close() {} },
    carrier: { ...world.deps.carrier, calls },
    ...change,
  } as unknown as CallDeps;

  /** A process that runs the batches. */
  function processOf(own: Partial<CallDeps> = {}) {
    const merged = { ...made, ...own };
    const deps: CallDeps = {
      ...merged,
      refusalOf:
        own.refusalOf ??
        ((to, accountId) => refuseNumber({ ...merged, ...merged.dialling }, to, accountId)),
    };
    const placing = createCalls(deps);
    const batches = createBatches({ ...deps, calls: placing });
    const runner = createBatchRunner(deps);
    return { batches, calls: placing, deps, runner };
  }
  const main = processOf();

  const ordered = (agent: BatchAgent, order: Partial<BatchOrder>): BatchOrder => ({
    agentId: agent.agentId,
    accountId: agent.accountId,
    spender: {},
    shared: PLAIN_ORDER,
    recipients: numbered(1),
    name: null,
    callingHours: undefined,
    maxConcurrent: undefined,
    retries: {},
    startAtMs: undefined,
    workId: undefined,
    ...order,
  });

  return {
    ...world,
    at,
    batches: main.batches,
    dialled,
    /** The numbers that were dialled, in their order. */
    rung: () => dialled.map(({ to }) => to),
    processOf,
    main: { ...world.main, ...main },
    async order(agent: BatchAgent, order: Partial<BatchOrder> = {}): Promise<string> {
      return (await main.batches.order(ordered(agent, order))).batchId;
    },
    ordered,
    /** Every batch is due, has its turns, and what they begin is done. */
    async turn(process: Pick<ReturnType<typeof processOf>, 'runner'> = main): Promise<void> {
      await sql`update call_batches set due_at = now() where due_at is not null`;
      await process.runner.tick();
      await process.runner[Symbol.asyncDispose]();
    },
    /** The carrier says that the latest call of a number is over. */
    async end(to: string, status: Ended): Promise<void> {
      const call = dialled.findLast((each) => each.to === to);
      if (call === undefined) throw new Error(`${to} was not dialled`);
      await advanceRow(sql, call.callId, { type: 'carrier.ended', status });
    },
    /** The latest call of a number was answered, and is over. */
    async complete(to: string, reason: 'call_ended' | 'voicemail_reached' = 'call_ended') {
      const call = dialled.findLast((each) => each.to === to);
      if (call === undefined) throw new Error(`${to} was not dialled`);
      await advanceRow(sql, call.callId, { type: 'media.opened' });
      await advanceRow(sql, call.callId, { type: 'session.ended', reason });
    },
    recipients: async (agent: BatchAgent, batchId: string) =>
      (await main.batches.recipients(agent, batchId, { after: -1, limit: 1_000 })).recipients,
    /** Rows that wait for a retry wait no longer. */
    hurry: (batchId: string) =>
      sql`update call_batch_rows set due_at = now() where batch_id = ${batchId} and state = 'waiting'`,
  };
}
