import { isoTime } from '../kernel/clock.ts';
import { refuse } from '../kernel/refuse.ts';
import type { Spender } from '../ledger/ledger.ts';
import { factsOf } from '../ledger/operation.ts';
import { payableRaw } from '../ledger/project.ts';
import { roomFor, type Standings } from '../ledger/standings.ts';
import type { SpendFacts } from '../policy/policy.ts';
import { fits } from './plan-forecast.ts';
import {
  askTarget,
  type CallWish,
  type ProspectDeps,
  prospectOf,
  requireStandings,
} from './prospect.ts';
import { openTarget } from './vendor-call.ts';

/** What one call would cost, and whether the agent could pay for it now, as a payment of it would be decided. */
export async function estimateCall(deps: ProspectDeps, spender: Spender, wish: CallWish) {
  const { url, method } = wish;
  const said = await askTarget(deps, await openTarget(deps.client, url), wish);
  const standings = await requireStandings(deps, spender);
  const prospect = prospectOf(said, standings.rules.walletAddress);
  if (prospect.kind === 'failed') throw refuse.proxy.preflightFailed(prospect.detail);
  const { host, cached, atMs } = prospect;
  const told = { cached, fetchedAt: isoTime(atMs) };
  if (prospect.kind === 'free') return { url, method, x402: false as const, ...told };
  const { amountRaw, payTo, scheme, spelled } = prospect.offer;
  const facts = factsOf({ spender, destination: { host, payee: payTo } });
  return {
    ...{ url, method, x402: true as const },
    priceRaw: amountRaw.toString(),
    asset: spelled.asset,
    network: 'base',
    payTo: spelled.payTo,
    scheme,
    ...told,
    reflection: reflect(standings, facts, spender.taskValueBps ?? null, amountRaw),
  };
}

/** What the payment would meet. Nothing is borrowed by itself, so that the headroom is what is available. */
function reflect(
  standings: Standings,
  facts: SpendFacts,
  taskValueBps: number | null,
  priceRaw: bigint,
) {
  const room = roomFor(standings, facts, taskValueBps);
  const availableRaw = payableRaw(standings.state, room);
  const session = room.caps.find(
    ({ policy }) => policy.kind === 'session' && policy.agentId !== null,
  );
  const available = availableRaw.toString();
  return {
    available,
    headroomToAutoBorrow: available,
    sessionSpendRemaining: session?.remainingRaw.toString() ?? null,
    willExceedAvailable: priceRaw > availableRaw,
    willExceedHeadroom: priceRaw > availableRaw,
    willExceedSpendLimit: !room.caps.every((cap) => fits(cap, priceRaw)),
  };
}
