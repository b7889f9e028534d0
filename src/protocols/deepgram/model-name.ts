import type { Catalogue } from '../../models/catalogue/catalogue.ts';

type Models = Pick<Catalogue, 'find' | 'findKeyed'>;

/**
 * Adds the maker's prefix that Deepgram's clients leave out of a model id, and drops the suffix `-general` that some clients
 * append.
 */
export function fullModelId(catalogue: Models, model: string): string {
  if (model.includes('/') || catalogue.find(model) !== undefined) return model;
  const id = `deepgram/${model}`;
  const isKnown = (catalogue.find(id) ?? catalogue.findKeyed(id)) !== undefined;
  return isKnown ? id : id.replace(/-general$/, '');
}

/**
 * Matches a voice of Deepgram, which is named like a model (`aura-2-thalia-en`):
 * https://developers.deepgram.com/docs/tts-models.
 */
const VOICE = /^(?:deepgram\/)?((aura(?:-2)?)-[a-z]{2,40}-[a-z]{2})$/;

/**
 * Returns the catalogue's model for a name. A voice of Deepgram becomes its model and that voice; the voice of any other model
 * is undefined.
 */
export function spokenModel(
  catalogue: Models,
  model: string,
): { readonly model: string; readonly voice: string | undefined } {
  const [, voice, family] = VOICE.exec(model) ?? [];
  if (voice !== undefined && family !== undefined) return { model: `deepgram/${family}`, voice };
  return { model: fullModelId(catalogue, model), voice: undefined };
}
