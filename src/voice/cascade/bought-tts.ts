import { PcmByteReader } from '../../../media/pcm.ts';
import type { TtsEngine } from '../../engines/engine.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import type { SpeechRail, SpeechSound } from '../../models/providers/speech-rail.ts';
import { breakTypeOf } from '../../models/routing/attempt-span.ts';
import type { SpeechRequest } from '../../models/speech/speech-request.ts';
import { billsTokens, meterSpeech, speechBoundRaw } from '../../models/speech/speech-usage.ts';
import { sessionPrice } from '../billing/session-hold.ts';
import {
  type SpeakRequest,
  StageFailed,
  type Tts,
  type TtsPiece,
  type TurnCharge,
} from '../session/voice-pipeline.ts';
import { type AskDeps, askSources } from './ask-sources.ts';
import type { ChargesOnHold } from './charges-by-hold.ts';
import type { ModelBinding } from './model-binding.ts';
import { spokenVoice } from './voices.ts';

const FORMAT = 'pcm';
const RAW = new Set(['audio/pcm', 'audio/l16', 'audio/x-raw', 'application/octet-stream']);

/**
 * Any speech model of the catalogue, at sellers of raw audio, a sentence a request. It is charged from its first audio on. A class,
 * so that the generators of all sessions share a prototype (docs/decisions/0075).
 */
export class BoughtTts implements Tts {
  readonly #deps: AskDeps;
  readonly #part: ModelBinding<SpeechRail>;

  constructor(deps: AskDeps, part: ModelBinding<SpeechRail>) {
    this.#deps = deps;
    this.#part = part;
  }

  async *speak({ signal, speed, text, voice }: SpeakRequest): AsyncGenerator<TtsPiece> {
    const part = this.#part;
    const body: SpeechRequest = {
      model: part.model.id,
      input: text,
      response_format: FORMAT,
      voice: spokenVoice(part.model.id, voice),
      ...(speed !== 1 && { speed }),
    };
    const asked = await askSources(this.#deps, {
      part,
      signal,
      priceRaw: (source) => speechBoundRaw(body, source),
      ask({ rail, source }, paymentMethod) {
        const model = source.upstreamModel;
        const wantsUsage = billsTokens(source);
        return rail.speak(
          { model, body, input: text, wantsUsage, paymentMethod, format: FORMAT },
          signal,
        );
      },
    });
    if (asked === undefined) return;
    const { outcome, share, source, span } = asked;
    const { contentType, sound } = outcome;
    const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
    if (!RAW.has(type)) {
      sound.stop();
      share.drop();
      span?.end({ error: 'broken' });
      throw new StageFailed(
        'upstream_broken',
        `The speech model sent ${type} where raw sound was asked for.`,
      );
    }
    const line = new SpeechLine(body, sound, { source, span, paidRaw: outcome.paidRaw });
    share.open(line);
    // Ends the line at the abort: a stopped turn is billed before this generator resumes.
    const stopped = () => line.end();
    if (signal.aborted) stopped();
    else signal.addEventListener('abort', stopped, { once: true });
    try {
      yield* piecesOf(sound, text, signal);
    } catch (error) {
      if (error instanceof StageFailed) line.brokenBy = breakTypeOf(error.cause);
      throw error;
    } finally {
      line.end();
      signal.removeEventListener('abort', stopped);
      sound.stop();
    }
  }
}

/** The charge of one sentence. */
class SpeechLine {
  readonly #body: SpeechRequest;
  readonly #sound: SpeechSound;
  readonly #seller: Pick<TurnCharge, 'source' | 'paidRaw' | 'span'>;
  brokenBy: string | undefined;
  isOver = false;

  constructor(
    body: SpeechRequest,
    sound: SpeechSound,
    seller: Pick<TurnCharge, 'source' | 'paidRaw' | 'span'>,
  ) {
    this.#body = body;
    this.#sound = sound;
    this.#seller = seller;
  }

  end(): void {
    this.#seller.span?.stop();
    this.isOver = true;
  }

  bought(): TurnCharge {
    const { paidRaw, source, span } = this.#seller;
    const { estimated, reported, usage } = meterSpeech(this.#body, this.#sound.usage(), source);
    return {
      source,
      model: this.#body.model,
      usage,
      span,
      brokenBy: this.brokenBy,
      paidRaw,
      reported,
      isEstimated: estimated || undefined,
    };
  }
}

async function* piecesOf(
  sound: SpeechSound,
  words: string,
  signal: StopSignal,
): AsyncGenerator<TtsPiece> {
  const reader = new PcmByteReader();
  const { sampleRateHz } = LIMITS.speech;
  let text = words;
  for (;;) {
    const bytes = await nextOf(sound, signal);
    if (bytes === undefined || signal.aborted) return;
    const pcm = new Int16Array(reader.samplesIn(bytes.length));
    reader.push(bytes, pcm);
    if (pcm.length === 0) continue;
    yield { pcm, sampleRateHz, text };
    text = '';
  }
}

async function nextOf(sound: SpeechSound, signal: StopSignal): Promise<Uint8Array | undefined> {
  try {
    return await sound.next();
  } catch (cause) {
    if (signal.aborted) return undefined;
    const message = 'The speech model broke off in the middle of a sentence.';
    throw new StageFailed('upstream_broke_off', message, { cause });
  }
}

/** The engine of this process, billed by the characters spoken. */
export class LocalTts implements Tts {
  readonly #engine: TtsEngine;
  readonly #charges: ChargesOnHold;
  readonly #source: Source;

  constructor(engine: TtsEngine, charges: ChargesOnHold, source: Source) {
    this.#engine = engine;
    this.#charges = charges;
    this.#source = source;
  }

  async *speak(request: SpeakRequest): AsyncGenerator<TtsPiece> {
    const source = this.#source;
    const { hold, tab } = this.#charges;
    const share = await hold(sessionPrice(source, { character: request.text.length }));
    try {
      if (request.signal.aborted) return;
      for await (const chunk of this.#engine.speak(request)) {
        tab.add({ source, usage: { character: chunk.text.length } });
        yield chunk;
      }
    } finally {
      share.drop();
    }
  }
}
