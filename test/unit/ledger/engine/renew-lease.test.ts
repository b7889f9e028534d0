import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { LEDGER_LIMITS } from '../../../../src/ledger/engine/limits.ts';
import { createLeaseKeeper } from '../../../../src/ledger/engine/renew-lease.ts';
import type { Sql } from '../../../../src/platform/postgres/sql.ts';
import { CallTimeout } from '../../../../src/platform/postgres/transient.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const NODE = { nodeId: 'n', leaseEpoch: 1 };

/** A database that answers a renewal, or hangs. */
function world() {
  const clock = new ManualClock();
  const state = { hangs: false, asked: 0, held: true };
  const sql = (() => {
    state.asked++;
    return state.hangs ? new Promise(() => {}) : Promise.resolve([{ held: state.held }]);
  }) as unknown as Sql;
  const lease = createLeaseKeeper({ sql, clock, log: silentLog, node: NODE });
  return { clock, state, lease };
}

describe('the lease of a process', () => {
  it('the lease of a process is renewed again after a renewal that hung', async () => {
    const { clock, state, lease } = world();
    state.hangs = true;
    const hung = expect(lease.tick()).rejects.toBeInstanceOf(CallTimeout);
    clock.advance(LEDGER_LIMITS.lease.answerMs);
    await hung;
    state.hangs = false;
    await lease.tick();
    expect(state.asked).toBe(2);
  });

  it('the lease of a process outlives two renewals in a row that hang', () => {
    const { answerMs: leaseAnswerMs, lifeMs: leaseMs, renewMs: leaseRenewMs } = LEDGER_LIMITS.lease;
    // The third is sent before it has run out, counted from the answer to the one before them.
    expect(2 * (leaseRenewMs + leaseAnswerMs) + leaseRenewMs).toBeLessThan(leaseMs);
  });

  it('a process whose lease had lapsed reaps no other process for one whole lease', async () => {
    const { clock, state, lease } = world();
    const renewFor = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += LEDGER_LIMITS.lease.renewMs) {
        clock.advance(LEDGER_LIMITS.lease.renewMs);
        await lease.tick();
      }
    };
    await renewFor(LEDGER_LIMITS.lease.lifeMs);
    expect(lease.mayReap()).toBe(true);
    // The database's clock went on, or this process stood still: its own clock tells nothing of either.
    state.held = false;
    await lease.tick();
    state.held = true;
    expect(lease.mayReap()).toBe(false);
    await renewFor(LEDGER_LIMITS.lease.lifeMs);
    expect(lease.mayReap()).toBe(true);
  });

  it('a process reaps no other process before its own lease was held for one whole lease without a gap', async () => {
    const { clock, state, lease } = world();
    await lease.tick();
    const renewFor = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += LEDGER_LIMITS.lease.renewMs) {
        expect(lease.mayReap()).toBe(false);
        clock.advance(LEDGER_LIMITS.lease.renewMs);
        await lease.tick();
      }
    };
    await renewFor(LEDGER_LIMITS.lease.lifeMs);
    expect(lease.mayReap()).toBe(true);
    state.hangs = true;
    const hung = lease.tick().catch(() => {});
    clock.advance(LEDGER_LIMITS.lease.answerMs);
    await hung;
    state.hangs = false;
    await lease.tick();
    await renewFor(LEDGER_LIMITS.lease.lifeMs);
    expect(lease.mayReap()).toBe(true);
  });
});
