import type { Clock } from '../../kernel/clock.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { tryParseJson } from '../../kernel/parse-json.ts';
import { HEARD_TOKEN_MS, SPOKEN_TOKEN_MS } from '../billing/turn-meter.ts';
import { parseAudioFormat, samplesOf } from '../session/audio-format.ts';
import type { SessionTally } from '../session/session-tally.ts';

/** Longer descriptions of a session are not read. */
const MOST_SESSION_BYTES = 65_536;
/** Base64 of 24 kHz and 16 bits, which is what a session begins with. */
const USUAL_BYTES_PER_MS = 64;

/** How clients write their sound, without blanks and with one. */
const APPENDS = ['{"type":"input_audio_buffer.append"', '{"type": "input_audio_buffer.append"'].map(
  (lead) => Buffer.from(lead),
);
const COMMITS = ['{"type":"input_audio_buffer.commit"', '{"type": "input_audio_buffer.commit"'].map(
  (lead) => Buffer.from(lead),
);
/** The quotes and names around the sound of an `append`. */
const APPEND_FRAME_BYTES = '{"type":"input_audio_buffer.append","audio":""}'.length;
/** Sound of an answer, as vendors name it now and did before. */
const SOUND_TYPES: ReadonlySet<string> = new Set([
  'response.output_audio.delta',
  'response.audio.delta',
]);
const DELTA = Buffer.from('"delta":"');
const QUOTE = 0x22;

/** Whether a client's frame is sound and nothing else, written with its type first. */
export const isAppend = (bytes: Uint8Array): boolean => begins(bytes, APPENDS);

/**
 * Reads off the frames of a relayed session how its turns go. It knows only frames that are written with their type
 * first, as vendors and their clients write them, and reads sound by its length. No price depends on it, only where an
 * answer is broken off that less is held for than it may come to.
 */
export class TurnSigns {
  readonly #tally: SessionTally;
  readonly #clock: Clock;
  #inBytesPerMs = USUAL_BYTES_PER_MS;
  #outBytesPerMs = USUAL_BYTES_PER_MS;
  /** When the answer began whose sound has not. */
  #begunAtMs: number | undefined;

  constructor({ tally, clock }: { readonly tally: SessionTally; readonly clock: Clock }) {
    this.#tally = tally;
    this.#clock = clock;
  }

  /** A frame of the client came at `atMs`. */
  up(bytes: Uint8Array, atMs: number): void {
    if (isAppend(bytes)) {
      const ms = this.#appendedMs(bytes);
      this.#tally.arrived(ms, atMs);
      this.#tally.heard(ms);
    } else if (begins(bytes, COMMITS)) {
      this.#tally.speechEnded();
    }
  }

  /** About how many tokens a frame of the client adds to the conversation: sound by its length, text by its bytes. */
  inputTokens(bytes: Uint8Array): number {
    if (!isAppend(bytes)) return bytes.length / LIMITS.charsPerToken;
    return this.#appendedMs(bytes) / HEARD_TOKEN_MS;
  }

  /**
   * About how many tokens of an answer a frame of the upstream has: those of its sound, and one for each piece of text.
   * Of a frame whose type does not come first, all bytes count as sound.
   */
  answerTokens(type: string | undefined, bytes: Buffer): number {
    if (type === undefined) return bytes.length / this.#outBytesPerMs / SPOKEN_TOKEN_MS;
    if (SOUND_TYPES.has(type)) return soundBytes(bytes) / this.#outBytesPerMs / SPOKEN_TOKEN_MS;
    return type.startsWith('response.') && type.endsWith('.delta') ? 1 : 0;
  }

  /** A frame of the upstream has gone on that came at `arrivedAtMs`. */
  down(type: string, bytes: Buffer, arrivedAtMs: number): void {
    if (SOUND_TYPES.has(type)) this.#spoke(bytes, arrivedAtMs);
    switch (type) {
      case 'input_audio_buffer.speech_stopped':
        this.#tally.speechEnded();
        break;
      case 'response.created':
        this.#begunAtMs = arrivedAtMs;
        this.#tally.answerBegan();
        break;
      case 'conversation.item.truncated':
        this.#tally.interrupted();
        break;
      case 'session.created':
      case 'session.updated':
        this.#readFormats(bytes);
        break;
    }
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
    }
    this.#tally.spoke(soundBytes(bytes) / this.#outBytesPerMs);
  }

  #readFormats(bytes: Buffer): void {
    if (bytes.length > MOST_SESSION_BYTES) return;
    const { session } = parse(bytes);
    if (!isObject(session)) return;
    const { audio, input_audio_format: oldIn, output_audio_format: oldOut } = session;
    const { input, output } = isObject(audio) ? audio : {};
    this.#inBytesPerMs = bytesPerMs(isObject(input) ? input.format : oldIn);
    this.#outBytesPerMs = bytesPerMs(isObject(output) ? output.format : oldOut);
  }
}

const begins = (bytes: Uint8Array, leads: readonly Buffer[]): boolean =>
  leads.some((lead) => bytes.length > lead.length && lead.compare(bytes, 0, lead.length) === 0);

function soundBytes(frame: Buffer): number {
  const at = frame.indexOf(DELTA);
  return at === -1 ? 0 : Math.max(0, frame.lastIndexOf(QUOTE) - at - DELTA.length);
}

/** In base64. */
function bytesPerMs(format: unknown): number {
  const known = parseAudioFormat(format);
  if (known === undefined) return USUAL_BYTES_PER_MS;
  return (samplesOf(known).bytesPerSecond * 4) / 3 / 1_000;
}

function parse(bytes: Buffer): Json {
  const event = tryParseJson(bytes);
  return isObject(event) ? event : {};
}
