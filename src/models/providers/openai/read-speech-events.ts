import { isObject } from '../../../kernel/json.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import type { SpeechTokens } from '../speech-rail.ts';
import { tokenCount } from '../token-count.ts';
import { StreamBroken } from './answer-reader.ts';
import { readData } from './chat-tap.ts';
import { EventReader } from './event-reader.ts';

/** Decodes the audio in an upstream's events, and reads the usage of the last event. */
export class SpeechEventReader {
  readonly #events: EventReader;
  #usage: SpeechTokens | null = null;

  constructor(answer: OpenedAnswer) {
    this.#events = new EventReader(answer);
  }

  get usage(): SpeechTokens | null {
    return this.#usage;
  }

  get isOver(): boolean {
    return this.#events.isOver;
  }

  /**
   * Returns the audio of the next complete events. Throws StreamBroken when an event reports a failure, or the stream ends
   * without a last event.
   */
  async read(): Promise<Buffer> {
    const events = await this.#events.read();
    if (events === undefined) throw new StreamBroken('it ended before its end');
    const sounds: Buffer[] = [];
    for (const event of events) sounds.push(this.#soundOf(await readData(event)));
    return Buffer.concat(sounds);
  }

  stop(): void {
    this.#events.stop();
  }

  #soundOf(data: unknown): Buffer {
    if (!isObject(data)) return NONE;
    if ('error' in data || data.type === 'error') {
      this.stop();
      throw new StreamBroken('it told of an error');
    }
    if (data.type === 'speech.audio.done') {
      this.#events.finish();
      this.#usage = readTokens(data.usage);
    }
    const isSound = data.type === 'speech.audio.delta' && typeof data.audio === 'string';
    return isSound ? Buffer.from(data.audio as string, 'base64') : NONE;
  }
}

const NONE = Buffer.alloc(0);

function readTokens(usage: unknown): SpeechTokens | null {
  if (!isObject(usage)) return null;
  const inputTokens = tokenCount(usage.input_tokens);
  const outputTokens = tokenCount(usage.output_tokens);
  if (inputTokens === undefined || outputTokens === undefined) return null;
  return { inputTokens, outputTokens };
}
