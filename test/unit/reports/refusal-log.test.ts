import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/kernel/api-error.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { gatewayErrors } from '../../../src/models/errors.ts';
import { proxyErrors } from '../../../src/payments/errors.ts';
import { REPORT_LIMITS } from '../../../src/reports/limits.ts';
import { factsOfRefusal } from '../../../src/reports/refusals/reason-of.ts';
import { createRefusalLog } from '../../../src/reports/refusals/refusal-log.ts';
import type { RefusalBatch } from '../../../src/reports/refusals/refusal-store.ts';
import { controlErrors } from '../../../src/spend/errors.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const poor = controlErrors.insufficientBalance('3', '12');

function logWith(save?: (batch: RefusalBatch) => Promise<readonly string[]>) {
  const batches: RefusalBatch[] = [];
  const clock = new ManualClock(Date.parse('2026-11-29T23:59:59.000Z'));
  const log = createRefusalLog({
    clock,
    log: silentLog,
    save: async (batch) => {
      const full = (await save?.(batch)) ?? [];
      batches.push(batch);
      return full;
    },
  });
  return { batches, clock, log };
}

describe('the record of refusals', () => {
  it('refusals of one second are one batch, with a row each and a count by agent, day and reason', async () => {
    const { batches, clock, log } = logWith();
    log.note({ agentId: 1, requestId: 'req_a' }, poor);
    log.note({ agentId: 1, requestId: 'req_b' }, controlErrors.hostNotAllowlisted('x.test'));
    clock.advance(2_000);
    log.note({ agentId: 1, requestId: 'req_c' }, poor);
    log.note({ agentId: 2, requestId: 'req_d' }, new Error('a bug'));
    log.note({ agentId: 2, requestId: 'req_e' }, new ApiError(404, 'not_found'));
    await log.flush();
    await log.flush();
    expect(batches).toHaveLength(1);
    expect(batches[0]?.days).toEqual([
      { agentId: 1, day: '2026-11-29', calls: 2 },
      { agentId: 1, day: '2026-11-30', calls: 1 },
    ]);
    expect(batches[0]?.totals).toContainEqual({
      agentId: 1,
      day: '2026-11-29',
      reason: 'host_not_allowlisted',
      calls: 1,
    });
    expect(batches[0]?.rows.map(({ number, requestId }) => [requestId, number])).toEqual([
      ['req_a', 1],
      ['req_b', 2],
      ['req_c', 1],
    ]);
    expect(batches[0]?.rows[0]).toMatchObject({ requiredRaw: 12n, availableRaw: 3n });
  });

  it('a batch that could not be written is written by the next flush, before later refusals', async () => {
    let isAway = true;
    const { batches, log } = logWith(async () => {
      if (isAway) throw new Error('the database is away');
      return [];
    });
    log.note({ agentId: 1, requestId: 'req_a' }, poor);
    await expect(log.flush()).rejects.toThrow('away');
    log.note({ agentId: 1, requestId: 'req_b' }, poor);
    isAway = false;
    await log.flush();
    await log.flush();
    expect(batches.map(({ days }) => days[0]?.calls)).toEqual([1, 1]);
  });

  it('memory is bounded by agents and by rows, and counts go on when rows end', async () => {
    const { agents, waitingRows } = REPORT_LIMITS.refusals;
    const { batches, log } = logWith();
    for (let i = 0; i < agents + 10; i++) log.note({ agentId: i, requestId: `req_${i}` }, poor);
    for (let i = 0; i < waitingRows; i++) log.note({ agentId: 1, requestId: `more_${i}` }, poor);
    await log.flush();
    expect(batches[0]?.days).toHaveLength(agents);
    expect(batches[0]?.rows).toHaveLength(waitingRows);
    expect(batches[0]?.days[1]?.calls).toBe(waitingRows + 1);
  });

  it('an agent whose day has all its rows gives counts alone', async () => {
    const { batches, log } = logWith(async () => ['1 2026-11-29']);
    log.note({ agentId: 1, requestId: 'req_a' }, poor);
    await log.flush();
    log.note({ agentId: 1, requestId: 'req_b' }, poor);
    await log.flush();
    expect(batches.map(({ days, rows }) => [days[0]?.calls, rows.length])).toEqual([
      [1, 1],
      [1, 0],
    ]);
  });
});

const cap = { policyId: 7, kind: 'task', available: '5', required: '9' };

describe('the reason of a refusal', () => {
  it.each([
    [
      'a balance, by the gateway',
      gatewayErrors.budgetExhausted({
        scope: 'wallet',
        remaining_raw: '0',
        available: '0',
        required: '1',
      }),
      'insufficient_balance',
    ],
    [
      'a session limit',
      proxyErrors.spendLimitExceeded('x', { available: '5', required: null }),
      'session_limit',
    ],
    ['a policy, by the proxy', proxyErrors.spendLimitExceeded('x', cap), 'policy'],
    ['a policy', controlErrors.policyExceeded('x', cap), 'policy'],
    [
      'a policy, by the gateway',
      gatewayErrors.capExceeded('x', { scope: 'task', remaining_raw: '5', ...cap }),
      'policy',
    ],
    [
      'the budget of a key',
      controlErrors.policyExceeded('x', { ...cap, kind: 'key' }),
      'key_budget',
    ],
    ['an allowlist', controlErrors.vendorNotAllowlisted('0x1', null), 'vendor_not_allowlisted'],
    ['a vendor that is away', proxyErrors.unreachable('no route'), 'vendor_failed'],
    ['sources that rest', gatewayErrors.sourcesRest(3), 'provider_unavailable'],
    ['a paused chain', proxyErrors.breakerStale('old blocks'), 'payments_paused'],
    ['a missing path', new ApiError(404, 'not_found'), undefined],
  ])('%s is counted as its reason', (_name, error, reason) => {
    expect(factsOfRefusal(error)?.reason).toBe(reason);
  });

  it('a refusal by a policy has the policy and the amounts, and odd amounts are left out', () => {
    expect(factsOfRefusal(controlErrors.policyExceeded('x', cap))).toEqual({
      reason: 'policy',
      policyId: 7,
      host: null,
      requiredRaw: 9n,
      availableRaw: 5n,
    });
    const odd = controlErrors.policyExceeded('x', { ...cap, required: null, available: '1e3' });
    expect(factsOfRefusal(odd)).toMatchObject({ requiredRaw: null, availableRaw: null });
  });
});
