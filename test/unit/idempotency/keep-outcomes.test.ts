import { describe, expect, it } from 'vitest';
import type { KeyWork } from '../../../src/idempotency/idempotency-store.ts';
import { createOutcomeKeeper } from '../../../src/idempotency/keep-outcomes.ts';
import { IDEMPOTENCY_LIMITS } from '../../../src/idempotency/limits.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const work = (n: number): KeyWork => ({ owner: 'agent:1', key: `k${n}`, workId: `work_${n}` });
const LOST = Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' });

function world() {
  const clock = new ManualClock();
  const state = { mode: 'answers' as 'answers' | 'fails' | 'hangs' | 'breaks', tries: 0 };
  const written: (Uint8Array | null)[] = [];
  const freed: string[] = [];
  const perform = async (effect: () => void) => {
    state.tries++;
    if (state.mode === 'hangs') return new Promise<never>(() => {});
    if (state.mode === 'breaks') throw new Error('a bug');
    if (state.mode === 'fails') throw LOST;
    effect();
    return true;
  };
  const outcomes = createOutcomeKeeper({
    keys: {
      finish: (_, answer) => perform(() => void written.push(answer)),
      free: ({ workId }) => perform(() => void freed.push(workId)).then(() => {}),
    },
    clock,
    log: silentLog,
  });
  /** Lets time pass in steps until what is asked has an answer. */
  const elapse = async <T>(asked: Promise<T>): Promise<T> => {
    const startMs = clock.now();
    let isOver = false;
    void asked.finally(() => (isOver = true)).catch(() => {});
    while (!isOver && clock.now() - startMs < 60_000) {
      await new Promise((resolve) => setImmediate(resolve));
      if (!isOver) clock.advance(50);
    }
    return asked;
  };
  return { clock, state, written, freed, outcomes, elapse };
}

const done = (n: number, bytes = 1) =>
  ({ kind: 'done', work: work(n), answer: Buffer.alloc(bytes, n) }) as const;

describe('the end of keyed work', () => {
  it('the outcome of a keyed request is written again after a lost connection, and no caller notices', async () => {
    const w = world();
    w.state.mode = 'fails';
    const writing = w.outcomes.write(done(1));
    await new Promise((resolve) => setImmediate(resolve));
    w.state.mode = 'answers';
    await w.elapse(writing);
    expect(w.written).toEqual([Buffer.from([1])]);
    expect([w.outcomes.size, w.state.tries]).toEqual([0, 2]);
  });

  it('a database outage delays no caller of a keyed request, and the outcome is written when the database is back', async () => {
    for (const mode of ['fails', 'hangs'] as const) {
      const w = world();
      w.state.mode = mode;
      const startMs = w.clock.now();
      await w.elapse(w.outcomes.write(done(1)));
      await w.elapse(w.outcomes.write({ kind: 'undone', work: work(2) }));
      const waitedMs = w.clock.now() - startMs;
      expect(waitedMs).toBeLessThanOrEqual(2 * IDEMPOTENCY_LIMITS.storeMs + 200);
      expect(w.outcomes.size).toBe(2);
      await expect(w.elapse(w.outcomes.tick())).rejects.toThrow();
      expect(w.outcomes.size).toBe(2);
      w.state.mode = 'answers';
      await w.elapse(w.outcomes.tick());
      expect([w.written.length, w.freed, w.outcomes.size]).toEqual([1, ['work_2'], 0]);
    }
  });

  it('an idempotency claim without a database reply is freed as soon as possible, and again in case it arrived late', async () => {
    const w = world();
    w.outcomes.doubt(work(3));
    w.state.mode = 'fails';
    await expect(w.elapse(w.outcomes.tick())).rejects.toThrow();
    w.clock.advance(60_000);
    w.state.mode = 'answers';
    await w.elapse(w.outcomes.tick());
    expect([w.freed, w.outcomes.size]).toEqual([['work_3'], 1]);
    w.clock.advance(IDEMPOTENCY_LIMITS.unwritten.doubtMs);
    await w.elapse(w.outcomes.tick());
    expect([w.freed, w.outcomes.size]).toEqual([['work_3', 'work_3'], 0]);
  });

  it('an outcome that can never be written is given up, so that it does not block the others', async () => {
    const w = world();
    w.state.mode = 'breaks';
    await w.elapse(w.outcomes.write(done(1)));
    expect(w.outcomes.size).toBe(1);
    await w.elapse(w.outcomes.tick());
    expect(w.outcomes.size).toBe(0);
  });

  it('unwritten outcomes keep the bytes of their responses up to a limit, and beyond it only that there was a response', async () => {
    const w = world();
    w.state.mode = 'breaks';
    const size = 5 * 1024 * 1024;
    for (let n = 0; n < 8; n++) await w.outcomes.write(done(n, size));
    w.state.mode = 'answers';
    await w.elapse(w.outcomes.tick());
    expect(w.written).toHaveLength(8);
    const kept = w.written.filter((answer) => answer !== null);
    expect(kept).toHaveLength(Math.floor(IDEMPOTENCY_LIMITS.unwritten.bytes / size));
  });
});
