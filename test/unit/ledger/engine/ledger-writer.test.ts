import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { createLedgerCounters } from '../../../../src/ledger/engine/ledger-counters.ts';
import {
  type BatchSource,
  createLedgerWriter,
} from '../../../../src/ledger/engine/ledger-writer.ts';
import { LEDGER_LIMITS } from '../../../../src/ledger/engine/limits.ts';
import { createRetry } from '../../../../src/ledger/engine/retry.ts';
import type { AgentBatch, AgentBatchOutcome } from '../../../../src/ledger/rules/change.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const STATE = {
  version: 1n,
  rulesVersion: 0n,
  spendableRaw: 0n,
  heldRaw: 0n,
  creditedRaw: 0n,
  consumedRaw: 0n,
  walletRaw: 0n,
  promisedRaw: 0n,
  counters: [],
};
const partOf = (agentId: number): AgentBatch => ({
  agentId,
  before: STATE,
  after: STATE,
  writes: 0,
  counted: false,
  changes: [],
});

/** A source with one batch to send, which records the outcomes that it gets. */
function source(agentId: number, told: string[], answered: () => void = () => {}): BatchSource {
  let waits = true;
  return {
    agentId,
    plan: () => {
      const part = waits ? partOf(agentId) : undefined;
      waits = false;
      return part;
    },
    goesAlone: () => false,
    answered: () => {
      told.push(`${agentId} answered`);
      answered();
    },
    broke: () => told.push(`${agentId} broke`),
  };
}

const settleDown = () => new Promise((resolve) => setImmediate(resolve));

function world(
  apply: (parts: readonly AgentBatch[], resent: boolean) => Promise<readonly AgentBatchOutcome[]>,
) {
  const clock = new ManualClock();
  const hang = () => new Promise<void>(() => {});
  const writer = createLedgerWriter({
    store: { apply },
    retry: createRetry(clock),
    afterOutage: hang,
    soon: queueMicrotask,
    counters: createLedgerCounters(),
    log: silentLog,
  });
  return { clock, writer };
}

describe('createLedgerWriter', () => {
  it('a ledger caller that throws on its result stops neither the results of others nor later calls', async () => {
    let calls = 0;
    let most = 0;
    const { writer } = world(async (parts) => {
      most = Math.max(most, ++calls);
      await settleDown();
      calls--;
      return parts.map(({ after }) => ({ kind: 'applied', state: after }));
    });
    const told: string[] = [];
    const chokes = () => {
      throw new Error('a bug');
    };
    writer.offer(source(1, told));
    writer.offer(source(2, told, chokes));
    writer.offer(source(3, told));
    await settleDown();
    await settleDown();
    expect(told).toEqual(['1 answered', '2 answered', '2 broke', '3 answered']);
    for (let agentId = 4; agentId < 100; agentId++) writer.offer(source(agentId, told));
    for (let i = 0; i < 10; i++) await settleDown();
    expect(told.length).toBe(100);
    expect(most).toBeLessThanOrEqual(LEDGER_LIMITS.calls.inFlight);
  });

  it('a ledger batch is sent again although the lease cannot be renewed, and is marked as resent', async () => {
    const sent: boolean[] = [];
    const { clock, writer } = world(async (parts, resent) => {
      if (sent.push(resent) === 1) throw Object.assign(new Error('lost'), { code: 'ECONNRESET' });
      return parts.map(({ after }) => ({ kind: 'applied', state: after }));
    });
    const told: string[] = [];
    writer.offer(source(1, told));
    await settleDown();
    clock.advance(LEDGER_LIMITS.calls.retryMs.min);
    await settleDown();
    clock.advance(LEDGER_LIMITS.lease.renewMs);
    await settleDown();
    expect(told).toEqual(['1 answered']);
    expect(sent).toEqual([false, true]);
    writer.offer(source(2, told));
    await settleDown();
    expect(sent).toEqual([false, true, false]);
  });
});
