import fc from 'fast-check';
import type { Operation } from '../../src/ledger/operation.ts';

/**
 * Operations over few agents, holds and references, so that repeats, conflicts and races are the rule.
 * `agentId` counts from 0 and is mapped by the test.
 */
export const arbitraryOperation = (agents: number): fc.Arbitrary<Operation> => {
  const agent = fc.nat({ max: agents - 1 });
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'null', 'é, "q"\\');
  const amountRaw = fc.bigInt({ min: 0n, max: 40n });
  const claimOf = (agentId: number, sessionId: string, epoch: number, held: bigint) => ({
    sessionId,
    epoch,
    hold: { holdId: sessionId, agentId, amountRaw: held },
  });
  const epoch = fc.constantFrom(1, 1, 1, 2);
  return fc.oneof(
    fc.record({ agent, name, amountRaw, opens: fc.boolean() }).map(
      (x): Operation => ({
        kind: 'hold',
        agentId: x.agent,
        spender: { agentId: x.agent, keyId: 1 },
        holdId: x.name,
        amountRaw: x.amountRaw,
        session: x.opens
          ? {
              spender: { agentId: x.agent },
              sessionId: x.name,
              reserveRaw: x.amountRaw,
              kind: 'call',
              target: 'phone://1',
              model: 'local/guide',
              account: 'telephony',
            }
          : null,
      }),
    ),
    fc.record({ agent, name, amountRaw, actualRaw: amountRaw, ends: fc.boolean(), epoch }).map(
      (x): Operation => ({
        kind: 'settle',
        agentId: x.agent,
        hold: { holdId: x.name, agentId: x.agent, amountRaw: x.amountRaw },
        request: { actualRaw: x.actualRaw, account: 'gateway', source: x.name },
        ends: x.ends
          ? { claim: claimOf(x.agent, x.name, x.epoch, x.amountRaw), reason: 'over' }
          : null,
      }),
    ),
    fc.record({ agent, name, amountRaw, byRaw: fc.bigInt({ min: 1n, max: 9n }), epoch }).map(
      (x): Operation => ({
        kind: 'extend',
        agentId: x.agent,
        claim: claimOf(x.agent, x.name, x.epoch, x.amountRaw),
        byRaw: x.byRaw,
      }),
    ),
    fc.record({ agent, name, amountRaw: fc.bigInt({ min: 1n, max: 60n }) }).map(
      (x): Operation => ({
        kind: 'credit',
        agentId: x.agent,
        amountRaw: x.amountRaw,
        reference: x.name,
        events: [],
      }),
    ),
    fc
      .record({ agent, name })
      .map((x): Operation => ({ kind: 'withdraw', agentId: x.agent, reference: x.name })),
    fc.record({ agent, name, epoch, seq: fc.nat({ max: 3 }), amountRaw }).map(
      (x): Operation => ({
        kind: 'journal',
        agentId: x.agent,
        claim: claimOf(x.agent, x.name, x.epoch, 0n),
        entries: [{ seq: x.seq, costRaw: x.amountRaw, usage: { request: 1 } }],
      }),
    ),
  );
};

/** The same operation for another agent: what it names goes along. */
export function withAgent(operation: Operation, agentId: number): Operation {
  switch (operation.kind) {
    case 'hold': {
      const session = operation.session && { ...operation.session, spender: { agentId } };
      return { ...operation, agentId, spender: { agentId }, session };
    }
    case 'settle': {
      const hold = { ...operation.hold, agentId };
      const ends = operation.ends && {
        ...operation.ends,
        claim: { ...operation.ends.claim, hold },
      };
      return { ...operation, agentId, hold, ends };
    }
    case 'extend':
    case 'journal': {
      const { claim } = operation;
      return { ...operation, agentId, claim: { ...claim, hold: { ...claim.hold, agentId } } };
    }
    default:
      return { ...operation, agentId };
  }
}
