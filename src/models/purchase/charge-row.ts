import type { Clock } from '../../kernel/clock.ts';
import type { Rates, Usage } from '../../kernel/price.ts';
import type { ChargeRow } from '../../ledger/rules/companion.ts';
import { makerOf } from '../../ledger/rules/destination.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { Tried } from '../routing/try-sources.ts';
import type { Disbelieved } from './believe.ts';

/** What was used, in the units that its source bills. */
export type Metered = {
  readonly usage: Usage;
  /** Where they are not the source's usual ones. */
  readonly rates?: Rates;
  /** All usage that the upstream reported, where its request cannot have had that much. The rest is never billed. */
  readonly told?: Disbelieved;
  /** The upstream did not say. */
  readonly estimated: boolean;
};

/** The line of the agent's history that one request leaves, whether it cost something or not. */
export function chargeRow(
  request: {
    readonly spender: Spender;
    readonly model: string;
    readonly arrivedMs: number;
    readonly clock: Clock;
  },
  tried: Tried<unknown>,
  bought: Metered | undefined,
): (chargedRaw: bigint) => ChargeRow {
  const { spender, clock } = request;
  const { source, outcome, upstreamMs } = tried;
  // Taken at once, so that the time of the commit itself does not count as anybody's latency.
  const latencyMs = clock.monotonicMs() - request.arrivedMs;
  const usage = bought === undefined ? {} : withFlag(bought.usage, bought.estimated);
  return (costRaw) => ({
    agentId: spender.agentId,
    keyId: spender.keyId ?? null,
    targetUrl: `gateway://${source.provider}/${source.upstreamModel}`,
    targetHost: makerOf(request.model),
    method: 'POST',
    status: bought === undefined ? 'failed' : 'success',
    costRaw,
    model: request.model,
    rail: source.rail,
    usage,
    taskId: spender.taskId ?? null,
    actionId: spender.actionId ?? null,
    customerId: spender.customerId ?? null,
    sessionId: null,
    payee: null,
    responseStatusCode: 'status' in outcome ? outcome.status : null,
    latencyMs: Math.round(latencyMs),
    overheadMs: Math.round(Math.max(0, latencyMs - upstreamMs)),
    upstreamMs: Math.round(upstreamMs),
  });
}

/** `estimated` marks a row whose upstream did not say what it used. */
const withFlag = (usage: Usage, estimated: boolean): Record<string, number> =>
  estimated ? { ...usage, estimated: 1 } : { ...usage };
