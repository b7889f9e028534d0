import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import { createPassthroughLog } from '../../../../src/payments/proxy/passthrough-log.ts';
import type { PassthroughLine } from '../../../../src/payments/proxy/passthrough-store.ts';

const line = (latencyMs: number, more: Partial<PassthroughLine> = {}): PassthroughLine => ({
  agentId: 1,
  keyId: null,
  targetUrl: 'https://vendor.example/',
  method: 'GET',
  responseStatusCode: 200,
  latencyMs,
  taskId: null,
  actionId: null,
  ...more,
});

function logTo(insert: (lines: readonly PassthroughLine[]) => Promise<void>) {
  const written: number[][] = [];
  const log = createPassthroughLog({
    log: silentLog,
    insert: async (lines) => {
      await insert(lines);
      written.push(lines.map(({ latencyMs }) => latencyMs));
    },
  });
  return { log, written };
}

const ever = async () => {};

describe('the lines of free calls', () => {
  it('log lines of free calls are written once and in order, at most `passthroughLinesPerInsert` an insert', async () => {
    const { log, written } = logTo(ever);
    const count = PAYMENT_LIMITS.passthrough.perInsert + 1;
    for (let i = 0; i < count; i++) log.add(line(i));
    await log.flush();
    expect(written.map(({ length }) => length)).toEqual([PAYMENT_LIMITS.passthrough.perInsert, 1]);
    expect(written.flat()).toEqual(Array.from({ length: count }, (_, i) => i));
    await log.flush();
    expect(written).toHaveLength(2);
  });

  it('log lines of free calls wait for a database that is away and are written before later lines', async () => {
    let isAway = true;
    const { log, written } = logTo(async () => {
      if (isAway) throw new Error('away');
    });
    log.add(line(1));
    log.add(line(2));
    await expect(log.flush()).rejects.toThrow('away');
    log.add(line(3));
    isAway = false;
    await log.flush();
    expect(written).toEqual([[1, 2, 3]]);
  });

  it('a flush waits for log lines of free calls that another flush is writing', async () => {
    const gates: (() => void)[] = [];
    const { log, written } = logTo(() => new Promise((resolve) => gates.push(resolve)));
    log.add(line(1));
    const first = log.flush();
    let isDone = false;
    const second = log.flush().then(() => {
      isDone = true;
    });
    await Promise.resolve();
    expect([isDone, written]).toEqual([false, []]);
    await expect.poll(() => gates.length).toBe(1);
    gates[0]?.();
    await Promise.all([first, second]);
    expect([isDone, written]).toEqual([true, [[1]]]);
  });

  it('log lines of free calls beyond `passthroughLinesWaiting` drop the oldest', async () => {
    const { log, written } = logTo(ever);
    for (let i = 0; i < PAYMENT_LIMITS.passthrough.waiting + 5; i++) log.add(line(i));
    await log.flush();
    expect(written.flat()).toHaveLength(PAYMENT_LIMITS.passthrough.waiting);
    expect(written.flat()[0]).toBe(5);
  });

  it('log lines of free calls are dropped before those of charged calls, which have their own bound', async () => {
    const most = PAYMENT_LIMITS.passthrough.waiting;
    const { log, written } = logTo(ever);
    log.add(line(-1, { chargedRaw: 5n }));
    for (let i = 0; i < most; i++) log.add(line(i));
    await log.flush();
    expect(written.flat()).toHaveLength(most);
    expect(written.flat().slice(0, 2)).toEqual([-1, 1]);
    for (let i = 0; i < most + 1; i++) log.add(line(i, { chargedRaw: 5n }));
    await log.flush();
    expect(written.flat()).toHaveLength(2 * most);
    expect(written.flat()[most]).toBe(1);
  });

  it('log lines of free calls that are added during a write are written in the same flush', async () => {
    const { log, written } = logTo(async () => {
      if (written.length === 0) log.add(line(2));
    });
    log.add(line(1));
    await log.flush();
    expect(written).toEqual([[1], [2]]);
  });
});
