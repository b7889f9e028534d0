import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { inGroups } from '../../../../src/payments/reconcile/in-groups.ts';
import { RpcUnavailable } from '../../../../src/platform/chain/rpc.ts';

function tried(failing: ReadonlyMap<number, Error>) {
  const done: number[] = [];
  const alarms: string[] = [];
  const deps = { log: silentLog, onAlarm: (alarm: string) => void alarms.push(alarm) };
  const work = async (item: number) => {
    const error = failing.get(item);
    if (error !== undefined) throw error;
    done.push(item);
  };
  return { done, alarms, run: () => inGroups(deps, [1, 2, 3, 4, 5], work, 2) };
}

describe('many settlements', () => {
  it('settlements after a failed one are all attempted, and a retryable failure is thrown at the end', async () => {
    const away = new RpcUnavailable('away');
    const { done, alarms, run } = tried(new Map([[2, away]]));
    await expect(run()).rejects.toBe(away);
    expect([done, alarms]).toEqual([[1, 3, 4, 5], []]);
  });

  it('a settlement that can never be written raises an alarm and does not stop the others', async () => {
    const { done, alarms, run } = tried(new Map([[1, new Error('poison')]]));
    await run();
    expect([done, alarms]).toEqual([[2, 3, 4, 5], ['not_written']]);
  });

  it('settlements run up to the given number at a time', async () => {
    let underWay = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++underWay);
      await Promise.resolve();
      underWay--;
    };
    await inGroups({ log: silentLog }, Array.from({ length: 9 }), work, 4);
    expect(most).toBe(4);
  });
});
