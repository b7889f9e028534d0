import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/kernel/log.ts';
import { startWorkers } from '../../../src/kernel/schedule.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('startWorkers', () => {
  it('startWorkers runs a worker again after a failure, and never while the worker is still running', async () => {
    const clock = new ManualClock();
    let runs = 0;
    let finish: () => void = () => {};
    const workers = startWorkers({ clock, log: silentLog }, [
      {
        name: 'test',
        everyMs: 100,
        tick() {
          runs++;
          if (runs === 1) return Promise.reject(new Error('first run'));
          return new Promise((resolve) => {
            finish = resolve;
          });
        },
      },
    ]);
    clock.advance(99);
    expect(runs).toBe(0);
    clock.advance(1);
    await settle();
    clock.advance(1_000);
    await settle();
    clock.advance(1_000);
    expect(runs).toBe(2);
    finish();
    await settle();
    clock.advance(100);
    expect(runs).toBe(3);
    finish();
    await workers[Symbol.asyncDispose]();
  });

  it('startWorkers waits for running workers at its end, and starts no more', async () => {
    const clock = new ManualClock();
    const seen: string[] = [];
    const workers = startWorkers({ clock, log: silentLog }, [
      {
        name: 'test',
        everyMs: 10,
        async tick() {
          await settle();
          seen.push('done');
        },
      },
    ]);
    clock.advance(10);
    await workers[Symbol.asyncDispose]();
    clock.advance(1_000);
    await settle();
    expect(seen).toEqual(['done']);
  });
});
