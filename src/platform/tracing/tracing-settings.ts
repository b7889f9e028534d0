/** Traces that are recorded. `parent-based` follows the caller's `traceparent` when there is one. */
export type SamplerSettings = {
  readonly isParentBased: boolean;
  /** Share of the traces beginning at this server that are recorded, 0 to 1. */
  readonly ratio: number;
};

export type TracingSettings = {
  /** Address to which spans are posted. */
  readonly url: string;
  /** Headers of each request to the collector; they may be secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly sampler: SamplerSettings;
  /** True when requests to model vendors carry the trace's headers. */
  readonly reachesUpstreams: boolean;
};
