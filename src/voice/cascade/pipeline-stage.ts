import type { Model, Source } from '../../models/catalogue/catalogue.ts';
import type { CircuitBreaker } from '../../models/providers/circuit-breaker.ts';
import { holdForRaw } from '../../models/routing/plan-offers.ts';
import type { SessionConfig } from '../protocols/openai-realtime/session-config.ts';
import type { Reserve } from './bought-llm.ts';
import type { CanRail, CascadeDeps } from './cascade-deps.ts';
import type { ChargesByHold, ChargesOnHold } from './charges-by-hold.ts';
import { bindModel, type ModelBinding } from './model-binding.ts';
import { localEngineOf } from './plan-cascade.ts';

/** What the stages of a session buy with. */
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
> & { readonly breaker: CircuitBreaker; readonly chargesOn: ChargesByHold['of'] };

/** One that does a part, and what is held for an ordinary turn of it. */
export type PipelineStage<L> = {
  readonly stage: L;
  readonly reserve: (config: SessionConfig, outputTokens?: number) => Reserve;
};

/** The engine of this process that a model is, or its sellers. Throws the refusal of a model without either. */
export function createPipelineStage<L, R>(
  { ownKeys, chargesOn, holdNameOf }: Buying,
  way: {
    readonly model: Model;
    /** The engine that can do this part as it is; of others what is local is no use. */
    readonly engine: string;
    readonly local: (at: ChargesOnHold & { readonly source: Source }) => L;
    readonly rails: CanRail<R>;
    readonly canServe?: (rail: R) => boolean;
    readonly remote: (part: ModelBinding<R>) => L;
    /** What a turn costs of it, with an answer of so many tokens or else the longest. */
    readonly boundRaw: (config: SessionConfig, source: Source, outputTokens?: number) => bigint;
  },
): PipelineStage<L> {
  const { boundRaw, engine, model } = way;
  const source = localEngineOf(model);
  if (source?.upstreamModel === engine) {
    const sessionHold = holdNameOf(model, source);
    const stage = way.local({ ...chargesOn(sessionHold), source });
    return {
      stage,
      reserve: (config, tokens) => ({ sessionHold, raw: boundRaw(config, source, tokens) }),
    };
  }
  const sources = model.sources.filter((seller) => seller !== source);
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
