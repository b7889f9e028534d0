import { barOf } from '../ledger/rules/admit.ts';
import { factsOfCall } from '../ledger/rules/operation.ts';
import { roomFor, type SpendState } from '../ledger/rules/spend-state.ts';
import type { InboundConnection } from './connection.ts';
import { orchestratorErrors } from './errors.ts';
import { PLATFORMS, type Provider } from './platform.ts';

/** Reason for which a call is refused before it begins. */
export type Refusal =
  | 'unknown_agent'
  | 'agent_suspended'
  | 'budget_exceeded'
  | 'admission_unavailable';

/** Returns the reason to refuse a call, by the agent's status and the caps that would count it. Undefined: it may begin. */
export function refusalOfCall(
  { agentStatus, provider }: Pick<InboundConnection, 'agentStatus' | 'provider'>,
  state: SpendState | undefined,
): Refusal | undefined {
  if (agentStatus === 'suspended') return 'agent_suspended';
  if (agentStatus !== 'active' || state === undefined) return 'unknown_agent';
  if (barOf(state.rules, undefined, state.position) !== undefined) return 'agent_suspended';
  // The platform is paid elsewhere, so the balance says nothing. The cost is known only after the call: any room admits it.
  const facts = factsOfCall({ host: PLATFORMS[provider].host, taskId: null });
  const isUsedUp = roomFor(state, facts, null).caps.some(({ remainingRaw }) => remainingRaw === 0n);
  return isUsedUp ? 'budget_exceeded' : undefined;
}

/** Sentences that Vapi speaks to the caller. */
const SPOKEN: Readonly<Record<Refusal, string>> = {
  unknown_agent: 'Sorry, this number is not in service.',
  agent_suspended: 'Sorry, this assistant is not available at the moment. Goodbye.',
  budget_exceeded: 'Sorry, this assistant cannot take further calls at the moment. Goodbye.',
  admission_unavailable: 'Sorry, this call cannot be taken right now. Please try again later.',
};

export type Answer = { readonly status: number; readonly body: unknown };

/**
 * Returns the answer, in the platform's own form, to its question whether a call may begin. Some platforms connect a call after an
 * error status, so they get the refusal as a 200.
 */
export function answerOf(
  provider: Provider,
  reason: Refusal | undefined,
  assistantId: string | undefined,
): Answer {
  switch (provider) {
    case 'vapi':
      if (reason !== undefined) return { status: 200, body: { error: SPOKEN[reason] } };
      if (assistantId === undefined) throw orchestratorErrors.assistantRequired();
      return { status: 200, body: { assistantId } };
    case 'retell': {
      const body = { call_inbound: reason === undefined ? {} : { reject: true } };
      return { status: 200, body };
    }
    case 'bland':
      return reason === undefined
        ? { status: 200, body: { allowed: true } }
        : { status: 402, body: { allowed: false, reason } };
    default:
      return { status: 200, body: { allowed: reason === undefined, reason: reason ?? null } };
  }
}
