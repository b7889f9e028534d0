import { describe, expect, it } from 'vitest';
import {
  creditVerdict,
  extendVerdict,
  holdVerdict,
  openVerdict,
  settleVerdict,
  withdrawVerdict,
} from '../../../../src/ledger/rules/answer.ts';
import { DESTINATION, FACTS } from '../../../support/spending.ts';

const funds = { spendableRaw: 5n, heldRaw: 1n };
const applied = { kind: 'applied', leftRaw: 3n, funds } as const;
const already = { kind: 'already', leftRaw: 3n, funds } as const;
const spender = { agentId: 2 };
const request = { spender, holdId: 'h', amountRaw: 1n, destination: DESTINATION };
const hold = { holdId: 's', agentId: 2, amountRaw: 10n, facts: FACTS };
const claim = { sessionId: 's', epoch: 1, hold };

describe('verdicts', () => {
  it('a repeated hold gets the outcome of the first one', () => {
    const held = { kind: 'held', hold: { ...hold, holdId: 'h', amountRaw: 1n }, funds };
    expect(holdVerdict(request, applied)).toEqual(held);
    expect(holdVerdict(request, already)).toEqual(held);
  });

  it('a hold id that was used for something else throws, and a hold of an unknown agent is refused', () => {
    expect(() => holdVerdict(request, { kind: 'conflict' })).toThrow('used before');
    expect(holdVerdict(request, { kind: 'agent_unknown' })).toEqual({
      kind: 'refused',
      refusal: { reason: 'agent_unknown' },
    });
  });

  it('an opened session gets the claim of its first epoch, with a hold under the session’s own id', () => {
    const session = {
      spender,
      sessionId: 's',
      reserveRaw: 10n,
      kind: 'realtime' as const,
      target: 't',
      model: 'm',
      destination: DESTINATION,
      account: 'gateway' as const,
    };
    expect(openVerdict(session, applied)).toEqual({ kind: 'opened', claim, funds });
    const valued = { ...session, spender: { ...spender, taskValueBps: 5_000 } };
    expect(openVerdict(valued, applied)).toMatchObject({ claim: { taskValueBps: 5_000 } });
  });

  it('an extended session has its claim grown by the added amount, or is reported lost', () => {
    expect(extendVerdict(claim, 5n, applied)).toEqual({
      kind: 'extended',
      claim: { ...claim, hold: { ...claim.hold, amountRaw: 15n } },
    });
    expect(extendVerdict(claim, 5n, { kind: 'lost' })).toEqual({ kind: 'lost' });
  });

  it('a repeated settlement reports the first charge, and a different one that the hold was resolved before', () => {
    expect(settleVerdict(already)).toEqual({ kind: 'settled', chargedRaw: 3n, funds });
    expect(settleVerdict({ kind: 'conflict' })).toEqual({ kind: 'already_resolved' });
    expect(settleVerdict({ kind: 'lost' })).toEqual({ kind: 'already_resolved' });
  });

  it('the verdict of a credit tells it from a repeat, a conflict and an unknown agent', () => {
    expect(creditVerdict(applied).kind).toBe('credited');
    expect(creditVerdict(already).kind).toBe('already_credited');
    expect(creditVerdict({ kind: 'conflict' }).kind).toBe('conflict');
    expect(creditVerdict({ kind: 'agent_unknown' }).kind).toBe('agent_unknown');
  });

  it('a repeated withdrawal reports the amount that was taken the first time', () => {
    expect(withdrawVerdict(already)).toEqual({ withdrawnRaw: 3n, isRepeat: true, funds });
    expect(() => withdrawVerdict({ kind: 'agent_unknown' })).toThrow('withdrawal');
  });
});
