import type { Ending } from '../../../../machines/transcription-stream.ts';
import { spreadWords } from '../../../engines/asr/spread-words.ts';
import type { TimedWord } from '../../../engines/engine.ts';
import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import type { Heard, Segment } from '../../../voice/stt/transcriber-events.ts';
import type { TranscriptWriter } from '../../../voice/transcription/dialect.ts';
import { DEEPGRAM_LIMITS } from '../limits.ts';
import { configured, type TurnSettings } from './turn-thresholds.ts';

export type TurnStream = {
  readonly requestId: string;
};

type Send = (message: Readonly<Record<string, unknown>>) => void;
type TurnEvent = 'StartOfTurn' | 'Update' | 'EagerEndOfTurn' | 'TurnResumed' | 'EndOfTurn';
type Trigger = 'model' | 'manual' | 'timeout';

const { silenceMs: eotSilenceMs, updateMs: turnUpdateMs, words: turnWords } = DEEPGRAM_LIMITS.turn;

/** A turn in progress, which began with its first words. */
type Turn = {
  readonly startMs: number;
  readonly words: TimedWord[];
  /** Words that may still change; they follow `words`. */
  guess: readonly TimedWord[];
  lastVoiceMs: number;
  isEager: boolean;
};

/**
 * Writes a transcript in turns. A turn begins with its first words and continues over utterances without a long silence between
 * them. The recognisers of this server report no confidence that a turn is over, so it is derived from the silence after the
 * last words: it grows as 1 - e^(-silence / 600 ms), and falls to 0 when speech begins.
 */
export class TurnWriter implements TranscriptWriter {
  #settings: TurnSettings;
  readonly #stream: TurnStream;
  readonly #send: Send;
  #sequence = 0;
  #turnIndex = 0;
  #turn: Turn | undefined;
  /** End of the last turn, in milliseconds of the stream. */
  #fromMs = 0;
  #nowMs = 0;
  #updatedMs = 0;
  /** Number of utterances that have begun and are not transcribed yet. */
  #open = 0;

  constructor(settings: TurnSettings, stream: TurnStream, send: Send) {
    this.#settings = settings;
    this.#stream = stream;
    this.#send = send;
  }

  attached(): void {
    this.#say({ type: 'Connected', request_id: this.#stream.requestId });
  }

  message(type: string, text: string): void {
    if (type !== 'Configure') return;
    const settings = configured(this.#settings, tryParseJson(text));
    const request_id = this.#stream.requestId;
    if (settings === undefined) {
      this.#say({ type: 'ConfigureFailure', request_id });
      return;
    }
    this.#settings = settings;
    const { keyterms, thresholds } = settings;
    this.#say({ type: 'ConfigureSuccess', request_id, thresholds, keyterms, language_hints: [] });
    this.#judge();
  }

  took(_bytes: Uint8Array, nowMs: number): void {
    this.#nowMs = nowMs;
    this.#judge();
    if (nowMs - this.#updatedMs >= turnUpdateMs) this.#tell('Update');
  }

  began(): void {
    this.#open += 1;
    if (this.#turn?.isEager !== true) return;
    this.#turn.isEager = false;
    this.#tell('TurnResumed');
  }

  segment({ endMs, isFinal, startMs, text, words }: Segment): void {
    if (text === '') return;
    const said = words ?? spreadWords(text, startMs, endMs);
    const { turn, isNew } = this.#turnFrom(startMs);
    if (isFinal) turn.words.push(...said);
    turn.guess = isFinal ? [] : said;
    turn.lastVoiceMs = endMs;
    if (isNew) this.#tell('StartOfTurn');
    if (isFinal) this.#judge();
  }

  heard({ asked, endMs, startMs, tail, words }: Heard): void {
    this.#open -= 1;
    if (tail !== '') {
      const { turn, isNew } = this.#turnFrom(startMs);
      turn.words.push(...(words ?? spreadWords(tail, startMs, endMs)));
      turn.lastVoiceMs = endMs;
      if (isNew) this.#tell('StartOfTurn');
    }
    if (this.#turn !== undefined) this.#turn.guess = [];
    if (asked) this.#end('manual');
    else this.#judge();
  }

  nothingLeft(): void {
    this.#end('manual');
  }

  /** Reports a settings message that was refused here. An upstream's own messages have a count of their own. */
  misunderstood(description: string): void {
    this.#say({ type: 'ConfigureFailure', request_id: this.#stream.requestId, description });
  }

  /** Ends the stream. Like the vendor, sends no `EndOfTurn` for a turn in progress. */
  ended({ error }: Ending): void {
    if (this.#turn !== undefined) this.#tell('Update');
    if (error === undefined) return;
    const { code, message: description, unheardSeconds: unheard_seconds } = error;
    this.#say({ type: 'Error', code, description, unheard_seconds });
  }

  #turnFrom(startMs: number): { readonly turn: Turn; readonly isNew: boolean } {
    const isNew = this.#turn === undefined;
    this.#turn ??= { startMs, words: [], guess: [], lastVoiceMs: startMs, isEager: false };
    return { turn: this.#turn, isNew };
  }

  /** Ends the turn, or reports its likely end, when the silence after its words is long enough. */
  #judge(): void {
    const turn = this.#turn;
    if (turn === undefined || turn.words.length === 0) return;
    // The number of words is bounded even in speech without a pause, because each message repeats all words of its turn.
    if (turn.words.length >= turnWords) this.#end('timeout');
    if (this.#turn === undefined || this.#open > 0) return;
    const { eager_eot_threshold: eager, eot_threshold, eot_timeout_ms } = this.#settings.thresholds;
    const confidence = this.#confidence;
    if (eager !== undefined && confidence >= eager && !turn.isEager) {
      turn.isEager = true;
      this.#tell('EagerEndOfTurn');
    }
    if (confidence >= eot_threshold) this.#end('model');
    else if (this.#nowMs - turn.lastVoiceMs >= eot_timeout_ms) this.#end('timeout');
  }

  /** Ends the turn in progress; does nothing without a turn. */
  #end(trigger: Trigger): void {
    if (this.#turn === undefined) return;
    this.#tell('EndOfTurn', trigger);
    this.#turn = undefined;
    this.#fromMs = this.#nowMs;
    this.#turnIndex += 1;
  }

  /** Confidence that the turn is over, from 0 to 0.999. A threshold of 1 therefore leaves the end of turns to the client. */
  get #confidence(): number {
    if (this.#turn === undefined || this.#open > 0) return 0;
    const silenceMs = Math.max(0, this.#nowMs - this.#turn.lastVoiceMs);
    return Math.min(0.999, 1 - Math.exp(-silenceMs / eotSilenceMs));
  }

  #tell(event: TurnEvent, trigger?: Trigger): void {
    this.#updatedMs = this.#nowMs;
    const words = this.#turn === undefined ? [] : [...this.#turn.words, ...this.#turn.guess];
    this.#say({
      type: 'TurnInfo',
      request_id: this.#stream.requestId,
      event,
      turn_index: this.#turnIndex,
      audio_window_start: seconds(this.#turn?.startMs ?? this.#fromMs),
      audio_window_end: seconds(this.#nowMs),
      transcript: words.map(({ word }) => word).join(' '),
      words: words.map(turnWord),
      end_of_turn_confidence: Math.round(1_000 * this.#confidence) / 1_000,
      trigger,
    });
  }

  #say(message: Readonly<Record<string, unknown>>): void {
    this.#send({ ...message, sequence_id: this.#sequence++ });
  }
}

const turnWord = ({ endMs, startMs, word }: TimedWord) => ({
  word,
  confidence: 1,
  start: seconds(startMs),
  end: seconds(endMs),
});

const seconds = (ms: number): number => Math.round(ms) / 1_000;
