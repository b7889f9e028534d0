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
  it('answers a repeated hold like the first one', () => {
    const held = { kind: 'held', hold: { ...hold, holdId: 'h', amountRaw: 1n }, funds };
    expect(holdVerdict(request, applied)).toEqual(held);
    expect(holdVerdict(request, already)).toEqual(held);
  });

  it('throws where a hold id was used for something else, and refuses an unknown agent', () => {
    expect(() => holdVerdict(request, { kind: 'conflict' })).toThrow('used before');
    expect(holdVerdict(request, { kind: 'agent_unknown' })).toEqual({
      kind: 'refused',
      refusal: { reason: 'agent_unknown' },
    });
  });

  it('opens a session on its first epoch with a hold of its own name', () => {
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

  it('grows the claim by what was added, or says that it is lost', () => {
    expect(extendVerdict(claim, 5n, applied)).toEqual({
      kind: 'extended',
      claim: { ...claim, hold: { ...claim.hold, amountRaw: 15n } },
    });
    expect(extendVerdict(claim, 5n, { kind: 'lost' })).toEqual({ kind: 'lost' });
  });

  it('says what was charged the first time, and that another resolution came before', () => {
    expect(settleVerdict(already)).toEqual({ kind: 'settled', chargedRaw: 3n, funds });
    expect(settleVerdict({ kind: 'conflict' })).toEqual({ kind: 'already_resolved' });
    expect(settleVerdict({ kind: 'lost' })).toEqual({ kind: 'already_resolved' });
  });

  it('tells a credit from a repeat, a conflict and an unknown agent', () => {
    expect(creditVerdict(applied).kind).toBe('credited');
    expect(creditVerdict(already).kind).toBe('already_credited');
    expect(creditVerdict({ kind: 'conflict' }).kind).toBe('conflict');
    expect(creditVerdict({ kind: 'agent_unknown' }).kind).toBe('agent_unknown');
  });

  it('answers a repeated withdrawal with what was taken the first time', () => {
    expect(withdrawVerdict(already)).toEqual({ withdrawnRaw: 3n, isRepeat: true, funds });
    expect(() => withdrawVerdict({ kind: 'agent_unknown' })).toThrow('withdrawal');
  });
});
