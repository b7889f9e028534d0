import { bytesPerMs } from '../../../../media/coding.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { MODEL_LIMITS } from '../../../models/limits.ts';
import { HEARD_TOKEN_MS, SPOKEN_TOKEN_MS } from '../../../voice/billing/turn-meter.ts';
import type { SessionTally } from '../../../voice/live/session-tally.ts';
import type { SessionTrace } from '../../../voice/live/session-trace.ts';
import { parseAudioFormat } from '../audio-format.ts';

/** Upper bound of a session event in bytes. Longer events are not parsed. */
const MOST_SESSION_BYTES = 65_536;
/** Bytes of base64 per millisecond of audio of 24 kHz and 16 bits, the format in which a session begins. */
const USUAL_BYTES_PER_MS = 64;

/** Beginnings of clients' frames, without and with a blank after the colon. */
const APPENDS = ['{"type":"input_audio_buffer.append"', '{"type": "input_audio_buffer.append"'].map(
  (lead) => Buffer.from(lead),
);
const SOUNDS = [
  '{"type":"input_audio_buffer.append","audio":"',
  '{"type": "input_audio_buffer.append", "audio": "',
].map((lead) => Buffer.from(lead));
const COMMITS = ['{"type":"input_audio_buffer.commit"', '{"type": "input_audio_buffer.commit"'].map(
  (lead) => Buffer.from(lead),
);
/** Bytes of an `append` frame without its base64. */
const APPEND_FRAME_BYTES = '{"type":"input_audio_buffer.append","audio":""}'.length;
/** Event types of an answer's audio: the current type and its predecessor. */
const SOUND_TYPES: ReadonlySet<string> = new Set([
  'response.output_audio.delta',
  'response.audio.delta',
]);
/** Event with the whole text and call arguments of an answer. Some upstreams send no pieces before it. */
const WHOLE_ITEM = 'response.output_item.done';
const ITEM_LEADS = ['conversation.item.', 'response.output_item.'];
const DELTA = Buffer.from('"delta":"');
const QUOTE = 0x22;
const CLOSE_OBJECT = 0x7d;

/** Returns true when a client's frame is an audio event that begins with its type. */
export const isAppend = (bytes: Uint8Array): boolean => begins(bytes, APPENDS);

/** Returns true for a client's audio event whose members are its type and its audio, in this order, and nothing else. */
export function isSoundAlone(frame: Buffer): boolean {
  for (const lead of SOUNDS) {
    if (!startsWith(frame, lead)) continue;
    const end = frame.length - 2;
    return frame.indexOf(QUOTE, lead.length) === end && frame[end + 1] === CLOSE_OBJECT;
  }
  return false;
}

type TurnSignsDeps = {
  readonly tally: SessionTally;
  readonly clock: Clock;
  /** Undefined when the session is not traced. */
  readonly trace?: SessionTrace | undefined;
};

/**
 * Derives the timing and approximate tokens of turns from relayed frames. It reads only frames that begin with their
 * type, as vendors and clients write them. The tokens only bound a price, and cut an answer with a small hold.
 */
export class TurnSigns {
  readonly #tally: SessionTally;
  readonly #clock: Clock;
  readonly #trace: SessionTrace | undefined;
  #inBytesPerMs = USUAL_BYTES_PER_MS;
  #outBytesPerMs = USUAL_BYTES_PER_MS;
  /** Time when the answer began, on the monotonic clock; undefined once its audio has begun. */
  #begunAtMs: number | undefined;

  constructor({ clock, tally, trace }: TurnSignsDeps) {
    this.#tally = tally;
    this.#clock = clock;
    this.#trace = trace;
  }

  /** Records a client frame that arrived at `atMs`. `isSound` is the answer of `isAppend`. */
  up(bytes: Uint8Array, isSound: boolean, atMs: number): void {
    if (isSound) {
      const ms = this.#appendedMs(bytes);
      this.#tally.arrived(ms, atMs);
      this.#tally.heard(ms);
    } else if (begins(bytes, COMMITS)) {
      this.#speechEnded();
    }
  }

  /** Estimates the tokens of a client frame: audio by its length, text by its bytes. */
  inputTokens(bytes: Uint8Array, isSound: boolean): number {
    if (!isSound) return bytes.length / MODEL_LIMITS.tokens.charsEach;
    return this.#appendedMs(bytes) / HEARD_TOKEN_MS;
  }

  /** Returns the audio tokens of an answer in an upstream frame. A frame that does not begin with its type counts as audio. */
  spokenTokens(type: string | undefined, bytes: Buffer): number {
    if (type !== undefined && !SOUND_TYPES.has(type)) return 0;
    const length = type === undefined ? bytes.length : deltaBytes(bytes);
    return length / this.#outBytesPerMs / SPOKEN_TOKEN_MS;
  }

  /** Records an upstream frame that arrived at `arrivedAtMs` and was forwarded. */
  down(type: string, bytes: Buffer, arrivedAtMs: number): void {
    if (SOUND_TYPES.has(type)) this.#spoke(bytes, arrivedAtMs);
    switch (type) {
      case 'input_audio_buffer.speech_stopped':
        this.#speechEnded();
        break;
      case 'response.created':
        this.#begunAtMs = arrivedAtMs;
        this.#tally.answerBegan();
        break;
      case 'conversation.item.truncated':
        this.#tally.interrupted();
        this.#trace?.interrupted();
        break;
      case 'session.created':
      case 'session.updated':
        this.#readFormats(bytes);
        break;
    }
  }

  /** Records the end of speech. The upstream does not report when the words are known, so they count as known at once. */
  #speechEnded(): void {
    this.#tally.speechEnded();
    this.#trace?.heard(0, true);
  }

  #appendedMs(bytes: Uint8Array): number {
    return Math.max(0, bytes.length - APPEND_FRAME_BYTES) / this.#inBytesPerMs;
  }

  #spoke(bytes: Buffer, arrivedAtMs: number): void {
    if (this.#begunAtMs !== undefined) {
      const nowMs = this.#clock.monotonicMs();
      this.#tally.stage('first_audio', nowMs - this.#begunAtMs);
      this.#tally.stage('forward', nowMs - arrivedAtMs);
      this.#begunAtMs = undefined;
      this.#trace?.sounded();
    }
    this.#tally.spoke(deltaBytes(bytes) / this.#outBytesPerMs);
  }

  #readFormats(bytes: Buffer): void {
    if (bytes.length > MOST_SESSION_BYTES) return;
    const { session } = parse(bytes);
    if (!isObject(session)) return;
    const { audio, input_audio_format: oldIn, output_audio_format: oldOut } = session;
    const { input, output } = isObject(audio) ? audio : {};
    this.#inBytesPerMs = charsPerMs(isObject(input) ? input.format : oldIn);
    this.#outBytesPerMs = charsPerMs(isObject(output) ? output.format : oldOut);
  }
}

const begins = (bytes: Uint8Array, leads: readonly Buffer[]): boolean =>
  leads.some((lead) => startsWith(bytes, lead));

const startsWith = (bytes: Uint8Array, lead: Buffer): boolean =>
  bytes.length > lead.length && lead.compare(bytes, 0, lead.length) === 0;

/**
 * Returns the upper bound of an answer's text tokens in an upstream frame, in pieces or as a whole item. A token has at least
 * one byte.
 */
export function writtenTokens(type: string | undefined, bytes: Buffer): number {
  if (type === undefined || type === WHOLE_ITEM) return bytes.length;
  return isText(type) ? deltaBytes(bytes) : 0;
}

/** Returns the bytes of conversation items in an upstream frame, such as the result of an MCP call. */
export const itemBytes = (type: string | undefined, bytes: Buffer): number =>
  type === undefined || ITEM_LEADS.some((lead) => type.startsWith(lead)) ? bytes.length : 0;

/** Returns true when an upstream frame is a piece of an answer's text. */
export const isText = (type: string | undefined): boolean =>
  type?.startsWith('response.') === true && type.endsWith('.delta') && !SOUND_TYPES.has(type);

function deltaBytes(frame: Buffer): number {
  const at = frame.indexOf(DELTA);
  return at === -1 ? 0 : Math.max(0, frame.lastIndexOf(QUOTE) - at - DELTA.length);
}

/** Returns the base64 characters per millisecond of audio in a format. */
function charsPerMs(format: unknown): number {
  const known = parseAudioFormat(format);
  if (known === undefined) return USUAL_BYTES_PER_MS;
  return (bytesPerMs(known) * 4) / 3;
}

function parse(bytes: Buffer): Json {
  const event = tryParseJson(bytes);
  return isObject(event) ? event : {};
}
