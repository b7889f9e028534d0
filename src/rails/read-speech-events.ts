import { isObject } from '../kernel/json.ts';
import { parseData } from './chat-tap.ts';
import { StreamBroken } from './event-reader.ts';
import type { SpeechTokens } from './speech-rail.ts';
import { SseEvents } from './sse-events.ts';

/** Takes the sound out of the events that an upstream sends it in, and hears from the last one what it used. */
export class SpeechEventReader {
  readonly #events = new SseEvents();
  #usage: SpeechTokens | null = null;
  #isDone = false;

  get usage(): SpeechTokens | null {
    return this.#usage;
  }

  /** Whether the upstream has said that this was all. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** The sound in the events that are whole now. Throws where one tells of a failure, or is none. */
  push(chunk: Uint8Array): Buffer {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    return Buffer.concat(this.#events.push(bytes).map((event) => this.#read(event)));
  }

  #read(event: Buffer): Buffer {
    const data = parseData(event);
    if (!isObject(data)) return NONE;
    if ('error' in data || data.type === 'error') throw new StreamBroken('it told of an error');
    if (data.type === 'speech.audio.done') {
      this.#isDone = true;
      this.#usage = readTokens(data.usage);
    }
    const isSound = data.type === 'speech.audio.delta' && typeof data.audio === 'string';
    return isSound ? Buffer.from(data.audio as string, 'base64') : NONE;
  }
}

const NONE = Buffer.alloc(0);

function readTokens(usage: unknown): SpeechTokens | null {
  if (!isObject(usage)) return null;
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage;
  return isCount(inputTokens) && isCount(outputTokens) ? { inputTokens, outputTokens } : null;
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;
