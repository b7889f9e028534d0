import { MAX_RAW, minRaw } from '../../src/kernel/amount.ts';
import type { ChargeRow } from '../../src/ledger/rules/companion.ts';
import type {
  CreditVerdict,
  HoldVerdict,
  Ledger,
  OpenSessionVerdict,
  SettleVerdict,
} from '../../src/ledger/rules/ledger.ts';
import { factsOf } from '../../src/ledger/rules/operation.ts';
import type {
  Funds,
  Hold,
  HoldRefusal,
  HoldRequest,
  JournalEntry,
  SessionClaim,
  SettleRequest,
} from '../../src/ledger/rules/requests.ts';
import type { SessionSummary } from '../../src/ledger/rules/session-summary.ts';

type Account = {
  spendableRaw: bigint;
  heldRaw: bigint;
  consumedRaw: bigint;
  /** Set by a test: every hold of this agent is refused so; undefined: none is any more. */
  refusal: HoldRefusal | undefined;
};

type OpenHold = {
  readonly agentId: number;
  amountRaw: bigint;
  /** What it settled to; undefined while it stands. */
  actualRaw?: bigint;
  chargedRaw?: bigint;
};

type Session = { readonly holdId: string; epoch: number; readonly entries: Map<number, bigint> };

export type FakeLedger = Ledger & {
  readonly charges: ChargeRow[];
  /** How sessions went, as they were settled. */
  readonly summaries: SessionSummary[];
  readonly shortfalls: Map<string, bigint>;
  /** Ids that came back with other content: each is a bug of the caller. */
  readonly conflicts: string[];
  openHolds(): number;
  consumedRaw(agentId: number): bigint;
  refuse(agentId: number, refusal: HoldRefusal | undefined): void;
  /** Another process takes a session over. */
  takeOver(sessionId: string): void;
};

/** The ledger's contract in memory: the same verdicts, idempotent on the same ids, nothing durable. */
export function createFakeLedger(): FakeLedger {
  const accounts = new Map<number, Account>();
  const holds = new Map<string, OpenHold>();
  const credits = new Map<string, { agentId: number; amountRaw: bigint }>();
  const withdrawals = new Map<string, bigint>();
  const sessions = new Map<string, Session>();
  const charges: ChargeRow[] = [];
  const summaries: SessionSummary[] = [];
  const shortfalls = new Map<string, bigint>();
  const conflicts: string[] = [];

  const fundsOf = ({ spendableRaw, heldRaw }: Account): Funds => ({ spendableRaw, heldRaw });
  function accountOf(agentId: number): Account {
    let account = accounts.get(agentId);
    if (account === undefined) {
      account = { spendableRaw: 0n, heldRaw: 0n, consumedRaw: 0n, refusal: undefined };
      accounts.set(agentId, account);
    }
    return account;
  }

  function refusalOf(account: Account | undefined, amountRaw: bigint): HoldRefusal | undefined {
    if (account === undefined) return { reason: 'agent_unknown' };
    if (account.refusal !== undefined) return account.refusal;
    const { spendableRaw } = account;
    if (spendableRaw >= amountRaw) return undefined;
    return { reason: 'insufficient_balance', availableRaw: spendableRaw, requiredRaw: amountRaw };
  }

  function holdNow(request: HoldRequest): HoldVerdict {
    const { holdId, amountRaw, spender } = request;
    const { agentId } = spender;
    const hold: Hold = { holdId, agentId, amountRaw, facts: factsOf(request) };
    const account = accounts.get(agentId);
    const known = holds.get(holdId);
    if (known !== undefined && account !== undefined) {
      if (known.agentId !== agentId || known.amountRaw !== amountRaw) {
        conflicts.push(holdId);
        throw new Error(`hold ${holdId} came back with other content`);
      }
      return { kind: 'held', hold, funds: fundsOf(account) };
    }
    const refusal = refusalOf(account, amountRaw);
    if (refusal !== undefined || account === undefined) {
      return { kind: 'refused', refusal: refusal ?? { reason: 'agent_unknown' } };
    }
    account.spendableRaw -= amountRaw;
    account.heldRaw += amountRaw;
    holds.set(holdId, { agentId, amountRaw });
    return { kind: 'held', hold, funds: fundsOf(account) };
  }

  function settleNow(request: SettleRequest): SettleVerdict {
    const { hold, actualRaw, billableRaw = actualRaw } = request;
    const known = holds.get(hold.holdId);
    if (known === undefined) throw new Error(`there is no hold ${hold.holdId}`);
    const account = accountOf(known.agentId);
    if (known.actualRaw !== undefined) {
      if (known.actualRaw !== actualRaw) return { kind: 'already_resolved' };
      return { kind: 'settled', chargedRaw: known.chargedRaw ?? 0n, funds: fundsOf(account) };
    }
    const chargedRaw = minRaw(minRaw(actualRaw, billableRaw), known.amountRaw);
    account.heldRaw -= known.amountRaw;
    account.spendableRaw += known.amountRaw - chargedRaw;
    account.consumedRaw += chargedRaw;
    if (actualRaw > chargedRaw) {
      const name = `shortfall:${request.source}`;
      shortfalls.set(name, (shortfalls.get(name) ?? 0n) + actualRaw - chargedRaw);
    }
    known.actualRaw = actualRaw;
    known.chargedRaw = chargedRaw;
    charges.push(...(request.charges?.(chargedRaw) ?? []));
    return { kind: 'settled', chargedRaw, funds: fundsOf(account) };
  }

  function creditNow(agentId: number, amountRaw: bigint, reference: string): CreditVerdict {
    const known = credits.get(reference);
    if (known !== undefined) {
      if (known.agentId !== agentId || known.amountRaw !== amountRaw) return { kind: 'conflict' };
      return { kind: 'already_credited', funds: fundsOf(accountOf(agentId)) };
    }
    const account = accountOf(agentId);
    if (account.spendableRaw + amountRaw > MAX_RAW) return { kind: 'too_large' };
    account.spendableRaw += amountRaw;
    credits.set(reference, { agentId, amountRaw });
    return { kind: 'credited', funds: fundsOf(account) };
  }

  const owned = (claim: SessionClaim) => {
    const session = sessions.get(claim.sessionId);
    return session?.epoch === claim.epoch ? session : undefined;
  };

  const ledger: FakeLedger = {
    charges,
    summaries,
    shortfalls,
    conflicts,
    openHolds: () => [...holds.values()].filter(({ actualRaw }) => actualRaw === undefined).length,
    consumedRaw: (agentId) => accountOf(agentId).consumedRaw,
    refuse: (agentId, refusal) => {
      accountOf(agentId).refusal = refusal;
    },
    takeOver: (sessionId) => {
      const session = sessions.get(sessionId);
      if (session !== undefined) session.epoch++;
    },

    hold: async (request) => holdNow(request),
    enforce: async (_, refusal) => refusal,
    settle: async (request) => settleNow(request),
    credit: async ({ agentId, amountRaw, reference }) => creditNow(agentId, amountRaw, reference),
    async withdrawAll({ agentId, reference }) {
      const account = accountOf(agentId);
      const before = withdrawals.get(reference);
      const withdrawnRaw = before ?? account.spendableRaw;
      if (before === undefined) account.spendableRaw = 0n;
      withdrawals.set(reference, withdrawnRaw);
      return { withdrawnRaw, isRepeat: before !== undefined, funds: fundsOf(account) };
    },
    async transfer({ agentId, reference, amountRaw }) {
      const account = accountOf(agentId);
      if (withdrawals.has(reference)) return { kind: 'withdrawn', isRepeat: true };
      if (amountRaw > account.spendableRaw) {
        return { kind: 'insufficient', availableRaw: account.spendableRaw };
      }
      account.spendableRaw -= amountRaw;
      withdrawals.set(reference, amountRaw);
      return { kind: 'withdrawn', isRepeat: false };
    },
    async funds(agentId) {
      const account = accounts.get(agentId);
      return account === undefined ? undefined : fundsOf(account);
    },

    async openSession({
      spender,
      sessionId,
      reserveRaw: amountRaw,
      destination,
    }): Promise<OpenSessionVerdict> {
      const holdId = `session:${sessionId}`;
      const verdict = holdNow({ spender, holdId, amountRaw, destination });
      if (verdict.kind === 'refused') return verdict;
      const { hold, funds } = verdict;
      sessions.set(sessionId, { holdId: hold.holdId, epoch: 1, entries: new Map() });
      return { kind: 'opened', claim: { sessionId, epoch: 1, hold }, funds };
    },
    async extend(claim, byRaw) {
      const known = holds.get(claim.hold.holdId);
      if (owned(claim) === undefined || known?.actualRaw !== undefined || known === undefined) {
        return { kind: 'lost' };
      }
      const account = accountOf(known.agentId);
      const refusal = refusalOf(account, byRaw);
      if (refusal !== undefined) return { kind: 'refused', refusal };
      account.spendableRaw -= byRaw;
      account.heldRaw += byRaw;
      known.amountRaw += byRaw;
      const hold: Hold = { ...claim.hold, amountRaw: known.amountRaw };
      return { kind: 'extended', claim: { ...claim, hold } };
    },
    async shrink(claim, byRaw) {
      const known = holds.get(claim.hold.holdId);
      if (owned(claim) === undefined || known === undefined || known.actualRaw !== undefined) {
        return undefined;
      }
      const account = accountOf(known.agentId);
      account.spendableRaw += byRaw;
      account.heldRaw -= byRaw;
      known.amountRaw -= byRaw;
      return { ...claim, hold: { ...claim.hold, amountRaw: known.amountRaw } };
    },
    async journal(claim, entries: readonly JournalEntry[]) {
      const session = owned(claim);
      if (session === undefined) return 'lost';
      for (const { seq, costRaw } of entries) session.entries.set(seq, costRaw);
      return 'written';
    },
    async closeSession({ claim, summary, ...request }) {
      if (owned(claim) === undefined) return { kind: 'already_resolved' };
      if (summary !== undefined) summaries.push(summary);
      return settleNow({ ...request, hold: claim.hold });
    },
    advance: async () => 'moved',
    sweep: async () => {},
    paid: async () => {},
    correct: async () => {},
    report: async () => 'counted',
    invalidate() {},
    recall: () => undefined,
    async settled() {},
  };
  return ledger;
}

/** From here on the ledger holds no more until it is told to, or that it cannot. */
export function holdBack(ledger: FakeLedger) {
  const { extend } = ledger;
  let answer = { grant: () => {}, fail: (_: Error) => {} };
  const answered = new Promise<void>((grant, fail) => {
    answer = { grant, fail };
  });
  ledger.extend = async (...asked) => {
    await answered;
    return extend(...asked);
  };
  return answer;
}
