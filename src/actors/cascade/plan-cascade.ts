import type { Catalogue, Model, Source } from '../../gateway/catalogue.ts';
import { LOCAL_CASCADE } from '../../gateway/catalogue-file.ts';
import type { Rails } from '../../gateway/open-rails.ts';
import { type Offers, planOffers } from '../../gateway/plan-offers.ts';
import { requireModel, requireOffers } from '../../gateway/require-model.ts';
import { refuse } from '../../kernel/refuse.ts';

/** The models that make a session: one that thinks and one that speaks, and the one that hears unless its client says. */
export type CascadePlan = {
  /** What the session was opened with. */
  readonly model: Model;
  readonly llm: Model;
  readonly tts: Model;
  readonly stt: Model;
};

type Wished = { readonly stt_model?: string | undefined; readonly tts_model?: string | undefined };

/**
 * The models of a session that is opened with a chat model, or with one that is made of others. Undefined: it is neither.
 * Throws the refusal where one of them cannot be.
 */
export function planCascade(
  catalogue: Catalogue,
  modelId: string,
  { stt_model: stt, tts_model: tts }: Wished,
): CascadePlan | undefined {
  const model = catalogue.find(modelId);
  const made = model?.cascade;
  if (model === undefined || (model.modality !== 'text' && made === undefined)) {
    const param = stt === undefined ? 'tts_model' : 'stt_model';
    if ((stt ?? tts) === undefined || model === undefined) return undefined;
    throw refuse.gateway.invalidRequest(
      `"${modelId}" hears and speaks by itself: ${param} is for sessions of text models.`,
      param,
    );
  }
  return {
    model,
    llm: made === undefined ? model : requireModel(catalogue, made.llm, 'text'),
    stt: requireModel(catalogue, stt ?? made?.stt ?? LOCAL_CASCADE.stt, 'stt'),
    tts: requireModel(catalogue, tts ?? made?.tts ?? LOCAL_CASCADE.tts, 'tts'),
  };
}

/**
 * Who sells a model to a session, for a price: every source at an account of this server. One that is paid call by call
 * would need a hold beside the session's.
 */
export const sellersOf =
  <R>(
    model: Model,
    rails: Pick<Rails<R>, 'railOf'>,
    canServe: (rail: R) => boolean = () => true,
  ): ((priceRaw: (source: Source) => bigint) => Offers<R>) =>
  (priceRaw) => {
    const sellers = model.sources.filter(({ rail }) => rail !== 'x402-router');
    const offers = planOffers(
      { model, sellers: sellers.map((source) => ({ source, ownKey: undefined })) },
      priceRaw,
      (source) => rails.railOf(source),
    );
    return requireOffers(
      model,
      offers.filter(({ rail }) => canServe(rail)),
    );
  };

/** The engine of this process that a model is, where it is one. */
export const localEngineOf = ({ sources }: Model): Source | undefined =>
  sources.find(({ provider }) => provider === 'local');
