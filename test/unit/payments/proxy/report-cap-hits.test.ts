import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import type { EventRow } from '../../../../src/ledger/rules/companion.ts';
import { proxyErrors } from '../../../../src/payments/errors.ts';
import { createCapHitReports } from '../../../../src/payments/proxy/report-cap-hits.ts';
import { WEBHOOK_LIMITS } from '../../../../src/webhooks/limits.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function world() {
  const clock = new ManualClock();
  const written: EventRow[] = [];
  const state = { isAway: false };
  const report = createCapHitReports({
    clock,
    log: silentLog,
    findOwner: async () => ({ accountId: 'acct_1', wallet: '0xaa' }),
    async insert(events) {
      if (state.isAway) throw new Error('away');
      written.push(...events);
    },
  });
  return { clock, report, state, written };
}

const CALL = { agentId: 7, url: 'https://vendor.example:8443/a' };
const hit = (policyId?: number) =>
  proxyErrors.spendLimitExceeded('no', { policyId, required: '10', spent: '95', limit: '100' });

describe('a cap that refuses a paid call', () => {
  it('a cap that refuses paid calls writes one event a minute for each agent and policy', async () => {
    const { clock, report, written } = world();
    for (let n = 0; n < 3; n++) await report(CALL, hit(4));
    await report(CALL, hit(5));
    await report({ ...CALL, agentId: 8 }, hit(4));
    expect(written).toHaveLength(3);
    expect(written[0]).toEqual({
      name: 'marketplace.spend_cap.hit',
      accountId: 'acct_1',
      agentWallet: '0xaa',
      correlationId: null,
      payload: {
        agentId: 7,
        agentWalletAddress: '0xaa',
        url: CALL.url,
        host: 'vendor.example',
        error: 'spend_limit_exceeded',
        policyId: 4,
        required: '10',
        spent: '95',
        limit: '100',
      },
    });
    clock.advance(WEBHOOK_LIMITS.capHit.intervalMs);
    await report(CALL, hit(4));
    expect(written).toHaveLength(4);
  });

  it('the event of a session cap that refuses a paid call has no policyId', async () => {
    const { report, written } = world();
    await report(CALL, hit());
    expect(written[0]?.payload).toMatchObject({ policyId: null });
  });

  it('a cap hit whose event cannot be written does not fail, and the next refusal is reported', async () => {
    const { report, state, written } = world();
    state.isAway = true;
    await report(CALL, hit(4));
    state.isAway = false;
    await report(CALL, hit(4));
    expect(written).toHaveLength(1);
  });

  it('a paid call that is refused for anything but a cap writes no cap-hit event', async () => {
    const { report, written } = world();
    await report(CALL, proxyErrors.insufficientBalance('1', '2'));
    await report(CALL, new Error('a bug'));
    expect(written).toEqual([]);
  });
});
