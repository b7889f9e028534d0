import { isoTime } from '../../kernel/clock.ts';
import { factsOf } from '../../ledger/rules/operation.ts';
import { leftFor } from '../../ledger/rules/project.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import { roomFor, type SpendState } from '../../ledger/rules/spend-state.ts';
import type { SpendFacts } from '../../policy/policy.ts';
import type { Terms } from '../../x402/offer.ts';
import { proxyErrors } from '../errors.ts';
import { openTarget } from '../proxy/vendor-call.ts';
import { fits } from './plan-forecast.ts';
import {
  askMarket,
  askTarget,
  type PlannedCall,
  type ProspectDeps,
  prospectiveAsker,
  prospectOf,
  requireSpendState,
} from './prospect.ts';

/** Returns the price of one call and whether the agent could pay it now, by the rules that decide a payment. */
export async function estimateCall(
  deps: ProspectDeps & { readonly terms: Pick<Terms, 'usdc'> },
  spender: Spender,
  wanted: PlannedCall,
) {
  const { url, method } = wanted;
  const said =
    (await askMarket(deps, wanted)) ??
    (await askTarget(
      deps,
      await openTarget(deps.client, url, prospectiveAsker(deps, spender)),
      wanted,
    ));
  const spendState = await requireSpendState(deps, spender);
  const prospect = prospectOf(said, spendState.rules.walletAddress);
  if (prospect.kind === 'failed') throw proxyErrors.preflightFailed(prospect.detail);
  const { host, cached, atMs } = prospect;
  const freshness = { cached, fetchedAt: isoTime(atMs) };
  if (prospect.kind === 'free') return { url, method, x402: false as const, ...freshness };
  if (prospect.kind === 'sold') {
    const { per, priceRaw } = prospect;
    const facts = factsOf({ spender, destination: { host, payee: null } });
    return {
      url,
      method,
      x402: true as const,
      priceRaw: priceRaw.toString(),
      asset: deps.terms.usdc,
      network: 'base',
      payTo: host,
      scheme: 'credit',
      ...(per !== undefined && { per }),
      ...freshness,
      reflection: reflect(spendState, facts, spender.taskValueBps ?? null, priceRaw),
    };
  }
  const { amountRaw, payTo, scheme, spelled } = prospect.offer;
  const facts = factsOf({ spender, destination: { host, payee: payTo } });
  return {
    url,
    method,
    x402: true as const,
    priceRaw: amountRaw.toString(),
    asset: spelled.asset,
    network: 'base',
    payTo: spelled.payTo,
    scheme,
    ...freshness,
    reflection: reflect(spendState, facts, spender.taskValueBps ?? null, amountRaw),
  };
}

/** Returns the price beside the agent's funds and limits. No credit is given, so that the headroom is the available amount. */
function reflect(
  spendState: SpendState,
  facts: SpendFacts,
  taskValueBps: number | null,
  priceRaw: bigint,
) {
  const room = roomFor(spendState, facts, taskValueBps);
  const availableRaw = leftFor(spendState.state, room, facts);
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
