import { PcmByteReader } from '../../../../media/pcm.ts';
import type { SoundEncoding } from '../../../engines/engine.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { isObject } from '../../../kernel/json.ts';
import { SPEECH_LIMITS } from '../../speech/limits.ts';
import { AUDIO_TYPES, isAudio } from '../audio-type.ts';
import { encodedFile } from '../local/encoded-file.ts';
import { engineFailure } from '../local/engine-failure.ts';
import { MadeSpeech } from '../local/made-speech.ts';
import { wavFile } from '../local/wav-file.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import { openPool } from '../open-pool.ts';
import { StreamBroken } from '../openai/answer-reader.ts';
import { RelayedSpeech } from '../openai/relayed-speech.ts';
import { failed, type Outcome, type Unfit } from '../outcome.ts';
import type { Speech, SpeechCall, SpeechFormat, SpeechRail, SpeechSound } from '../speech-rail.ts';
import { contentTypeOf, type Upstream, type UpstreamLimits } from '../upstream-pool.ts';
import type { SpeechApi, VendorApi, VendorFormat, VendorSpeechRequest } from './vendor-api.ts';

type VendorSpeechDeps = {
  readonly api: VendorApi & { readonly speech: SpeechApi };
  readonly upstream: Upstream;
  /** Encoder for the formats that the vendor does not produce. */
  readonly encoding: SoundEncoding;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits>;
};

/**
 * Creates the rail for speech of a vendor with its own protocol, over a bounded pool of connections. Formats that the vendor
 * does not produce are encoded here from its samples while they arrive.
 */
export function createVendorSpeechRail(deps: VendorSpeechDeps): SpeechRail & AsyncDisposable {
  const { api, encoding } = deps;
  const { audioBytes: responseBytes, inFlight, queueBytes } = SPEECH_LIMITS;
  const pool = openPool({
    ...deps,
    path: '',
    credential: api.credential,
    headers: { accept: '*/*' },
    limits: { responseBytes, inFlight, queueBytes, ...deps.limits },
  });
  return {
    makes: (format) => isOwn(format) || format === 'wav' || encoding.makes(format),
    async speak(call, signal) {
      const spoken = spokenOf(api, call);
      if ('kind' in spoken) return spoken;
      const { paymentMethod } = call;
      return pool.opened(
        () => {
          const { body = null, ...request } = api.speech.request(spoken);
          return { ...request, body, paymentMethod };
        },
        signal,
        (answer) => speechOf(encoding, answer, call.format),
      );
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

const isOwn = (format: SpeechFormat): format is VendorFormat =>
  format === 'mp3' || format === 'pcm';

/** OpenAI's voice names, which no vendor here has: clients send one when their user chose no voice. */
const USUAL_VOICES: ReadonlySet<string> = new Set([
  'alloy',
  'ash',
  'ballad',
  'cedar',
  'coral',
  'echo',
  'fable',
  'marin',
  'nova',
  'onyx',
  'sage',
  'shimmer',
  'verse',
]);

function spokenOf(
  { name, speech: { mostChars = Number.POSITIVE_INFINITY, speeds } }: VendorSpeechDeps['api'],
  { body, format, input: text, model }: SpeechCall,
): VendorSpeechRequest | Unfit {
  if ([...text].length > mostChars) {
    return unfit('input', `"${name}" takes at most ${mostChars} characters at a time.`);
  }
  const speed = typeof body.speed === 'number' && body.speed !== 1 ? body.speed : undefined;
  if (speed !== undefined && (speed < speeds.min || speed > speeds.max)) {
    return unfit(
      'speed',
      `"${name}" speaks at ${speeds.min} to ${speeds.max} times its usual speed.`,
    );
  }
  const voice = isObject(body.voice) ? body.voice.id : body.voice;
  return {
    text,
    model,
    speed,
    format: isOwn(format) ? format : 'pcm',
    ...(typeof voice === 'string' && !USUAL_VOICES.has(voice) && { voice }),
    ...(typeof body.language === 'string' && { language: body.language }),
  };
}

const unfit = (param: string, detail: string): Unfit => ({ kind: 'unfit', param, detail });

async function speechOf(
  encoding: SoundEncoding,
  answer: OpenedAnswer,
  format: SpeechFormat,
): Promise<Outcome<Speech>> {
  const { status, headers } = answer;
  const said = headers['content-type'] === undefined ? '' : contentTypeOf(answer);
  if (!isAudio(said)) {
    answer.stop();
    return failed('broken', 'not sound', status);
  }
  const own = new RelayedSpeech(answer, false);
  if (isOwn(format)) {
    // Vendors name the type of samples in several ways, so samples get the type that clients know.
    const contentType = await own.begin(format === 'pcm' ? '' : said, format);
    return { kind: 'completed', status, contentType, sound: own };
  }
  const stop = () => own.stop();
  const sound = new MadeSpeech(fileOf(encoding, format, own), { onStop: stop, onOver: stop });
  try {
    if (!(await sound.begin())) throw new StreamBroken('there is no sound in it');
  } catch (error) {
    if (error instanceof StreamBroken) throw error;
    return engineFailure(error, 'response_format');
  }
  return { kind: 'completed', status, contentType: AUDIO_TYPES[format], sound };
}

function fileOf(
  encoding: SoundEncoding,
  format: Exclude<SpeechFormat, VendorFormat>,
  sound: SpeechSound,
): AsyncGenerator<Uint8Array> {
  return format === 'wav'
    ? wavFile(bytesOf(sound))
    : encodedFile(encoding, format, samplesOf(sound));
}

async function* bytesOf(sound: SpeechSound): AsyncGenerator<Uint8Array> {
  for (;;) {
    const bytes = await sound.next();
    if (bytes === undefined) return;
    yield bytes;
  }
}

/** Yields the samples of PCM audio. Each array has its own memory. */
async function* samplesOf(sound: SpeechSound): AsyncGenerator<Int16Array> {
  const reader = new PcmByteReader();
  for await (const bytes of bytesOf(sound)) {
    const samples = new Int16Array(reader.samplesIn(bytes.byteLength));
    reader.push(bytes, samples);
    if (samples.length > 0) yield samples;
  }
}
