import type { ApiError, Fields } from '../../kernel/api-error.ts';
import { barOf, refusalOf, teamRefusalOf } from '../../ledger/rules/admit.ts';
import { roomFor, type SpendState } from '../../ledger/rules/spend-state.ts';
import { refusalOfDestination } from '../../policy/allowlist.ts';
import type { SpendFacts } from '../../policy/policy.ts';
import { controlErrors } from '../errors.ts';
import { bindingOf, type ChainRow } from './limit-chain.ts';
import { refuseSpend } from './refuse-spend.ts';

/** Hypothetical payment, whose outcome a developer wants to know: the agent chooses the recipient and pays it itself. */
export type SpendRequest = {
  readonly host: string;
  /** Wallet of the payee. Null when it is not known yet. */
  readonly recipient: string | null;
  readonly amountRaw: bigint;
  readonly taskId: string | null;
  /**
   * Key with which the agent would pay (`id`), and the first key in its line of rotations (`rootId`). Null: no particular key.
   */
  readonly key: { readonly id: number; readonly rootId: number } | null;
};

export type ResolvedSpend =
  | {
      readonly decision: 'approve';
      readonly effectiveRemainingRaw: string;
      readonly binding: ChainRow;
    }
  | { readonly decision: 'decline'; readonly decline: Fields & { readonly error: string } };

/** Decides a planned payment by the rules that decide a hold. It moves no money. */
export function resolveSpend(spendState: SpendState, wanted: SpendRequest): ResolvedSpend {
  const host = hostOf(wanted.host);
  const refusal =
    refusalOfDestinationTo(spendState, wanted, host) ??
    refusalOfHold(spendState, factsOf(wanted, host), wanted);
  if (refusal !== undefined) {
    return { decision: 'decline', decline: { error: refusal.error, ...refusal.fields } };
  }
  const { remainingRaw, row } = bindingOf(
    spendState,
    roomFor(spendState, factsOf(wanted, host), null),
  );
  return {
    decision: 'approve',
    effectiveRemainingRaw: remainingRaw.toString(),
    binding: row,
  };
}

const factsOf = (wanted: SpendRequest, host: string | undefined): SpendFacts => ({
  keyRootId: wanted.key?.rootId ?? null,
  taskId: wanted.taskId,
  host: host ?? null,
  payee: wanted.recipient?.toLowerCase() ?? null,
});

/** Returns the refusal of an agent that may not spend at all or not at this destination, before the amount is checked. */
function refusalOfDestinationTo(
  { rules, position }: SpendState,
  { key, recipient, host: asked }: SpendRequest,
  host: string | undefined,
): ApiError | undefined {
  const barred = barOf(rules, key?.id, position);
  if (barred !== undefined) return refuseSpend(barred);
  if (host === undefined) return controlErrors.unresolvableHost(asked);
  const { allowlistMode: mode } = rules;
  const known = [...rules.policies, ...rules.teamPolicies];
  const unlisted = refusalOfDestination(mode, known, { host, payee: null }, position.nowSec);
  if (unlisted !== undefined) return refuseSpend(unlisted);
  const needsPayee = mode === 'vendor' || mode === 'both';
  if (needsPayee && recipient === null) return controlErrors.unresolvableRecipient(host);
  return undefined;
}

function refusalOfHold(
  spendState: SpendState,
  facts: SpendFacts,
  { amountRaw, key }: SpendRequest,
): ApiError | undefined {
  const { rules, position, counters, teamCounters, state } = spendState;
  const { spendableRaw } = state;
  const keyId = key?.id;
  const demand = { keyId, amountRaw, facts, taskValueBps: null, spendableRaw, counters };
  const refusal =
    refusalOf(rules, demand, position) ?? teamRefusalOf(rules, demand, position, teamCounters);
  return refusal && refuseSpend(refusal);
}

const NAME =
  /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const ADDRESS = /^\[[0-9a-f:.]+\]$/;

/**
 * Returns a host in the form of calls: lower case, without a port. Undefined for a text that cannot be a call's host.
 *
 * @internal Tests go through the spellings of hosts.
 */
export function hostOf(text: string): string | undefined {
  const asked = `http://${text.trim()}`;
  if (/[/?#@\\]/.test(text) || !URL.canParse(asked)) return undefined;
  const host = new URL(asked).hostname.replace(/\.$/, '');
  return host.length <= MAX_HOST_CHARS && (NAME.test(host) || ADDRESS.test(host))
    ? host
    : undefined;
}

const MAX_HOST_CHARS = 253;
