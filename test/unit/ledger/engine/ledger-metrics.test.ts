import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../../src/http/server/metrics.ts';
import { createLedgerCounters } from '../../../../src/ledger/engine/ledger-counters.ts';
import { watchLedger } from '../../../../src/ledger/engine/ledger-metrics.ts';

describe('watchLedger', () => {
  it('watchLedger exports every counter of the ledger with its current value', async () => {
    const metrics = createMetrics({ withProcess: false });
    const counters = createLedgerCounters();
    watchLedger(metrics, { counters, load: () => ({ waiting: 3, actors: 7 }) });
    for (const [n, name] of Object.keys(counters).entries()) {
      Object.assign(counters, { [name]: name === 'shortfallRaw' ? BigInt(100 + n) : 100 + n });
    }
    const values = [...(await metrics.render()).matchAll(/^svc_ledger_\w+ (\d+)$/gm)];
    const expected = Object.keys(counters).map((_, n) => String(100 + n));
    expect(values.map(([, value]) => value).sort()).toEqual([...expected, '3', '7'].sort());
  });
});
