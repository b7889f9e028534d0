import { describe, expect, it } from 'vitest';
import { createHealthChecks } from '../../../../src/http/server/health-checks.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const well = async () => {};
const away = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.5'));

describe('the health report', () => {
  it('the health report is ok when every configured part answers, and lists the parts that are not configured', async () => {
    const probes = { db: well, managedWallet: well, indexer: undefined };
    const report = await createHealthChecks(new ManualClock(), probes).report();
    expect(report).toMatchObject({
      status: 'ok',
      checks: { db: { status: 'ok', latency_ms: 0 }, indexer: { status: 'skipped' } },
      timestamp: '2026-01-01T00:00:00.000Z',
    });
  });

  it('the health report is degraded by any failed part, down only without the database, and shows no address', async () => {
    const probes = { db: away, managedWallet: away, indexer: undefined };
    const report = await createHealthChecks(new ManualClock(), probes).report();
    expect(report.status).toBe('degraded');
    expect(report.checks.db.status).toBe('down');
    expect(report.checks.managed_wallet.status).toBe('degraded');
    expect(JSON.stringify(report)).not.toContain('10.0.0.5');
  });

  it('the health report does not wait for a part that does not answer', async () => {
    const clock = new ManualClock();
    const db = () => new Promise<void>(() => {});
    const asked = createHealthChecks(clock, { db, managedWallet: undefined, indexer: undefined });
    const report = asked.report();
    clock.advance(2_000);
    expect((await report).checks.db).toEqual({ status: 'down', reason: 'no answer in time' });
  });

  it('the health report checks its parts at most once a second, however many requests come', async () => {
    const clock = new ManualClock();
    let asked = 0;
    const db = async () => {
      asked += 1;
    };
    const checks = createHealthChecks(clock, { db, managedWallet: undefined, indexer: undefined });
    await Promise.all(Array.from({ length: 50 }, () => checks.report()));
    expect(asked).toBe(1);
    clock.advance(1_000);
    await checks.report();
    expect(asked).toBe(2);
  });
});
