import type { Catalogue, Model, Source } from '../../models/catalogue/catalogue.ts';
import { LOCAL_CASCADE } from '../../models/catalogue/catalogue-file.ts';
import { requireModel, withKeyed } from '../../models/catalogue/require-model.ts';
import { gatewayErrors } from '../../models/errors.ts';

/** Models of a session that combines STT, LLM and TTS. A client may choose another `stt` during the session. */
export type CascadePlan = {
  /** Model that the session was opened with. */
  readonly model: Model;
  readonly llm: Model;
  readonly tts: Model;
  readonly stt: Model;
};

type Parts = { readonly stt_model?: string | undefined; readonly tts_model?: string | undefined };

/** Throws the refusal of `stt_model` and `tts_model` for a speech-to-speech model, which would ignore them. */
export function requireNoParts(modelId: string, requested: Parts): void {
  const param = requested.stt_model === undefined ? 'tts_model' : 'stt_model';
  if (requested[param] === undefined) return;
  throw gatewayErrors.invalidRequest(
    `"${modelId}" hears and speaks by itself: ${param} is for sessions of text models.`,
    param,
  );
}

/**
 * Plans a session that is opened with a chat model or with a composed model (STT, LLM and TTS). Returns undefined for other
 * models. Throws the refusal of a part that cannot be used.
 */
export function planCascade(
  catalogue: Catalogue,
  modelId: string,
  { stt_model: stt, tts_model: tts }: Parts,
): CascadePlan | undefined {
  const known = withKeyed(catalogue);
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
 * Returns the model of a session that only transcribes: the named model, or by default the recogniser of this process.
 * Undefined when the named model is no transcription model.
 */
export function planTranscription(
  catalogue: Catalogue,
  named: string | undefined,
): Model | undefined {
  const id = named ?? LOCAL_CASCADE.stt;
  const model = catalogue.find(id) ?? catalogue.findKeyed(id);
  return model?.modality === 'stt' ? model : undefined;
}

/** Returns the source of a model in this process; undefined when the model does not run here. */
export const localEngineOf = ({ sources }: Model): Source | undefined =>
  sources.find(({ provider }) => provider === 'local');
