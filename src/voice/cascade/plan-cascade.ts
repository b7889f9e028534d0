import { errors } from '../../kernel/errors.ts';
import type { Catalogue, Model, Source } from '../../models/catalogue/catalogue.ts';
import { LOCAL_CASCADE } from '../../models/catalogue/catalogue-file.ts';
import { requireModel } from '../../models/catalogue/require-model.ts';

/** The models that make a session: one that thinks and one that speaks, and the one that hears unless its client says. */
export type CascadePlan = {
  /** What the session was opened with. */
  readonly model: Model;
  readonly llm: Model;
  readonly tts: Model;
  readonly stt: Model;
};

type Wished = { readonly stt_model?: string | undefined; readonly tts_model?: string | undefined };

/** Throws the refusal of a request for parts of a model that has none: it would go unheard. */
export function requireNoParts(modelId: string, wished: Wished): void {
  const param = wished.stt_model === undefined ? 'tts_model' : 'stt_model';
  if (wished[param] === undefined) return;
  throw errors.gateway.invalidRequest(
    `"${modelId}" hears and speaks by itself: ${param} is for sessions of text models.`,
    param,
  );
}

/**
 * The models of a session that is opened with a chat model, or with one that is made of others. Undefined: it is neither.
 * Throws the refusal where one of them cannot be.
 */
export function planCascade(
  catalogue: Catalogue,
  modelId: string,
  { stt_model: stt, tts_model: tts }: Wished,
): CascadePlan | undefined {
  // What the pool does not sell may be for a key of the caller's own.
  const known = {
    ...catalogue,
    find: (id: string) => catalogue.find(id) ?? catalogue.findKeyed(id),
  };
  const model = known.find(modelId);
  const made = model?.cascade;
  if (model === undefined || (model.modality !== 'text' && made === undefined)) return undefined;
  return {
    model,
    llm: made === undefined ? model : requireModel(known, made.llm, 'text'),
    stt: requireModel(known, stt ?? made?.stt ?? LOCAL_CASCADE.stt, 'stt'),
    tts: requireModel(known, tts ?? made?.tts ?? LOCAL_CASCADE.tts, 'tts'),
  };
}

/**
 * The model that hears a session which only transcribes: any transcription model, or without a name the recogniser of
 * this process. Undefined: what was named does more than hear.
 */
export function planTranscription(
  catalogue: Catalogue,
  named: string | undefined,
): Model | undefined {
  const id = named ?? LOCAL_CASCADE.stt;
  const model = catalogue.find(id) ?? catalogue.findKeyed(id);
  return model?.modality === 'stt' ? model : undefined;
}

/** The engine of this process that a model is, where it is one. */
export const localEngineOf = ({ sources }: Model): Source | undefined =>
  sources.find(({ provider }) => provider === 'local');
