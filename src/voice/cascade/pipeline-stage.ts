import type { Model, Source } from '../../models/catalogue/catalogue.ts';
import type { CircuitBreaker } from '../../models/providers/circuit-breaker.ts';
import { holdForRaw } from '../../models/routing/plan-offers.ts';
import type { SessionConfig } from '../session/session-config.ts';
import type { CanRail, CascadeDeps } from './cascade-deps.ts';
import type { HoldReserve } from './catalogue-llm.ts';
import type { ChargesByHold, ChargesOnHold } from './charges-by-hold.ts';
import { bindModel, type ModelBinding } from './model-binding.ts';
import { localEngineOf } from './plan-cascade.ts';

/** Dependencies with which the stages of a session buy. */
export type Buying = Pick<
  CascadeDeps,
  | 'cascades'
  | 'catalogue'
  | 'clock'
  | 'engines'
  | 'log'
  | 'ownKeys'
  | 'holdNameOf'
  | 'random'
  | 'spender'
  | 'trace'
> & { readonly breaker: CircuitBreaker; readonly chargesOn: ChargesByHold['of'] };

/**
 * Copies the members one by one: a spread object would get its own hidden class in V8 for each session (docs/decisions/0075).
 */
export const buyingWith = (
  deps: Omit<Buying, 'breaker' | 'chargesOn'>,
  chargesByHold: ChargesByHold,
): Buying => ({
  breaker: deps.cascades.breaker,
  clock: deps.clock,
  log: deps.log,
  random: deps.random,
  spender: deps.spender,
  chargesOn: chargesByHold.of,
  trace: deps.trace,
  cascades: deps.cascades,
  catalogue: deps.catalogue,
  engines: deps.engines,
  ownKeys: deps.ownKeys,
  holdNameOf: deps.holdNameOf,
});

/** One stage of a pipeline, and the amount held for an ordinary turn of that stage. */
export type PipelineStage<L> = {
  readonly stage: L;
  readonly reserve: (config: SessionConfig, outputTokens?: number) => HoldReserve;
};

/** Creates a stage from a local engine or from the sources of its model. Throws the refusal of a model that has neither. */
export function createPipelineStage<L, R>(
  deps: Buying,
  way: LocalWay<L> & RemoteWay<L, R>,
): PipelineStage<L> {
  return localStage(deps, way) ?? remoteStage(deps, way);
}

type Way = {
  readonly model: Model;
  /** Returns the upper bound of the cost of one turn that answers with `outputTokens` (default: the longest answer). */
  readonly boundRaw: (config: SessionConfig, source: Source, outputTokens?: number) => bigint;
};

type LocalWay<L> = Way & {
  /** The only local engine that fits this stage. */
  readonly engine: string;
  readonly local: (charges: ChargesOnHold, source: Source) => L;
};

type RemoteWay<L, R> = Way & {
  readonly rails: CanRail<R>;
  readonly canServe?: (rail: R) => boolean;
  readonly remote: (part: ModelBinding<R>) => L;
};

/** Returns the stage of a model's local engine; undefined when the model has no suitable local engine. */
export function localStage<L>(
  { chargesOn, holdNameOf }: Buying,
  { boundRaw, engine, local, model }: LocalWay<L>,
): PipelineStage<L> | undefined {
  const source = localEngineOf(model);
  if (source?.upstreamModel !== engine) return undefined;
  const sessionHold = holdNameOf(model, source);
  return {
    stage: local(chargesOn(sessionHold), source),
    reserve: (config, tokens) => ({ sessionHold, raw: boundRaw(config, source, tokens) }),
  };
}

/** Creates a stage from the sources of its model. Throws the refusal of a model without a source. */
export function remoteStage<L, R>(
  { holdNameOf, ownKeys }: Buying,
  way: RemoteWay<L, R>,
): PipelineStage<L> {
  const { boundRaw, model } = way;
  const sources = model.sources.filter(({ provider }) => provider !== 'local');
  const part = bindModel({ ...way, model: { ...model, sources }, ownKeys, holdNameOf });
  part.stages(() => 0n);
  return {
    stage: way.remote(part),
    reserve(config, tokens) {
      const [{ offers, sessionHold }] = part.stages((seller) => boundRaw(config, seller, tokens));
      return { sessionHold, raw: holdForRaw(offers) };
    },
  };
}
