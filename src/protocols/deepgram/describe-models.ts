import { uuidOf } from '../../kernel/ids.ts';
import type { Model } from '../../models/catalogue/catalogue.ts';

/**
 * Returns the entry of one model in Deepgram's list of models: https://developers.deepgram.com/reference/manage/models/list.
 */
export function describeListed({ id, modality }: Model): object {
  const [architecture = id] = (id.split('/').at(-1) ?? id).split('-', 1);
  const named = {
    name: id,
    canonical_name: id,
    architecture,
    version: 'latest',
    uuid: uuidOf(id),
  };
  if (modality === 'tts') return { ...named, metadata: { tags: [] } };
  return { ...named, batch: true, streaming: true, formatted_output: true };
}

/**
 * Returns the transcription models and the speech models in Deepgram's form. The catalogue has no languages of models, so none
 * are listed.
 */
export const modelsOfSound = (models: readonly Model[]) => ({
  stt: models.filter(({ modality }) => modality === 'stt').map(describeListed),
  tts: models.filter(({ modality }) => modality === 'tts').map(describeListed),
});

/** Finds a model by the name or the UUID of its list entry. */
export const findListed = (models: readonly Model[], name: string): Model | undefined =>
  models.find(
    ({ id, modality }) =>
      (modality === 'stt' || modality === 'tts') &&
      (id === name || id === `deepgram/${name}` || uuidOf(id) === name),
  );

/** Returns true for a request of a Deepgram client. Only such a client sends the scheme `Token` or names Deepgram's SDK. */
export const isDeepgramClient = (headers: ReadonlyMap<string, string>): boolean =>
  /^token\b/i.test(headers.get('authorization') ?? '') ||
  (headers.get('x-fern-sdk-name') ?? '').toLowerCase().includes('deepgram');
