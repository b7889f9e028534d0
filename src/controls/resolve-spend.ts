import type { ApiError, Fields } from '../kernel/api-error.ts';
import { refuse } from '../kernel/refuse.ts';
import { barOf, refusalOf, teamRefusalOf } from '../ledger/admit.ts';
import { roomFor, type Standings } from '../ledger/standings.ts';
import { refusalOfDestination } from '../policy/allowlist.ts';
import type { SpendFacts } from '../policy/policy.ts';
import { bindingOf, type ChainRow } from './limit-chain.ts';
import { refuseSpend } from './refuse-spend.ts';

/** A payment that a developer wonders about: to a destination that the agent chooses and pays itself. */
export type SpendWish = {
  readonly host: string;
  /** The payee's wallet; null while nobody has named it. */
  readonly recipient: string | null;
  readonly amountRaw: bigint;
  readonly taskId: string | null;
  /** The key that would ask, and the first of its line of rotations. */
  readonly key: { readonly id: number; readonly rootId: number } | null;
};

export type Resolved =
  | {
      readonly decision: 'approve';
      readonly effectiveRemainingRaw: string;
      readonly binding: ChainRow;
    }
  | { readonly decision: 'decline'; readonly decline: Fields & { readonly error: string } };

/** What would become of a payment now, by the same rules that a hold is decided by. Nothing moves by asking. */
export function resolveSpend(standings: Standings, wish: SpendWish): Resolved {
  const host = hostOf(wish.host);
  const refusal =
    refusalOfDestinationTo(standings, wish, host) ??
    refusalOfHold(standings, factsOf(wish, host), wish);
  if (refusal !== undefined) {
    return { decision: 'decline', decline: { error: refusal.error, ...refusal.fields } };
  }
  const { remainingRaw, row } = bindingOf(standings, roomFor(standings, factsOf(wish, host), null));
  return {
    decision: 'approve',
    effectiveRemainingRaw: remainingRaw.toString(),
    binding: row,
  };
}

const factsOf = (wish: SpendWish, host: string | undefined): SpendFacts => ({
  keyRootId: wish.key?.rootId ?? null,
  taskId: wish.taskId,
  host: host ?? null,
  payee: wish.recipient?.toLowerCase() ?? null,
});

/** What is asked before there is anything to pay: may the agent spend at all, and go there? */
function refusalOfDestinationTo(
  { rules, moment }: Standings,
  { key, recipient, host: asked }: SpendWish,
  host: string | undefined,
): ApiError | undefined {
  const barred = barOf(rules, key?.id, moment);
  if (barred !== undefined) return refuseSpend(barred);
  if (host === undefined) return refuse.controls.unresolvableHost(asked);
  const { allowlistMode: mode } = rules;
  const known = [...rules.policies, ...rules.teamPolicies];
  const unlisted = refusalOfDestination(mode, known, { host, payee: null }, moment.nowSec);
  if (unlisted !== undefined) return refuseSpend(unlisted);
  const needsPayee = mode === 'vendor' || mode === 'both';
  if (needsPayee && recipient === null) return refuse.controls.unresolvableRecipient(host);
  return undefined;
}

function refusalOfHold(
  standings: Standings,
  facts: SpendFacts,
  { amountRaw, key }: SpendWish,
): ApiError | undefined {
  const { rules, moment, counters, teamCounters, state } = standings;
  const { spendableRaw } = state;
  const keyId = key?.id;
  const demand = { keyId, amountRaw, facts, taskValueBps: null, spendableRaw, counters };
  const refusal =
    refusalOf(rules, demand, moment) ?? teamRefusalOf(rules, demand, moment, teamCounters);
  return refusal && refuseSpend(refusal);
}

const NAME =
  /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const ADDRESS = /^\[[0-9a-f:.]+\]$/;

/** A host as calls name it: lower case, without a port. Undefined for what no call could go to. */
export function hostOf(text: string): string | undefined {
  const asked = `http://${text.trim()}`;
  if (/[/?#@\\]/.test(text) || !URL.canParse(asked)) return undefined;
  const host = new URL(asked).hostname.replace(/\.$/, '');
  return host.length <= MAX_HOST_CHARS && (NAME.test(host) || ADDRESS.test(host))
    ? host
    : undefined;
}

const MAX_HOST_CHARS = 253;
