import fc from 'fast-check';
import { minRaw } from '../../src/kernel/amount.ts';
import type { ChargeRow } from '../../src/ledger/rules/companion.ts';
import { factsOf, type Operation } from '../../src/ledger/rules/operation.ts';
import type { Destination, Hold, SessionClaim, Spender } from '../../src/ledger/rules/requests.ts';
import type { SpendFacts } from '../../src/policy/policy.ts';
import type { MemoryLedger } from './fakes/memory-ledger.ts';
import { arbitraryPayment, askedPayment, isPayment } from './payment-arbitrary.ts';
import { DESTINATION } from './spending.ts';

type Ask = { readonly spender: Omit<Spender, 'agentId'>; readonly destination: Destination };

/** Who may ask, and for what. The policies of `policy-arbitrary.ts` match them each in another way. */
const ASKS: readonly Ask[] = [
  { spender: {}, destination: DESTINATION },
  { spender: { taskId: 't1' }, destination: { host: 'acme.test', payee: null } },
  {
    spender: { keyRootId: 1, taskId: 't2' },
    destination: { host: 'api.acme.test', payee: '0xaa' },
  },
  { spender: { keyRootId: 2 }, destination: { host: 'other.test', payee: '0xbb' } },
];
const NOBODY: Ask = { spender: {}, destination: DESTINATION };

const NAMES = [...'abcdefghijklmnopqrstuvwxyz', 'null', 'é, "q"\\'];

/** It follows from a hold's name: it is settled under the facts that it was opened with. */
const askOf = (name: string): Ask => ASKS[NAMES.indexOf(name) % ASKS.length] ?? NOBODY;
const factsOfHold = (name: string): SpendFacts => {
  const { spender, destination } = askOf(name);
  return factsOf({ spender: { agentId: 0, ...spender }, destination });
};

/** An operation of the agent numbered `operation.agentId`, counted from 0. */
export type Drawn = {
  readonly operation: Operation;
  /** Its caller knows the hold: it names the one whose it is, and its true amount. */
  readonly knows: boolean;
};

/** Money from outside, as a deposit or granted. */
const arbitraryCredit = (agents: number): fc.Arbitrary<Operation> =>
  fc
    .record({
      agentId: fc.nat({ max: agents - 1 }),
      reference: fc.constantFrom(...NAMES),
      deposit: fc.boolean(),
      amountRaw: fc.bigInt({ min: 1n, max: 60n }),
    })
    .map((x) => ({ kind: 'credit', ...x, events: [] }));

const TASK_VALUES = fc.constantFrom(undefined, undefined, 5_000, 30_000);

/** Operations over few agents, holds and references, so that repeats, conflicts and races are the rule. */
export const arbitraryOperation = (agents: number): fc.Arbitrary<Drawn> => {
  const agent = fc.nat({ max: agents - 1 });
  const name = fc.constantFrom(...NAMES);
  const amountRaw = fc.bigInt({ min: 0n, max: 40n });
  const epoch = fc.constantFrom(1, 1, 1, 2);
  const seq = fc.nat({ max: 3 });
  const common = { agent, name, amountRaw, epoch };
  const operations = fc.oneof(
    { weight: 4, arbitrary: holds(common) },
    { weight: 3, arbitrary: settlements(common) },
    {
      weight: 1,
      arbitrary: fc
        .record({ ...common, byRaw: fc.bigInt({ min: 1n, max: 9n }), taskValueBps: TASK_VALUES })
        .map(({ byRaw, taskValueBps, ...x }): Operation => {
          const claim = { ...claimOf(x), ...(taskValueBps !== undefined && { taskValueBps }) };
          return { kind: 'extend', agentId: x.agent, claim, byRaw };
        }),
    },
    { weight: 1, arbitrary: arbitraryCredit(agents) },
    {
      weight: 1,
      arbitrary: fc.record({ ...common, byRaw: fc.bigInt({ min: 1n, max: 9n }) }).map(
        (x): Operation => ({
          kind: 'shrink',
          agentId: x.agent,
          claim: claimOf(x),
          byRaw: x.byRaw,
          forHoldId: undefined,
        }),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.record({ ...common, seq }).map(
        (x): Operation => ({
          kind: 'journal',
          agentId: x.agent,
          claim: claimOf(x),
          entries: [{ seq: x.seq, costRaw: x.amountRaw, usage: { request: 1 } }],
        }),
      ),
    },
    { weight: 1, arbitrary: rareOperations(agent, name) },
    { weight: 8, arbitrary: arbitraryPayment(agents) },
  );
  return fc.record({ operation: operations, knows: fc.constantFrom(true, true, true, false) });
};

type Common = {
  readonly agent: fc.Arbitrary<number>;
  readonly name: fc.Arbitrary<string>;
  readonly amountRaw: fc.Arbitrary<bigint>;
  readonly epoch: fc.Arbitrary<number>;
};

const holds = ({ agent, name, amountRaw }: Common): fc.Arbitrary<Operation> =>
  fc.record({ agent, name, amountRaw, opens: fc.boolean(), taskValueBps: TASK_VALUES }).map((x) => {
    const { destination } = askOf(x.name);
    const known = { agentId: x.agent, ...askOf(x.name).spender };
    const { taskValueBps } = x;
    const spender = taskValueBps === undefined ? known : { ...known, taskValueBps };
    return {
      kind: 'hold',
      agentId: x.agent,
      holdId: x.name,
      amountRaw: x.amountRaw,
      spender,
      destination,
      reservation: null,
      session: !x.opens
        ? null
        : {
            spender,
            sessionId: x.name,
            reserveRaw: x.amountRaw,
            destination,
            kind: 'call',
            target: 'phone://1',
            model: 'local/guide',
            account: 'telephony',
          },
    };
  });

const settlements = (common: Common): fc.Arbitrary<Operation> =>
  fc
    .record({ ...common, actualRaw: fc.bigInt({ min: 0n, max: 50n }), ends: fc.boolean() })
    .map((x) => ({
      kind: 'settle',
      agentId: x.agent,
      hold: claimOf(x).hold,
      request: { actualRaw: x.actualRaw, account: 'gateway', source: x.name },
      move: null,
      ends: x.ends ? { claim: claimOf(x), reason: 'over' } : null,
    }));

const rareOperations = (
  agent: fc.Arbitrary<number>,
  name: fc.Arbitrary<string>,
): fc.Arbitrary<Operation> =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ agent, name }).map(
        (x): Operation => ({
          kind: 'withdraw',
          agentId: x.agent,
          reference: x.name,
          payout: null,
        }),
      ),
    },
    {
      weight: 1,
      arbitrary: agent.map((agentId): Operation => ({ kind: 'suspend', agentId, policyId: 1 })),
    },
  );

const claimOf = (x: { agent: number; name: string; amountRaw: bigint; epoch: number }) => ({
  sessionId: x.name,
  epoch: x.epoch,
  hold: { holdId: x.name, agentId: x.agent, amountRaw: x.amountRaw, facts: factsOfHold(x.name) },
});

function chargeOf(agentId: number, name: string, costRaw: bigint): ChargeRow {
  const { taskId, host, payee } = factsOfHold(name);
  const odd = NAMES.indexOf(name) % 3 === 0;
  return {
    agentId,
    keyId: null,
    targetUrl: `https://${host}/`,
    targetHost: host ?? 'local',
    method: 'POST',
    status: odd ? 'failed' : 'success',
    costRaw,
    model: odd ? null : name,
    rail: odd ? null : 'gateway',
    usage: { request: 1 },
    taskId,
    actionId: taskId,
    customerId: null,
    sessionId: null,
    payee,
    responseStatusCode: 200,
    latencyMs: 1,
    overheadMs: null,
    upstreamMs: null,
  };
}

/** What there is: who knows names what is true of it. */
type Known = Pick<MemoryLedger, 'holds' | 'reservations' | 'payouts'>;

/**
 * What was drawn, as one of these agents asks it; undefined where no agent would. An agent without a hold by that
 * name takes another one.
 */
export function asked(
  { operation, knows }: Drawn,
  agents: readonly number[],
  known: Known,
): Operation | undefined {
  const agentId = agents[operation.agentId] ?? 0;
  if (isPayment(operation)) return askedPayment(operation, knows, agentId, known);
  const paid = new Set([...known.reservations.values()].map(({ holdId }) => holdId));
  // What is signed away is not settled by its price.
  const open = new Map([...known.holds].filter(([holdId]) => !paid.has(holdId)));
  const trueHold = (hold: Hold): Hold => {
    const others = [...open.keys()];
    const holdId = open.has(hold.holdId)
      ? hold.holdId
      : others[NAMES.indexOf(hold.holdId) % others.length];
    const found = knows && holdId !== undefined ? open.get(holdId) : undefined;
    return found && holdId !== undefined ? { holdId, ...found } : { ...hold, agentId };
  };
  const trueClaim = (claim: SessionClaim): SessionClaim => {
    const hold = trueHold(claim.hold);
    return { ...claim, sessionId: hold.holdId, hold };
  };
  switch (operation.kind) {
    case 'hold': {
      const spender = { ...operation.spender, agentId };
      const session = operation.session && { ...operation.session, spender };
      return { ...operation, agentId, spender, session };
    }
    case 'settle': {
      const hold = trueHold(operation.hold);
      // A call has a charge for each of its legs.
      const charges = (chargedRaw: bigint) => [
        chargeOf(hold.agentId, hold.holdId, chargedRaw / 2n),
        chargeOf(hold.agentId, hold.holdId, chargedRaw - chargedRaw / 2n),
      ];
      const { ends: drawn } = operation;
      const ends = drawn && { ...drawn, claim: trueClaim(drawn.claim) };
      const request = { ...operation.request, charges };
      return { ...operation, agentId: hold.agentId, hold, request, ends };
    }
    case 'shrink': {
      const claim = trueClaim(operation.claim);
      // A hold gives back what it has.
      const byRaw = minRaw(operation.byRaw, claim.hold.amountRaw);
      return { ...operation, agentId: claim.hold.agentId, claim, byRaw };
    }
    case 'extend':
    case 'journal': {
      const claim = trueClaim(operation.claim);
      return { ...operation, agentId: claim.hold.agentId, claim };
    }
    default:
      return { ...operation, agentId };
  }
}
