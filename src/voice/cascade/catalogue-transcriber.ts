import { HEARING_HZ } from '../../../media/hearing.ts';
import { writePcmBytes } from '../../../media/pcm.ts';
import { wavHeader } from '../../../media/wav.ts';
import {
  type SttEngine,
  type SttListener,
  type SttStream,
  UtteranceLost,
} from '../../engines/engine.ts';
import { ENGINE_LIMITS } from '../../engines/limits.ts';
import { JSON_LIMITS } from '../../kernel/json/limits.ts';
import { tryParseJson } from '../../kernel/json/parse-json.ts';
import { isObject } from '../../kernel/json.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import type {
  TranscriptionCall,
  TranscriptionRail,
} from '../../models/providers/transcription-rail.ts';
import {
  meterTranscription,
  transcriptionBoundRaw,
} from '../../models/transcription/transcription-usage.ts';
import { sessionPrice } from '../billing/session-hold.ts';
import { StageFailed } from '../session/voice-pipeline.ts';
import { type AskSourcesDeps, askSources } from './ask-sources.ts';
import type { ChargesOnHold } from './charges-by-hold.ts';
import type { ModelBinding } from './model-binding.ts';

type Expected = Pick<TranscriptionCall, 'language' | 'prompt'>;

/** Upper bound of an utterance's audio in bytes. */
const MOST_BYTES = ENGINE_LIMITS.utterance.committedSeconds * HEARING_HZ * 2;
/** Initial size of the buffer in bytes: two seconds of audio. The buffer doubles for longer utterances. */
const FIRST_BYTES = 2 * HEARING_HZ * 2;

/**
 * Creates a transcriber from a transcription model of the catalogue. It sends each utterance whole at its end, and reports no
 * interim words.
 */
export function createCatalogueTranscriber(
  deps: AskSourcesDeps,
  part: ModelBinding<TranscriptionRail>,
): SttEngine {
  return {
    open: async ({ language, listener, prompt }) =>
      new RailStream({ deps, part, listener, expected: { language, prompt } }),
  };
}

class RailStream implements SttStream {
  readonly #deps: AskSourcesDeps;
  readonly #part: ModelBinding<TranscriptionRail>;
  readonly #listener: SttListener;
  readonly #expected: Expected;
  readonly #closing = new AbortController();
  /** Audio of the utterance in progress, after free space for its WAV header. */
  #file = Buffer.alloc(0);
  #soundBytes = 0;

  constructor(options: {
    readonly deps: AskSourcesDeps;
    readonly part: ModelBinding<TranscriptionRail>;
    readonly listener: SttListener;
    readonly expected: Expected;
  }) {
    this.#deps = options.deps;
    this.#part = options.part;
    this.#listener = options.listener;
    this.#expected = options.expected;
  }

  push(pcm: Int16Array): void {
    const bytes = pcm.length * 2;
    if (this.#soundBytes + bytes > MOST_BYTES) return;
    this.#makeRoom(HEAD_BYTES + this.#soundBytes + bytes);
    writePcmBytes(pcm, this.#file.subarray(HEAD_BYTES + this.#soundBytes));
    this.#soundBytes += bytes;
  }

  async endUtterance(): Promise<void> {
    const seconds = this.#soundBytes / 2 / HEARING_HZ;
    const file = this.#takeFile();
    if (seconds === 0) return;
    let text: string | undefined;
    try {
      text = await this.#transcribe(file, seconds * 1_000);
    } catch (cause) {
      // Each utterance is a request of its own, so later utterances are not lost.
      throw new UtteranceLost('the utterance was not transcribed', { cause });
    }
    if (text !== undefined && text !== '') this.#listener.transcript({ text, isFinal: true });
  }

  async dropUtterance(): Promise<void> {
    this.#takeFile();
  }

  close(): void {
    this.#takeFile();
    this.#closing.abort();
  }

  async #transcribe(bytes: Buffer, durationMs: number): Promise<string | undefined> {
    const sound = { durationMs, prompt: this.#expected.prompt };
    const file = { name: 'speech.wav', contentType: 'audio/wav', bytes, durationMs };
    const part = this.#part;
    const { signal } = this.#closing;
    const asked = await askSources(this.#deps, {
      part,
      signal,
      priceRaw: (source) => transcriptionBoundRaw(sound, source),
      ask: ({ rail, source }, paymentMethod) =>
        rail.transcribe(
          {
            model: source.upstreamModel,
            file,
            format: 'json',
            paymentMethod,
            ...this.#expected,
            fields: fieldsOf(this.#expected),
          },
          signal,
        ),
    });
    if (asked === undefined) return undefined;
    const { outcome, share, source, span, tab } = asked;
    span?.stop();
    share.drop();
    const { estimated, reported, usage } = meterTranscription(sound, outcome.usage, source);
    const text = textOf(outcome.body);
    // In the same turn of the event loop as the drop, so that waiters for the drop find the charge.
    tab.add({
      source,
      model: part.model.id,
      usage,
      span,
      brokenBy: text === undefined ? 'broken' : undefined,
      paidRaw: outcome.paidRaw,
      reported,
      isEstimated: estimated || undefined,
    });
    if (text !== undefined) return text;
    throw new StageFailed('upstream_broken', 'The transcription model sent no transcript.');
  }

  #makeRoom(bytes: number): void {
    if (this.#file.length >= bytes) return;
    const larger = Buffer.alloc(Math.max(HEAD_BYTES + FIRST_BYTES, 2 * this.#file.length));
    larger.set(this.#file.subarray(0, HEAD_BYTES + this.#soundBytes));
    this.#file = larger;
  }

  #takeFile(): Buffer {
    const file = this.#file.subarray(0, HEAD_BYTES + this.#soundBytes);
    if (this.#soundBytes > 0) file.set(headOf(this.#soundBytes));
    this.#file = Buffer.alloc(0);
    this.#soundBytes = 0;
    return file;
  }
}

const headOf = (dataBytes: number): Uint8Array =>
  wavHeader({ coding: 'linear16', sampleRateHz: HEARING_HZ, dataBytes });
const HEAD_BYTES = headOf(0).length;

/** Returns the language and prompt as form fields for the upstream. */
function fieldsOf({ language, prompt }: Expected): TranscriptionCall['fields'] {
  return [
    ['response_format', 'json'] as const,
    ...(language === undefined ? [] : [['language', language] as const]),
    ...(prompt === undefined ? [] : [['prompt', prompt] as const]),
  ];
}

/** Returns the transcript in an upstream's response body; undefined when the body has none. */
function textOf(body: Uint8Array): string | undefined {
  const value = tryParseJson(body, JSON_LIMITS.upstream);
  if (!isObject(value) || typeof value.text !== 'string') return undefined;
  return value.text.trim().slice(0, MODEL_LIMITS.link.itemChars);
}

/** Returns a recogniser of this process that is billed by seconds of audio heard. */
export function createLocalTranscriber(
  engine: SttEngine,
  { hold, tab }: ChargesOnHold,
  source: Source,
): SttEngine {
  return {
    async open(options) {
      const stream = await engine.open(options);
      let samples = 0;
      return {
        push(pcm) {
          samples += pcm.length;
          stream.push(pcm);
        },
        async endUtterance() {
          const seconds = Math.round((samples * 1_000) / HEARING_HZ) / 1_000;
          samples = 0;
          const usage = { audio_second: seconds };
          const share = await hold(sessionPrice(source, usage));
          try {
            await stream.endUtterance();
            if (seconds > 0) tab.add({ source, usage });
          } finally {
            share.drop();
          }
        },
        async dropUtterance() {
          samples = 0;
          await stream.endUtterance();
        },
        close: () => stream.close(),
      };
    },
  };
}
