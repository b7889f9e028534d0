import { createHash } from 'node:crypto';
import type { Ending } from '../../../../machines/transcription-stream.ts';
import { spreadWords } from '../../../engines/asr/spread-words.ts';
import type { TimedWord } from '../../../engines/engine.ts';
import { uuidOf } from '../../../kernel/ids.ts';
import { upstreamClosed } from '../../../voice/live/voice-endings.ts';
import type { Heard, Segment } from '../../../voice/stt/transcriber-events.ts';
import type {
  Total,
  TranscriptDialect,
  TranscriptWriter,
} from '../../../voice/transcription/dialect.ts';
import { DEEPGRAM_LIMITS } from '../limits.ts';

/** Query parameters of the stream that change its messages. */
export type ListenParameters = {
  readonly interimResults: boolean;
  /** Milliseconds of silence that end an utterance. With false, silence ends none, but the words still become final. */
  readonly endpointingMs: number | false;
  readonly utteranceEndMs: number | undefined;
  readonly vadEvents: boolean;
  /** True when words also carry `punctuated_word`. */
  readonly punctuated: boolean;
};

export type ListenStream = {
  readonly requestId: string;
  /** Time when the stream was opened, in ISO 8601. */
  readonly created: string;
  readonly model: { readonly id: string; readonly arch: string; readonly version: string };
};

const {
  endpointingMs: SILENCE,
  idleSeconds: listenIdleSeconds,
  keptSeconds: listenKeptSeconds,
} = DEEPGRAM_LIMITS.listen;
/** Value of `channel_index`: the index of the only channel, and the number of channels. */
const CHANNEL = [0, 1] as const;

/**
 * Returns the dialect of Deepgram's messages: `Results`, `SpeechStarted`, `UtteranceEnd`, an `Error`, and at the end
 * `Metadata`, whose `duration` is the billed audio.
 */
export function listenDialect(
  parameters: ListenParameters,
  stream: ListenStream,
): TranscriptDialect {
  const asked = parameters.endpointingMs === false ? SILENCE.usual : parameters.endpointingMs;
  return {
    silenceDurationMs: Math.min(Math.max(asked, SILENCE.min), SILENCE.max),
    quietMs: listenIdleSeconds * 1_000,
    keptMs: listenKeptSeconds * 1_000,
    quiet: {
      code: 1011,
      reason: `NET-0001: neither audio nor a KeepAlive in ${listenIdleSeconds} s`,
    },
    relayed: (frame) => frame,
    passedOn: (type) =>
      type === 'KeepAlive' || type === 'Finalize' ? JSON.stringify({ type }) : undefined,
    brokenOff: (code, reason) =>
      isSendable(code) ? { code, reason } : upstreamClosed(code, reason),
    keepsUpstream: false,
    writer: (send) => new ListenWriter(parameters, stream, send),
  };
}

/** Returns true when a close frame may carry the code. Libraries report other codes, such as 1006 for a missing frame. */
const isSendable = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && (code < 1004 || code > 1006)) || (code >= 3000 && code < 5000);

type Result = Pick<Segment, 'text' | 'isFinal' | 'words' | 'startMs' | 'endMs'> & {
  readonly speechFinal: boolean;
  readonly fromFinalize: boolean;
};

class ListenWriter implements TranscriptWriter {
  readonly #parameters: ListenParameters;
  readonly #stream: ListenStream;
  readonly #modelUuid: string;
  readonly #send: (message: Readonly<Record<string, unknown>>) => void;
  readonly #digest = createHash('sha256');
  /** End of the last words; undefined once `UtteranceEnd` is sent for those words. */
  #lastWordEndMs: number | undefined;
  #nowMs = 0;
  /** Number of utterances that have begun and are not transcribed yet. */
  #open = 0;

  constructor(
    parameters: ListenParameters,
    stream: ListenStream,
    send: (message: Readonly<Record<string, unknown>>) => void,
  ) {
    this.#parameters = parameters;
    this.#stream = stream;
    this.#send = send;
    // The protocol names models by UUID.
    this.#modelUuid = uuidOf(stream.model.id);
  }

  took(bytes: Uint8Array, nowMs: number): void {
    this.#digest.update(bytes);
    this.#nowMs = nowMs;
    this.#sendUtteranceEnd();
  }

  began(atMs: number): void {
    this.#open += 1;
    if (!this.#parameters.vadEvents) return;
    this.#send({ type: 'SpeechStarted', channel: CHANNEL, timestamp: seconds(atMs) });
  }

  segment(segment: Segment): void {
    if (segment.isFinal || this.#parameters.interimResults) {
      this.#result({ ...segment, speechFinal: false, fromFinalize: false });
    }
  }

  heard({ asked, endMs, isCut, startMs, tail, text, words }: Heard): void {
    this.#open -= 1;
    if (text !== '') this.#lastWordEndMs = words?.at(-1)?.endMs ?? endMs;
    this.#result({
      text: tail,
      words,
      startMs,
      endMs,
      isFinal: true,
      speechFinal: asked || (!isCut && this.#parameters.endpointingMs !== false),
      fromFinalize: asked,
    });
    // The silence that triggers `UtteranceEnd` may have passed while the words were being transcribed.
    this.#sendUtteranceEnd();
  }

  nothingLeft(nowMs: number): void {
    this.#result({
      text: '',
      startMs: nowMs,
      endMs: nowMs,
      isFinal: true,
      speechFinal: true,
      fromFinalize: true,
    });
  }

  misunderstood(reason: string): void {
    this.#error('UnknownClientMessage', reason);
  }

  ended({ error }: Ending, total: Total | undefined): void {
    if (total !== undefined) this.#metadata(total);
    if (error !== undefined) this.#error(error.code, error.message, error.unheardSeconds);
  }

  #metadata({ seconds: duration }: Total): void {
    const { created, requestId } = this.#stream;
    this.#send({
      type: 'Metadata',
      transaction_key: 'deprecated',
      request_id: requestId,
      sha256: this.#digest.digest('hex'),
      created,
      duration,
      channels: 1,
      models: [this.#modelUuid],
      model_info: { [this.#modelUuid]: this.#modelInfo },
    });
  }

  #sendUtteranceEnd(): void {
    const { utteranceEndMs } = this.#parameters;
    const lastWordEndMs = this.#lastWordEndMs;
    if (utteranceEndMs === undefined || lastWordEndMs === undefined || this.#open > 0) return;
    if (this.#nowMs - lastWordEndMs < utteranceEndMs) return;
    this.#lastWordEndMs = undefined;
    this.#send({ type: 'UtteranceEnd', channel: CHANNEL, last_word_end: seconds(lastWordEndMs) });
  }

  #error(variant: string, description: string, unheard_seconds?: number): void {
    this.#send({ type: 'Error', variant, description, message: description, unheard_seconds });
  }

  #result({ fromFinalize, isFinal, speechFinal, text, ...result }: Result): void {
    const words = result.words ?? spreadWords(text, result.startMs, result.endMs);
    // Words that were transcribed late may begin before words that were already sent.
    const startMs = Math.min(result.startMs, words[0]?.startMs ?? result.startMs);
    const endMs = Math.max(result.endMs, words.at(-1)?.endMs ?? result.endMs);
    this.#send({
      type: 'Results',
      channel_index: CHANNEL,
      duration: seconds(endMs - startMs),
      start: seconds(startMs),
      is_final: isFinal,
      speech_final: speechFinal,
      channel: {
        alternatives: [
          {
            transcript: text,
            confidence: text === '' ? 0 : 1,
            words: words.map((word) => this.#word(word)),
          },
        ],
      },
      metadata: {
        request_id: this.#stream.requestId,
        model_info: this.#modelInfo,
        model_uuid: this.#modelUuid,
      },
      from_finalize: fromFinalize,
    });
  }

  #word({ endMs, startMs, word }: TimedWord) {
    const timed = { word, start: seconds(startMs), end: seconds(endMs), confidence: 1 };
    return this.#parameters.punctuated ? { ...timed, punctuated_word: word } : timed;
  }

  get #modelInfo() {
    const { arch, id, version } = this.#stream.model;
    return { name: id, version, arch };
  }
}

const seconds = (ms: number): number => ms / 1_000;
