import { describe, expect, it } from 'vitest';
import { pushMonitoring } from '../../../../src/app/build/push-monitoring.ts';
import { type Log, silentLog } from '../../../../src/kernel/log.ts';
import { startWorkers } from '../../../../src/kernel/schedule.ts';
import type { FetchRequest } from '../../../../src/platform/egress/fetch.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function pushing(answer = { status: 200 }, log: Log = silentLog) {
  const clock = new ManualClock();
  const sent: FetchRequest[] = [];
  const push = pushMonitoring({
    log,
    url: 'http://monitor.test/push',
    key: 'shared',
    status: async () => ({ sockets: 2 }),
    async fetch(request) {
      sent.push(request);
      if (answer.status === 0) throw new Error('away');
      return { status: answer.status, headers: {}, body: new Uint8Array() };
    },
  });
  return { clock, sent, push };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('the monitoring push', () => {
  it('the monitoring push sends the status with the shared secret, bounded in time and size', async () => {
    const { sent, push } = pushing();
    await push.tick();
    expect(sent).toMatchObject([
      {
        url: 'http://monitor.test/push',
        method: 'POST',
        headers: { 'x-internal-key': 'shared' },
        body: '{"sockets":2}',
        timeoutMs: 5_000,
      },
    ]);
  });

  it('the monitoring push repeats every 15 s through failures until it is disposed of', async () => {
    for (const status of [0, 500]) {
      const { clock, sent, push } = pushing({ status });
      const workers = startWorkers({ clock, log: silentLog }, [push]);
      for (let i = 1; i <= 3; i++) {
        clock.advance(15_000);
        await settle();
        expect(sent.length).toBe(i);
      }
      await workers[Symbol.asyncDispose]();
      clock.advance(60_000);
      await settle();
      expect(sent.length).toBe(3);
    }
  });

  it('the monitoring push logs an unreachable monitor once an outage', async () => {
    let said = 0;
    const answer = { status: 500 };
    const log = { ...silentLog, warn: () => said++ } as unknown as Log;
    const { push } = pushing(answer, log);
    for (const status of [500, 500, 200, 500]) {
      answer.status = status;
      await push.tick();
    }
    expect(said).toBe(2);
  });
});
