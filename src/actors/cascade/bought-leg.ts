import type { Model, Source } from '../../gateway/catalogue.ts';
import { holdForRaw } from '../../gateway/plan-offers.ts';
import type { SourceRests } from '../../rails/rest-failing-source.ts';
import type { SessionConfig } from '../realtime/session-config.ts';
import type { CanRail, CascadeDeps } from './cascade-legs.ts';
import { createPart, type Part } from './part.ts';
import { localEngineOf } from './plan-cascade.ts';
import type { Pocket, Pockets } from './pockets.ts';
import type { Reserve } from './rail-brain.ts';

/** What the legs of a session buy with. */
export type Buying = Pick<
  CascadeDeps,
  | 'cascades'
  | 'catalogue'
  | 'clock'
  | 'engines'
  | 'log'
  | 'ownKeys'
  | 'purseOf'
  | 'random'
  | 'spender'
> & { readonly rests: SourceRests; readonly pocketOf: Pockets['of'] };

/** One that does a part, and what is held for an ordinary turn of it. */
export type Leg<L> = {
  readonly leg: L;
  readonly reserve: (config: SessionConfig, outputTokens?: number) => Reserve;
};

/** The engine of this process that a model is, or whoever sells it. Throws the refusal of one that nobody does. */
export function createLeg<L, R>(
  { ownKeys, pocketOf, purseOf }: Buying,
  way: {
    readonly model: Model;
    /** The engine that can do this part as it is; of others what is local is no use. */
    readonly engine: string;
    readonly local: (at: Pocket & { readonly source: Source }) => L;
    readonly rails: CanRail<R>;
    readonly canServe?: (rail: R) => boolean;
    readonly remote: (part: Part<R>) => L;
    /** What a turn costs of it, with an answer of so many tokens or else the longest. */
    readonly boundRaw: (config: SessionConfig, source: Source, outputTokens?: number) => bigint;
  },
): Leg<L> {
  const { boundRaw, engine, model } = way;
  const source = localEngineOf(model);
  if (source?.upstreamModel === engine) {
    const purse = purseOf(model, source);
    const leg = way.local({ ...pocketOf(purse), source });
    return {
      leg,
      reserve: (config, tokens) => ({ purse, raw: boundRaw(config, source, tokens) }),
    };
  }
  const sources = model.sources.filter((seller) => seller !== source);
  const part = createPart({ ...way, model: { ...model, sources }, ownKeys, purseOf });
  part.stages(() => 0n);
  return {
    leg: way.remote(part),
    reserve(config, tokens) {
      const [{ offers, purse }] = part.stages((seller) => boundRaw(config, seller, tokens));
      return { purse, raw: holdForRaw(offers) };
    },
  };
}
