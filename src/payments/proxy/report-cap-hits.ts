import { ApiError } from '../../kernel/api-error.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import type { EventRow } from '../../ledger/rules/companion.ts';
import { WEBHOOK_LIMITS } from '../../webhooks/limits.ts';
import { spendCapHit } from '../../webhooks/payment-event.ts';

/** A refused call: its agent and its URL. */
type RefusedCall = { readonly agentId: number; readonly url: string };

/** Writes an event for a paid call that a cap refused. Never rejects; resolves before the refusal is sent to the client. */
export type ReportCapHit = (call: RefusedCall, refusal: unknown) => Promise<void>;

/**
 * Creates the reporter of cap hits. Repeated hits of an agent's cap at this process cause one event per
 * `WEBHOOK_LIMITS.capHit.intervalMs`.
 */
export function createCapHitReports(deps: {
  readonly clock: Clock;
  readonly log: Log;
  readonly findOwner: (
    agentId: number,
  ) => Promise<{ readonly accountId: string; readonly wallet: string | null } | undefined>;
  readonly insert: (events: readonly EventRow[]) => Promise<void>;
}): ReportCapHit {
  const { clock, findOwner, insert, log } = deps;
  const reportedAt = new RecentMap<string, number>(WEBHOOK_LIMITS.capHit.remembered);

  return async ({ agentId, url }, refusal) => {
    if (!(refusal instanceof ApiError) || refusal.error !== 'spend_limit_exceeded') return;
    const { limit, policyId, required, spent } = refusal.fields;
    const cap = `${agentId} ${policyId ?? 'session'}`;
    const nowMs = clock.monotonicMs();
    const before = reportedAt.get(cap);
    if (before !== undefined && nowMs - before < WEBHOOK_LIMITS.capHit.intervalMs) return;
    reportedAt.set(cap, nowMs);
    try {
      const owner = await findOwner(agentId);
      if (owner === undefined) return;
      const amounts = { required: textOf(required), spent: textOf(spent), limit: textOf(limit) };
      const policy = typeof policyId === 'number' ? policyId : null;
      const host = URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : '';
      const hit = {
        ...owner,
        ...amounts,
        agentId,
        url,
        host,
        error: refusal.error,
        policyId: policy,
      };
      await insert([spendCapHit(hit)]);
    } catch (err) {
      reportedAt.delete(cap);
      log.error({ err, agentId }, 'a spend cap that was hit could not be reported');
    }
  };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
