import { type Clock, within } from '../../kernel/clock.ts';
import { factsOf } from '../../ledger/rules/operation.ts';
import { payableRaw } from '../../ledger/rules/project.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import { roomFor, type SpendState } from '../../ledger/rules/spend-state.ts';
import type { CheckedDestination } from '../../platform/egress/destination-guard.ts';
import type { Asker } from '../../platform/egress/fair-shares.ts';
import { proxyErrors } from '../errors.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import { openTarget } from '../proxy/vendor-call.ts';
import { type PlannedBreach, type PlannedCalls, planForecast } from './plan-forecast.ts';
import {
  askMarket,
  askTarget,
  type PlannedCall,
  type Prospect,
  type ProspectDeps,
  prospectiveAsker,
  prospectOf,
  requireSpendState,
  type TargetPrice,
} from './prospect.ts';

export type ForecastDeps = ProspectDeps & { readonly clock: Clock };

export type ForecastRequest = PlannedCall & {
  readonly count: number;
  /** Task that the calls count under. Undefined: the task of the request for the forecast. */
  readonly taskId: string | undefined;
};

/**
 * Returns the total price of many calls, with the caps and the balance that stand in their way now. A target that may not be
 * called refuses the whole forecast before any target is called; a target that does not answer is reported in its item.
 */
export async function forecastCalls(
  deps: ForecastDeps,
  spender: Spender,
  wishes: readonly ForecastRequest[],
) {
  const said = await askAll(deps, prospectiveAsker(deps, spender), wishes);
  const spendState = await requireSpendState(deps, spender);
  const { walletAddress } = spendState.rules;
  const prospects = said.map((asked) => prospectOf(asked, walletAddress));
  if (prospects.every(({ kind }) => kind === 'failed')) {
    throw proxyErrors.forecastFailed(`None of the calls could be priced. ${whyOf(prospects)}`);
  }
  const calls = prospects.flatMap((prospect, index) =>
    plannedCalls(spender, wishes[index] as ForecastRequest, prospect, index),
  );
  const plan = planForecast(spendState, spender.taskValueBps ?? null, calls);
  return {
    forecast: {
      totalRaw: plan.totalRaw.toString(),
      currency: 'USDC',
      decimals: 6,
      items: prospects.map((prospect, i) => itemOf(prospect, wishes[i] as ForecastRequest, i)),
      reflection: {
        available: availableTo(spendState, spender).toString(),
        willExceedAvailable: plan.willExceedAvailable,
        willExceedSpendLimit: plan.breaches.some(({ policyId }) => policyId !== null),
      },
    },
    policyPreflight: { ok: plan.breaches.length === 0, breaches: plan.breaches.map(breachRecord) },
  };
}

/**
 * Requests the prices of all targets. Nothing is sent before every target is checked: a blocked target refuses the whole
 * forecast.
 */
async function askAll(
  deps: ForecastDeps,
  asker: Asker,
  wishes: readonly ForecastRequest[],
): Promise<readonly TargetPrice[]> {
  const { clock, client } = deps;
  const endMs = clock.monotonicMs() + PAYMENT_LIMITS.forecast.timeoutMs;
  const inTime = async <T>(work: () => Promise<T>): Promise<T | 'late'> => {
    const leftMs = endMs - clock.monotonicMs();
    return leftMs <= 0 ? 'late' : within(clock, leftMs, work(), () => 'late' as const);
  };
  const judged = new Map<string, Promise<CheckedDestination | undefined | 'late'>>();
  const targets = await eachOf(wishes, async ({ url }) => {
    if (deps.marketplace.matches(url)) return undefined;
    const judgement = judged.get(url) ?? inTime(() => openTarget(client, url, asker));
    judged.set(url, judgement);
    return judgement;
  });
  return eachOf(wishes, async (wanted, i) => {
    const sold = await askMarket(deps, wanted);
    if (sold !== undefined) return sold;
    const target = targets[i];
    const asked = target === 'late' ? target : await inTime(() => askTarget(deps, target, wanted));
    return asked === 'late' ? LATE : asked;
  });
}

const LATE: TargetPrice = { kind: 'failed', detail: 'There was no time left to ask the target.' };

/** Runs the work for every item, a few at a time. Rejects with the first failure, once all work that had begun is over. */
async function eachOf<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const failed: unknown[] = [];
  const left = items.entries();
  const worker = async () => {
    for (const [i, item] of left) {
      try {
        results[i] = await work(item, i);
      } catch (error) {
        failed.push(error);
      }
      if (failed.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: PAYMENT_LIMITS.forecast.probes }, worker));
  if (failed.length > 0) throw failed[0];
  return results;
}

function plannedCalls(
  spender: Spender,
  { count, taskId }: ForecastRequest,
  prospect: Prospect,
  index: number,
): PlannedCalls[] {
  if (prospect.kind === 'failed') return [];
  const { host } = prospect;
  const payee = prospect.kind === 'priced' ? prospect.offer.payTo : null;
  const priceRaw = priceRawOf(prospect);
  const tagged = taskId === undefined ? spender : { ...spender, taskId };
  const facts = { ...factsOf({ spender: tagged, destination: { host, payee } }), host };
  return [{ index, priceRaw, count, facts }];
}

function priceRawOf(prospect: Exclude<Prospect, { kind: 'failed' }>): bigint {
  if (prospect.kind === 'free') return 0n;
  return prospect.kind === 'sold' ? prospect.priceRaw : prospect.offer.amountRaw;
}

function itemOf(prospect: Prospect, { url, method, count }: ForecastRequest, index: number) {
  const asked = { index, url, method, count };
  if (prospect.kind === 'failed') {
    const { detail } = prospect;
    const unknown = { x402: null, priceRaw: null, subtotalRaw: null };
    return { ...asked, ...unknown, error: 'preflight_failed', detail };
  }
  const priceRaw = priceRawOf(prospect);
  return {
    ...asked,
    x402: prospect.kind !== 'free',
    ...(prospect.kind === 'sold' && prospect.per !== undefined && { per: prospect.per }),
    priceRaw: priceRaw.toString(),
    subtotalRaw: (priceRaw * BigInt(count)).toString(),
  };
}

/** Returns the amount that a payment for the task of the call could use now. */
const availableTo = (spendState: SpendState, { taskId }: Spender): bigint => {
  const facts = { keyRootId: null, taskId: taskId ?? null, host: null, payee: null };
  return payableRaw(spendState.state, roomFor(spendState, facts, null));
};

const breachRecord = ({ limitRaw, projectedSpentRaw, ...breach }: PlannedBreach) => ({
  ...breach,
  limitRaw: limitRaw.toString(),
  projectedSpentRaw: projectedSpentRaw.toString(),
});

const whyOf = ([first]: readonly Prospect[]): string =>
  first?.kind === 'failed' ? first.detail : '';
