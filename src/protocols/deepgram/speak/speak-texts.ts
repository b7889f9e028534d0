import { uuidOf } from '../../../kernel/ids.ts';
import type { Catalogue } from '../../../models/catalogue/catalogue.ts';
import { gatewayErrors } from '../../../models/errors.ts';
import type { Relayed } from '../../../models/purchase/answer.ts';
import type { StreamedAnswer } from '../../../models/purchase/answer-events.ts';
import type { Buyer } from '../../../models/purchase/buyer.ts';
import { codePointsOf, type SpeechRequest } from '../../../models/speech/speech-request.ts';
import type { SpeechSynthesis } from '../../../models/speech/synthesize-speech.ts';
import { spokenModel } from '../model-name.ts';
import { requireDelivered } from '../require-delivered.ts';
import type { SoundPlan, SpeakQuery } from './speak-query.ts';
import { type MadeSound, madeSound } from './spoken-sound.ts';

type Models = Pick<Catalogue, 'find' | 'findKeyed' | 'suggest'>;

/** A speech model of the catalogue with its voice and speed. */
export type Speaker = Pick<SpeechRequest, 'model' | 'voice' | 'speed'> & { readonly model: string };

export interface SpeakTexts {
  /** Speaks a text and returns Deepgram's response, whose audio is streamed. Throws the gateway's refusals. */
  speak(order: {
    readonly buyer: Buyer;
    readonly requestId: string;
    readonly query: Pick<SpeakQuery, 'model' | 'speed' | 'voice'>;
    readonly plan: SoundPlan;
    readonly text: string;
  }): Promise<StreamedAnswer>;
}

/** Speaks texts in Deepgram's protocol: the same purchase as `POST /v1/audio/speech`, with another request and response. */
export const createSpeakTexts = (deps: {
  readonly speech: SpeechSynthesis;
  readonly catalogue: Models;
}): SpeakTexts => ({
  async speak({ buyer, plan, query, requestId, text }) {
    const speaker = requireSpeaker(deps.catalogue, query);
    const answer = await buySound(deps.speech, buyer, { plan, speaker, text });
    return {
      ...answer,
      headers: {
        ...answer.headers,
        'dg-request-id': uuidOf(requestId),
        'dg-model-name': query.model,
        'dg-model-uuid': uuidOf(speaker.model),
        'dg-char-count': String(codePointsOf(text)),
      },
    };
  },
});

/** Returns the model and the voice in a query. Throws the refusal of a model that does not exist or does not speak. */
export function requireSpeaker(
  catalogue: Models,
  { model: name, speed, voice: named }: Pick<SpeakQuery, 'model' | 'speed' | 'voice'>,
): Speaker {
  const { model: id, voice = named } = spokenModel(catalogue, name);
  const model = catalogue.find(id) ?? catalogue.findKeyed(id);
  if (model === undefined) throw gatewayErrors.modelNotFound(name, catalogue.suggest(id));
  if (model.modality !== 'tts') {
    throw gatewayErrors.invalidRequest(
      `The model "${name}" is of the modality ${model.modality}; this route takes tts.`,
      'model',
    );
  }
  return {
    model: model.id,
    ...(voice !== undefined && { voice }),
    ...(speed !== undefined && { speed }),
  };
}

/** Content types with which providers label raw samples. */
const RAW = new Set(['audio/pcm', 'audio/l16', 'audio/x-raw', 'application/octet-stream']);

/**
 * Buys the speech of one text, which is charged with its first audio. Throws the gateway's refusals; a refusal of an upstream
 * is thrown as a refusal of the gateway.
 */
export async function buySound(
  speech: SpeechSynthesis,
  buyer: Buyer,
  order: { readonly plan: SoundPlan; readonly speaker: Speaker; readonly text: string },
): Promise<StreamedAnswer> {
  const { plan, speaker, text } = order;
  const { format: response_format, made } = plan;
  const answer = await speech.speak({ buyer, body: { ...speaker, input: text, response_format } });
  if (isWhole(answer)) {
    requireDelivered(answer);
    throw new Error('speech that is delivered is a stream');
  }
  const type = answer.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  // Sound in a format that the source chose by itself goes out under its own content type.
  if (made === undefined || !RAW.has(type)) return answer;
  const headers = { ...answer.headers, 'content-type': typeOf(made) };
  return { ...answer, headers, body: madeSound(answer.body, made) };
}

const isWhole = (answer: Relayed | StreamedAnswer): answer is Relayed =>
  answer.body instanceof Uint8Array;

const NAMES = { linear16: 'audio/l16', mulaw: 'audio/mulaw', alaw: 'audio/alaw' } as const;

const typeOf = ({ encoding, inWav, sampleRateHz }: MadeSound): string =>
  inWav ? 'audio/wav' : `${NAMES[encoding]};rate=${sampleRateHz};channels=1`;
