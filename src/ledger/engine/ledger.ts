import { isLive } from '../../../machines/reservation.ts';
import { assert } from '../../kernel/assert.ts';
import type { Resolution } from '../rules/answer.ts';
import {
  creditVerdict,
  extendVerdict,
  holdVerdict,
  openVerdict,
  settleVerdict,
  shrinkVerdict,
  transferVerdict,
  withdrawVerdict,
} from '../rules/answer.ts';
import type { Ledger } from '../rules/ledger.ts';
import type { ExtendOperation, HoldOperation, SettleOperation } from '../rules/operation.ts';
import type { ReservationMove } from '../rules/payment.ts';
import {
  type Hold,
  type HoldRefusal,
  type HoldRequest,
  type OpenSession,
  type SessionEnd,
  type SettleRequest,
  stopsAgent,
} from '../rules/requests.ts';
import type { LedgerCounters } from './ledger-counters.ts';
import { type LedgerDeps, LedgerInbox } from './ledger-inbox.ts';
import { giveBackTo, lendFrom } from './lend-reserve.ts';
import { LEDGER_LIMITS } from './limits.ts';

export type LiveLedger = Ledger & {
  readonly counters: LedgerCounters;
  /** Returns the number of waiting operations and of balance actors in memory. */
  load(): { readonly waiting: number; readonly actors: number };
  /** Resolves when no operation waits any more, or after `withinMs` milliseconds. */
  drain(withinMs: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Creates the ledger of this process: one actor for each agent in front, one writer behind them, and the database. */
export function createLedger(deps: LedgerDeps): LiveLedger {
  const inbox = new LedgerInbox(deps);
  const admit = (operation: HoldOperation | ExtendOperation, isQuiet = false) =>
    isQuiet ? inbox.submit(operation) : admitted(inbox, deps, operation);
  const enforcedUnlessQuiet = async (
    resolution: Resolution,
    { isQuiet = false, spender }: HoldRequest,
  ): Promise<Resolution> => {
    if (resolution.kind !== 'refused' || isQuiet) return resolution;
    const refusal = await enforced(inbox, deps, spender.agentId, resolution.refusal);
    return { kind: 'refused', refusal };
  };

  return {
    counters: inbox.counters,
    enforce: (agentId, refusal) => enforced(inbox, deps, agentId, refusal),
    load: () => ({ waiting: inbox.waiting, actors: inbox.actors }),
    drain: (withinMs) => inbox.drain(withinMs),
    [Symbol.asyncDispose]: () => inbox.stop(),

    async hold(request) {
      assert(request.amountRaw >= 0n, 'a hold is not negative');
      const holding = holdOf(request.spender.agentId, request);
      const { reserve } = request.spender;
      if (reserve === undefined || request.amountRaw === 0n) {
        return holdVerdict(request, await admit(holding, request.isQuiet));
      }
      const lent = await lendFrom(inbox, reserve, holding);
      return holdVerdict(request, await enforcedUnlessQuiet(lent, request));
    },
    async settle(request) {
      const { lender } = request.hold;
      const settling = settlementOf(request);
      if (lender === undefined) return settleVerdict(await inbox.submit(settling));
      return settleVerdict(await giveBackTo(inbox, lender, request, settling));
    },
    async credit({ agentId, amountRaw, reference, events = [], act, deposit = false }) {
      assert(amountRaw > 0n, 'a credit adds something');
      return creditVerdict(
        await inbox.submit({ kind: 'credit', agentId, amountRaw, reference, events, act, deposit }),
      );
    },
    funds: async (agentId) => (await inbox.read(() => deps.store.load(agentId)))?.state,
    ...sessionsIn(inbox, admit),
    ...payoutsIn(inbox),
    async advance({ agentId, holdId, move }) {
      assert(isLive(move.from) && isLive(move.to), 'what ends a payment resolves its hold');
      const resolution = await inbox.submit({ kind: 'advance', agentId, holdId, move });
      return isDone(resolution) ? 'moved' : 'lost';
    },
    async correct(request) {
      const { amountRaw, move } = request;
      assert(amountRaw > 0n, 'a correction takes something');
      assert(!isLive(move.from) && move.to === move.from, 'a correction changes no end');
      requireDone(await inbox.submit({ kind: 'correct', ...request }));
    },
    report: (request) => report(inbox, request),
    invalidate: (agentId) => inbox.forget(agentId),
    recall: (agentId) => inbox.recall(agentId),
    settled: (agentId) => inbox.settled(agentId),
  };
}

const report: (inbox: LedgerInbox, request: ReportRequest) => ReturnType<Ledger['report']> = async (
  inbox,
  request,
) => {
  assert(request.call.costRaw >= 0n, 'no call costs less than nothing');
  const { kind } = await inbox.submit({ kind: 'report', ...request });
  if (kind === 'applied') return 'counted';
  return kind === 'agent_unknown' ? kind : 'stale';
};

type ReportRequest = Parameters<Ledger['report']>[0];

/** Makes the operations of USDC that leaves an agent's wallet by a payout. */
const payoutsIn = (
  inbox: LedgerInbox,
): Pick<Ledger, 'withdrawAll' | 'transfer' | 'sweep' | 'paid'> => ({
  async withdrawAll({ agentId, reference, payout = null }) {
    return withdrawVerdict(await inbox.submit({ kind: 'withdraw', agentId, reference, payout }));
  },
  async transfer({ agentId, reference, amountRaw, payout }) {
    assert(amountRaw > 0n, 'a transfer moves something');
    const withdrawing = { kind: 'withdraw', agentId, reference, amountRaw, payout } as const;
    return transferVerdict(await inbox.submit(withdrawing));
  },
  async sweep({ agentId, payout, leastRaw }) {
    await inbox.submit({ kind: 'sweep', agentId, payout, leastRaw });
  },
  async paid({ agentId, nonce, amountRaw, txHash }) {
    requireDone(await inbox.submit({ kind: 'paid', agentId, nonce, amountRaw, txHash }));
  },
});

type Admit = (operation: HoldOperation | ExtendOperation, isQuiet?: boolean) => Promise<Resolution>;

/** Makes the operations of live sessions. */
function sessionsIn(
  inbox: LedgerInbox,
  admit: Admit,
): Pick<Ledger, 'openSession' | 'extend' | 'shrink' | 'journal' | 'closeSession'> {
  return {
    async openSession(session) {
      assert(session.reserveRaw >= 0n, 'a reserve is not negative');
      return openVerdict(session, await admit(holdOfSession(session), session.isQuiet));
    },
    async extend(claim, byRaw, isQuiet = false) {
      assert(byRaw > 0n, 'an extension adds something');
      const { agentId } = claim.hold;
      const extending = { kind: 'extend', agentId, claim, byRaw } as const;
      return extendVerdict(claim, byRaw, await admit(extending, isQuiet));
    },
    async shrink(claim, byRaw, forHoldId) {
      assert(byRaw > 0n && byRaw <= claim.hold.amountRaw, 'a hold gives back what it has');
      const { agentId } = claim.hold;
      const shrinking = { kind: 'shrink', agentId, claim, byRaw, forHoldId } as const;
      const resolution = await inbox.submit(shrinking);
      return shrinkVerdict(claim, byRaw, resolution);
    },
    async journal(claim, entries) {
      assert(
        entries.length <= LEDGER_LIMITS.calls.journalEntries,
        'a journal entry a piece of work',
      );
      const { agentId } = claim.hold;
      const resolution = await inbox.submit({ kind: 'journal', agentId, claim, entries });
      return resolution.kind === 'applied' ? 'written' : 'lost';
    },
    async closeSession({ claim, reason, summary, ...request }) {
      const ends = { claim, reason, summary };
      return settleVerdict(await inbox.submit(settlement(claim.hold, request, ends)));
    },
  };
}

const settlementOf = (request: SettleRequest): SettleOperation =>
  settlement(request.hold, request, null, request.move);

function settlement(
  hold: Hold,
  request: Omit<SettleRequest, 'hold'>,
  ends: SessionEnd | null,
  move: ReservationMove | null = null,
): SettleOperation {
  assert(request.actualRaw >= 0n, 'nothing costs less than nothing');
  if (move !== null) {
    const takenRaw = move.to === 'settled' ? hold.amountRaw : 0n;
    assert(!isLive(move.to), 'a payment that has not ended keeps its hold');
    assert(request.actualRaw === takenRaw, 'a payment takes all of its hold, or nothing');
  }
  return { kind: 'settle', agentId: hold.agentId, hold, request, ends, move };
}

const holdOfSession = (session: OpenSession): HoldOperation => {
  const { spender, destination, sessionId: holdId, reserveRaw: amountRaw } = session;
  const { agentId } = spender;
  const reservation = null;
  return { kind: 'hold', agentId, spender, holdId, amountRaw, destination, session, reservation };
};

const holdOf = (agentId: number, request: HoldRequest): HoldOperation => {
  const { spender, holdId, amountRaw, destination, reservation = null } = request;
  const session = null;
  return { kind: 'hold', agentId, spender, holdId, amountRaw, destination, session, reservation };
};

const isDone = ({ kind }: Resolution): boolean => kind === 'applied' || kind === 'already';

function requireDone(resolution: Resolution): void {
  assert(isDone(resolution), `what the chain has said came to "${resolution.kind}"`);
}

/**
 * Submits an operation. When a cap that suspends its agent refuses it, the agent is suspended before the refusal is returned.
 */
async function admitted(
  inbox: LedgerInbox,
  deps: Pick<LedgerDeps, 'onSuspended'>,
  operation: HoldOperation | ExtendOperation,
): Promise<Resolution> {
  const resolution = await inbox.submit(operation);
  if (resolution.kind !== 'refused') return resolution;
  const { refusal } = resolution;
  return { kind: 'refused', refusal: await enforced(inbox, deps, operation.agentId, refusal) };
}

async function enforced(
  inbox: LedgerInbox,
  deps: Pick<LedgerDeps, 'onSuspended'>,
  agentId: number,
  refusal: HoldRefusal,
): Promise<HoldRefusal> {
  if (!stopsAgent(refusal)) return refusal;
  await inbox.submit({ kind: 'suspend', agentId, policyId: refusal.breach.policy.id });
  deps.onSuspended?.(agentId);
  return { ...refusal, suspended: true };
}
