import type { Destination } from '../egress/destination-guard.ts';
import { type Clock, within } from '../kernel/clock.ts';
import { LIMITS } from '../kernel/limits.ts';
import { refuse } from '../kernel/refuse.ts';
import type { Spender } from '../ledger/ledger.ts';
import { factsOf } from '../ledger/operation.ts';
import { payableRaw } from '../ledger/project.ts';
import { roomFor, type Standings } from '../ledger/standings.ts';
import { type PlannedBreach, type PlannedCalls, planForecast } from './plan-forecast.ts';
import {
  type Asked,
  askTarget,
  type CallWish,
  type Prospect,
  type ProspectDeps,
  prospectOf,
  requireStandings,
} from './prospect.ts';
import { openTarget } from './vendor-call.ts';

export type ForecastDeps = ProspectDeps & { readonly clock: Clock };

export type ForecastWish = CallWish & {
  readonly count: number;
  /** The task that the calls are for; undefined: that of the asking call. */
  readonly taskId: string | undefined;
};

/**
 * What many calls would cost together, and what stands in their way, as of now. A target that may not be called refuses
 * all of it before any is asked; one that does not answer is told in its place.
 */
export async function forecastCalls(
  deps: ForecastDeps,
  spender: Spender,
  wishes: readonly ForecastWish[],
) {
  const said = await askAll(deps, wishes);
  const standings = await requireStandings(deps, spender);
  const { walletAddress } = standings.rules;
  const prospects = said.map((asked) => prospectOf(asked, walletAddress));
  if (prospects.every(({ kind }) => kind === 'failed')) {
    throw refuse.proxy.forecastFailed(`None of the calls could be priced. ${whyOf(prospects)}`);
  }
  const calls = prospects.flatMap((prospect, index) =>
    plannedCalls(spender, wishes[index] as ForecastWish, prospect, index),
  );
  const plan = planForecast(standings, spender.taskValueBps ?? null, calls);
  return {
    forecast: {
      totalRaw: plan.totalRaw.toString(),
      currency: 'USDC',
      decimals: 6,
      items: prospects.map((prospect, i) => itemOf(prospect, wishes[i] as ForecastWish, i)),
      reflection: {
        available: availableTo(standings, spender).toString(),
        willExceedAvailable: plan.willExceedAvailable,
        willExceedSpendLimit: plan.breaches.some(({ policyId }) => policyId !== null),
      },
    },
    policyPreflight: { ok: plan.breaches.length === 0, breaches: plan.breaches.map(breachRecord) },
  };
}

/** Nothing is sent before every target is judged: one that is blocked refuses them all. */
async function askAll(
  deps: ForecastDeps,
  wishes: readonly ForecastWish[],
): Promise<readonly Asked[]> {
  const { clock, client } = deps;
  const endMs = clock.monotonicMs() + LIMITS.forecastMs;
  const inTime = async <T>(work: () => Promise<T>): Promise<T | 'late'> => {
    const leftMs = endMs - clock.monotonicMs();
    return leftMs <= 0 ? 'late' : within(clock, leftMs, work(), () => 'late' as const);
  };
  const judged = new Map<string, Promise<Destination | undefined | 'late'>>();
  const targets = await eachOf(wishes, ({ url }) => {
    const judgement = judged.get(url) ?? inTime(() => openTarget(client, url));
    judged.set(url, judgement);
    return judgement;
  });
  return eachOf(wishes, async (wish, i) => {
    const target = targets[i];
    const asked = target === 'late' ? target : await inTime(() => askTarget(deps, target, wish));
    return asked === 'late' ? LATE : asked;
  });
}

const LATE: Asked = { kind: 'failed', detail: 'There was no time left to ask the target.' };

/** Does it to every item, a few at a time. Rejects with the first failure, when what had begun is over. */
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
  await Promise.all(Array.from({ length: LIMITS.forecastProbes }, worker));
  if (failed.length > 0) throw failed[0];
  return results;
}

function plannedCalls(
  spender: Spender,
  { count, taskId }: ForecastWish,
  prospect: Prospect,
  index: number,
): PlannedCalls[] {
  if (prospect.kind === 'failed') return [];
  const { host } = prospect;
  const [priceRaw, payee] =
    prospect.kind === 'free' ? [0n, null] : [prospect.offer.amountRaw, prospect.offer.payTo];
  const tagged = taskId === undefined ? spender : { ...spender, taskId };
  const facts = { ...factsOf({ spender: tagged, destination: { host, payee } }), host };
  return [{ index, priceRaw, count, facts }];
}

function itemOf(prospect: Prospect, { url, method, count }: ForecastWish, index: number) {
  const asked = { index, url, method, count };
  if (prospect.kind === 'failed') {
    const { detail } = prospect;
    const unknown = { x402: null, priceRaw: null, subtotalRaw: null };
    return { ...asked, ...unknown, error: 'preflight_failed', detail };
  }
  const priceRaw = prospect.kind === 'free' ? 0n : prospect.offer.amountRaw;
  return {
    ...asked,
    x402: prospect.kind === 'priced',
    priceRaw: priceRaw.toString(),
    subtotalRaw: (priceRaw * BigInt(count)).toString(),
  };
}

/** What a payment of the asking call's own task would have. */
const availableTo = (standings: Standings, { taskId }: Spender): bigint => {
  const facts = { keyRootId: null, taskId: taskId ?? null, host: null, payee: null };
  return payableRaw(standings.state, roomFor(standings, facts, null));
};

const breachRecord = ({ limitRaw, projectedSpentRaw, ...breach }: PlannedBreach) => ({
  ...breach,
  limitRaw: limitRaw.toString(),
  projectedSpentRaw: projectedSpentRaw.toString(),
});

const whyOf = ([first]: readonly Prospect[]): string =>
  first?.kind === 'failed' ? first.detail : '';
