import { tryParseJson } from '../../kernel/json/parse-json.ts';
import { isObject } from '../../kernel/json.ts';
import { joinPieces } from '../../kernel/long-work.ts';
import type { Outcome } from '../../models/providers/outcome.ts';
import type { SpeechRail } from '../../models/providers/speech-rail.ts';
import type { TranscriptionRail } from '../../models/providers/transcription-rail.ts';
import { VendorFailed } from '../../models/providers/vendors/vendor-api.ts';
import { LIST } from '../prices/price-list.ts';
import {
  type AgentVendorClient,
  type Delivery,
  modelOf,
  unfit,
  type Vendor,
  type VendorOrder,
} from '../vendor.ts';

export type LocalRails = {
  readonly speech: SpeechRail;
  readonly hearing: Pick<TranscriptionRail, 'transcribe'>;
};

const FREE = LIST.free;

/** Creates the vendor of this process's own engines: free of charge, and there on every server. */
export const createLocalVendor = (rails: LocalRails): Vendor => ({
  name: 'local',
  title: 'Local engines',
  services: {
    tts: {
      plan(order) {
        modelOf(order.model, { flite: FREE });
        return { price: FREE, ask: (door) => speak(rails.speech, order, door) };
      },
    },
    stt: {
      plan(order) {
        modelOf(order.model, { pocketsphinx: FREE });
        return { price: FREE, ask: (door) => hear(rails.hearing, order, door) };
      },
    },
  },
});

async function speak(
  rail: SpeechRail,
  { text, voice }: VendorOrder['tts'],
  { agentId, signal }: AgentVendorClient,
): Promise<Delivery> {
  const format = rail.makes('mp3') ? 'mp3' : 'wav';
  const body = { input: text, ...(voice && { voice }) };
  const call = { agentId, model: 'flite', body, input: text, format, wantsUsage: false } as const;
  const { contentType, sound } = delivered(await rail.speak(call, signal), { input: 'text' });
  const pieces: Uint8Array[] = [];
  for (;;) {
    const piece = await sound.next();
    if (piece === undefined) return { audio: await joinPieces(pieces), contentType };
    pieces.push(piece);
  }
}

async function hear(
  rail: LocalRails['hearing'],
  { file, language_code }: VendorOrder['stt'],
  { agentId, signal }: AgentVendorClient,
): Promise<Delivery> {
  const call = {
    agentId,
    model: 'pocketsphinx',
    file,
    prompt: undefined,
    fields: [],
    format: 'json',
    language: language_code ?? undefined,
  } as const;
  const { body } = delivered(await rail.transcribe(call, signal), { file: 'audioUrl' });
  const heard = tryParseJson(body);
  const text = isObject(heard) ? heard.text : undefined;
  if (typeof text !== 'string') throw new VendorFailed('wrote no transcript');
  return { json: { text } };
}

/**
 * Returns a completed outcome of an engine. Throws the refusal of an unfit request, with the caller's names of its
 * fields.
 */
function delivered<T>(outcome: Outcome<T>, names: Readonly<Record<string, string>>): T {
  if (outcome.kind === 'completed') return outcome;
  if (outcome.kind === 'unfit') {
    const { detail, param = '' } = outcome;
    throw unfit(names[param] ?? (param === 'language' ? 'language_code' : param), detail);
  }
  const detail = outcome.kind === 'failed' ? outcome.detail : 'is not waited for';
  throw new VendorFailed(detail);
}
