import { expect, it } from 'vitest';
import { type SessionStep, tellSteps } from '../../../../src/voice/live/session-steps.ts';
import { createFakeLedger } from '../../../support/fake-ledger.ts';
import { DESTINATION } from '../../../support/spending.ts';

it('a ledger that reports its steps waits at each step, and returns the same results', async () => {
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: 7, amountRaw: 100n, reference: 'start' });
  const steps: SessionStep[] = [];
  let goOn = () => {};
  const reporting = tellSteps(ledger, (step) => {
    steps.push(step);
    if (step !== 'journaling') return undefined;
    return new Promise((resolve) => {
      goOn = resolve;
    });
  });
  const opened = await reporting.openSession({
    spender: { agentId: 7 },
    sessionId: 's1',
    reserveRaw: 50n,
    kind: 'realtime',
    target: 'gateway://a/b',
    model: 'a/b',
    destination: DESTINATION,
    account: 'gateway',
  });
  if (opened.kind !== 'opened') throw new Error('refused');
  const { claim } = opened;
  const written = reporting.journal(claim, [{ seq: 1, costRaw: 3n, usage: {} }]);
  await Promise.resolve();
  expect(steps).toEqual(['opening', 'opened', 'journaling']);
  goOn();
  expect(await written).toBe('written');
  expect(await reporting.extend(claim, 10n)).toMatchObject({ kind: 'extended' });
  const close = { reason: 'done', actualRaw: 3n, account: 'gateway', source: 'a' } as const;
  expect(await reporting.closeSession({ claim, ...close })).toMatchObject({ kind: 'settled' });
  expect(steps.slice(3)).toEqual(['journaled', 'extending', 'extended', 'closing', 'closed']);
  expect(ledger.consumedRaw(7)).toBe(3n);
});
