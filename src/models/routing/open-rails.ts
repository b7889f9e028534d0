import type { Clock } from '../../kernel/clock.ts';
import type { Catalogue, Dialect, Source } from '../catalogue/catalogue.ts';
import type { PaidCalls } from '../providers/paid-calls.ts';
import type { Upstream, UpstreamLimits } from '../providers/upstream-pool.ts';

/** Rails of all providers for models of one modality. */
export interface Rails<R> extends AsyncDisposable {
  /** Returns the rail of a source. Undefined when this server cannot use the source. */
  railOf(source: Source): R | undefined;
}

/**
 * Opens rails at their first use: one for each provider, and another for a provider that is paid per call. A provider has no
 * rail, and is passed over, when `open` does not know its dialect or it cannot be paid.
 */
export function openRails<R>(deps: {
  readonly catalogue: Pick<Catalogue, 'provider'>;
  /** Rail of the local engine of this server, if it has one. */
  readonly local?: R;
  readonly open: (dialect: Dialect, upstream: Upstream) => (R & AsyncDisposable) | undefined;
  /** Payer of calls that are paid one by one. Undefined: sources that are paid per call are passed over. */
  readonly paidCalls?: PaidCalls | undefined;
}): Rails<R> {
  const { catalogue, local, open } = deps;
  /** Rails of this server's accounts, by provider. Their number is bounded by the providers of the catalogue. */
  const accounts = new Map<string, (R & AsyncDisposable) | undefined>();
  const paid = new Map<string, (R & AsyncDisposable) | undefined>();

  function openRail(id: string, paidCalls: PaidCalls | undefined) {
    const provider = catalogue.provider(id);
    if (provider === undefined || provider.baseUrl === null) return undefined;
    const { apiKey, baseUrl, dialect } = provider;
    const { callIds, capMember, chatMembers, signsCalls, speaksResponses, strictOrder, thoughts } =
      provider;
    if (paidCalls !== undefined && dialect !== 'openai') return undefined;
    const habits = { callIds, capMember, chatMembers, signsCalls, speaksResponses, strictOrder };
    return open(dialect, { baseUrl, apiKey, paidCalls, thoughts, ...habits });
  }

  return {
    railOf({ rail: way, provider }) {
      const isPaid = way === 'x402-router';
      if (isPaid && deps.paidCalls === undefined) return undefined;
      if (!isPaid && provider === 'local') return local;
      const opened = isPaid ? paid : accounts;
      if (opened.has(provider)) return opened.get(provider);
      const rail = openRail(provider, isPaid ? deps.paidCalls : undefined);
      opened.set(provider, rail);
      return rail;
    },
    async [Symbol.asyncDispose]() {
      const rails = [...accounts.values(), ...paid.values()];
      await Promise.all(rails.map((rail) => rail?.[Symbol.asyncDispose]()));
    },
  };
}

export type OpenAiRailDeps<R> = {
  readonly catalogue: Catalogue;
  readonly local: R;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits>;
  readonly paidCalls?: PaidCalls | undefined;
};

/** Opens the rails of a modality with the OpenAI dialect. `openOther` opens rails of other dialects. */
export const openOpenAiRails = <R, D extends OpenAiRailDeps<R>>(
  deps: D,
  open: (deps: D & { readonly upstream: Upstream }) => R & AsyncDisposable,
  openOther?: (
    dialect: Dialect,
    deps: D & { readonly upstream: Upstream },
  ) => (R & AsyncDisposable) | undefined,
): Rails<R> =>
  openRails<R>({
    ...deps,
    open: (dialect, upstream) =>
      dialect === 'openai'
        ? open({ ...deps, upstream })
        : openOther?.(dialect, { ...deps, upstream }),
  });
