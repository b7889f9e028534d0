import { PcmByteReader } from '../../../media/pcm.ts';
import type { TtsEngine } from '../../engines/engine.ts';
import { ENGINE_LIMITS } from '../../engines/limits.ts';
import { type Clock, within } from '../../kernel/clock.ts';
import { LightSignal } from '../../kernel/light-signal.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import { failed, type Outcome } from '../../models/providers/outcome.ts';
import type { PaymentMethod } from '../../models/providers/payment-method.ts';
import type { SpeechRail, SpeechSound } from '../../models/providers/speech-rail.ts';
import { breakTypeOf } from '../../models/routing/attempt-span.ts';
import type { SpeechRequest } from '../../models/speech/speech-request.ts';
import { billsTokens, meterSpeech, speechBoundRaw } from '../../models/speech/speech-usage.ts';
import { sessionPrice } from '../billing/session-hold.ts';
import { VOICE_LIMITS } from '../limits.ts';
import { cutWords } from '../session/heard-words.ts';
import {
  type SpeakRequest,
  StageFailed,
  type Tts,
  type TtsPiece,
  type TurnCharge,
} from '../session/voice-pipeline.ts';
import { type AskSourcesDeps, askSources } from './ask-sources.ts';
import type { ChargesOnHold } from './charges-by-hold.ts';
import type { ModelBinding } from './model-binding.ts';
import { spokenVoice } from './voices.ts';

const FORMAT = 'pcm';
const SOUND_HZ = ENGINE_LIMITS.speech.sampleRateHz;
const RAW = new Set(['audio/pcm', 'audio/l16', 'audio/x-raw', 'application/octet-stream']);

/**
 * Speaks with a speech model of the catalogue, at sources of raw audio, with one request per sentence. A sentence is charged
 * from its first audio. When a source breaks off within a sentence, the next source speaks the rest. A class, so that the
 * generators of all sessions share a prototype (docs/decisions/0075).
 */
export class CatalogueTts implements Tts {
  readonly #deps: AskSourcesDeps;
  readonly #part: ModelBinding<SpeechRail>;
  /** Earliest time of the next request to each source that broke off. */
  readonly #rests = new Map<Source, number>();

  constructor(deps: AskSourcesDeps, part: ModelBinding<SpeechRail>) {
    this.#deps = deps;
    this.#part = part;
  }

  async *speak(request: SpeakRequest): AsyncGenerator<TtsPiece> {
    const lost = new Set<Source>();
    let words = request.text;
    for (let nth = 0; ; nth++) {
      const broken = yield* this.#speakAt(request, words, nth === 0, lost);
      if (broken === undefined || request.signal.aborted) return;
      lost.add(broken.source);
      this.#rests.set(broken.source, this.#deps.clock.monotonicMs() + VOICE_LIMITS.voice.restMs);
      if (!this.#hasOther(lost)) throw broken.error;
      this.#deps.log.warn({ err: broken.error }, 'a voice broke off, and the next source goes on');
      words = broken.rest;
    }
  }

  /** Speaks at the first source that delivers. Returns a source that broke off, with the words that it has not spoken. */
  async *#speakAt(
    { signal, speed, text: whole, voice }: SpeakRequest,
    text: string,
    isFirst: boolean,
    lost: ReadonlySet<Source>,
  ): AsyncGenerator<TtsPiece, Broken | undefined> {
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
      avoids: this.#avoided(lost),
      priceRaw: (source) => speechBoundRaw(body, source),
      ask: ({ rail, source }, paymentMethod) =>
        inTime(this.#deps.clock, signal, paymentMethod, (stop) => {
          const model = source.upstreamModel;
          const wantsUsage = billsTokens(source);
          return rail.speak(
            { model, body, input: text, wantsUsage, paymentMethod, format: FORMAT },
            stop,
          );
        }),
    });
    if (asked === undefined) return undefined;
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
    let soundMs = 0;
    try {
      for await (const piece of piecesOf(this.#deps.clock, sound, signal)) {
        const begins = isFirst && soundMs === 0;
        soundMs += (piece.length * 1_000) / SOUND_HZ;
        yield { pcm: piece, sampleRateHz: SOUND_HZ, text: begins ? whole : '' };
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof StageFailed)) throw error;
      line.brokenBy = breakTypeOf(error.cause);
      const { rest, said } = cutWords(text, soundMs * speed);
      line.said = said;
      return { error, rest, source };
    } finally {
      line.end();
      signal.removeEventListener('abort', stopped);
      sound.stop();
    }
  }

  /** Sources that are not asked: those that broke off in this sentence, and those that rest, where others do not. */
  #avoided(lost: ReadonlySet<Source>): (source: Source) => boolean {
    const nowMs = this.#deps.clock.monotonicMs();
    const rests = (source: Source) => lost.has(source) || (this.#rests.get(source) ?? 0) > nowMs;
    return this.#has((source) => !rests(source)) ? rests : (source) => lost.has(source);
  }

  #hasOther(lost: ReadonlySet<Source>): boolean {
    return this.#has((source) => !lost.has(source));
  }

  #has(isWanted: (source: Source) => boolean): boolean {
    const groups = this.#part.stages(() => 0n);
    return groups.some(({ offers }) => offers.some(({ source }) => isWanted(source)));
  }
}

type Broken = {
  readonly error: StageFailed;
  readonly source: Source;
  /** The words that were not said. */
  readonly rest: string;
};

/** Gives up a source that has sent no sound for `VOICE_LIMITS.voice.firstSoundMs`. A source that is paid for this request is waited for. */
async function inTime<T>(
  clock: Clock,
  signal: StopSignal,
  paymentMethod: PaymentMethod | undefined,
  ask: (stop: StopSignal) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  if (paymentMethod?.budget !== undefined) return ask(signal);
  const stop = new LightSignal();
  const left = () => stop.fire();
  if (signal.aborted) left();
  else signal.addEventListener('abort', left, { once: true });
  let isLate = false;
  const timer = clock.setTimeout(() => {
    isLate = true;
    stop.fire();
  }, VOICE_LIMITS.voice.firstSoundMs);
  const outcome = await ask(stop);
  clock.clearTimeout(timer);
  const isGivenUp = isLate && !signal.aborted && outcome.kind === 'aborted';
  return isGivenUp ? failed('timeout', 'no sound came in time') : outcome;
}

/** The charge of one sentence. */
class SpeechLine {
  readonly #body: SpeechRequest;
  readonly #sound: SpeechSound;
  readonly #seller: Pick<TurnCharge, 'source' | 'paidRaw' | 'span'>;
  brokenBy: string | undefined;
  /** Words that were spoken before the source broke off; undefined when all words were spoken. */
  said: string | undefined;
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
    const body = { ...this.#body, input: this.said ?? this.#body.input };
    const { estimated, reported, usage } = meterSpeech(body, this.#sound.usage(), source);
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
  clock: Clock,
  sound: SpeechSound,
  signal: StopSignal,
): AsyncGenerator<Int16Array> {
  const reader = new PcmByteReader();
  for (;;) {
    const bytes = await nextOf(clock, sound, signal);
    if (bytes === undefined || signal.aborted) return;
    const pcm = new Int16Array(reader.samplesIn(bytes.length));
    reader.push(bytes, pcm);
    if (pcm.length > 0) yield pcm;
  }
}

async function nextOf(
  clock: Clock,
  sound: SpeechSound,
  signal: StopSignal,
): Promise<Uint8Array | undefined> {
  try {
    return await within(clock, VOICE_LIMITS.voice.stallMs, sound.next(), () => {
      throw new Error(`nothing came for ${VOICE_LIMITS.voice.stallMs} ms`);
    });
  } catch (cause) {
    if (signal.aborted) return undefined;
    const message = 'The speech model broke off in the middle of a sentence.';
    throw new StageFailed('upstream_broke_off', message, { cause });
  }
}

/** Speaks with the engine of this process, billed by the characters spoken. */
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
