import { isObject, type Json } from '../../../kernel/json.ts';
import { StreamBroken } from '../openai/answer-reader.ts';
import { SseEvents } from '../openai/sse-events.ts';
import { ReportedError } from '../reported-error.ts';
import { completionUsage } from './message-usage.ts';
import { member, textMember } from './read-json.ts';
import { StreamedUsage } from './streamed-usage.ts';
import { ToolCallDeltas } from './tool-call-deltas.ts';
import { type FinishReason, finishReasonOf } from './translate-answer.ts';

/** State of the stream: `open` while events come, `finished` when it is complete, `failed` when it cannot be completed. */
type State = 'open' | 'finished' | 'failed';

/**
 * Translates the events of a Messages stream into OpenAI chunks while they arrive. Keeps only the incomplete event and the
 * names of the tool calls. The usage comes last, in a chunk without choices; the caller writes the terminator and the report of
 * a failure.
 */
export class StreamTranslator {
  readonly #createdSec: number;
  readonly #events = new SseEvents();
  readonly #tools = new ToolCallDeltas();
  #head: Json | undefined;
  #state: State = 'open';
  #failure: StreamBroken | undefined;
  #finishReason: FinishReason | undefined;
  readonly #usage = new StreamedUsage();

  constructor(createdSec: number) {
    this.#createdSec = createdSec;
  }

  get state(): State {
    return this.#state;
  }

  /** Error of a failed stream; undefined otherwise. */
  get failure(): StreamBroken | undefined {
    return this.#failure;
  }

  /** Usage of the stream up to now. */
  metered() {
    return this.#usage.metered();
  }

  /**
   * Translates the parsed data of an event; undefined data (invalid JSON) fails the stream. Returns the text of the chunk,
   * which is empty for an event without a chunk, and after the end of the stream.
   */
  translate(event: unknown): string {
    return this.#state === 'open' ? write(this.#translate(event)) : '';
  }

  /**
   * Ends the stream when the connection has ended. A stream that reported its stop reason is whole, even without a last event.
   */
  end(): string {
    return this.#state === 'open' ? write(this.#stop()) : '';
  }

  /** Returns the events that a piece of the stream completes, and none after the stream's end. */
  push(piece: Buffer): Buffer[] {
    if (this.#state !== 'open') return [];
    try {
      return this.#events.push(piece);
    } catch {
      this.#fail('an event is too large');
      return [];
    }
  }

  /** Returns the chunk of an event. Each event makes at most one chunk. */
  #translate(event: unknown): Json | undefined {
    if (!isObject(event)) return this.#fail('an event is not a JSON object');
    switch (event.type) {
      case 'message_start':
        return this.#start(member(event, 'message'));
      case 'error':
        return this.#fail(new ReportedError(event.error));
      case 'content_block_start':
      case 'content_block_delta':
      case 'content_block_stop':
      case 'message_delta':
      case 'message_stop':
        if (this.#head === undefined) return this.#fail('it did not begin with a message');
        return this.#continue(event);
      default:
        // Pings, and events of future kinds: the dialect requires readers to ignore events that they do not know.
        return undefined;
    }
  }

  #start(message: Json): Json | undefined {
    if (this.#head !== undefined) return this.#fail('it began twice');
    this.#head = {
      id: textMember(message, 'id'),
      object: 'chat.completion.chunk',
      created: this.#createdSec,
      model: textMember(message, 'model'),
    };
    this.#usage.beganBy(message.model);
    this.#usage.count(message.usage);
    return this.#chunk({ role: 'assistant', content: '', refusal: null });
  }

  #continue(event: Json): Json | undefined {
    switch (event.type) {
      case 'content_block_start':
        return this.#block(event.index, member(event, 'content_block'));
      case 'content_block_delta':
        return this.#delta(event.index, member(event, 'delta'));
      case 'content_block_stop':
        return this.#call(this.#tools.stop(event.index));
      case 'message_delta':
        return this.#finish(event);
      default:
        return this.#stop();
    }
  }

  #block(index: unknown, block: Json): Json | undefined {
    if (block.type === 'text') return this.#say(textMember(block, 'text'));
    if (block.type !== 'tool_use') return undefined;
    const call = this.#tools.start(index, block);
    if (call === undefined) return this.#fail('a tool call is none, or one too many');
    this.#usage.wrote(textMember(block, 'name').length);
    return this.#call(call);
  }

  #delta(index: unknown, delta: Json): Json | undefined {
    if (delta.type === 'text_delta') return this.#say(textMember(delta, 'text'));
    if (delta.type === 'input_json_delta') {
      const text = textMember(delta, 'partial_json');
      this.#usage.wrote(text.length);
      return this.#call(this.#tools.add(index, text));
    }
    // Chat has no place for thoughts, but they are billed as output.
    if (delta.type === 'thinking_delta') this.#usage.wrote(textMember(delta, 'thinking').length);
    return undefined;
  }

  #say(text: string): Json | undefined {
    this.#usage.wrote(text.length);
    return text === '' ? undefined : this.#chunk({ content: text });
  }

  #call(delta: Json | undefined): Json | undefined {
    return delta && this.#chunk({ tool_calls: [delta] });
  }

  #finish(event: Json): Json | undefined {
    this.#usage.countEnd(event.usage);
    const reason = member(event, 'delta').stop_reason;
    if (typeof reason !== 'string' || this.#finishReason !== undefined) return undefined;
    this.#finishReason = finishReasonOf(reason);
    this.#usage.endedFor(this.#finishReason);
    return this.#chunk({}, this.#finishReason);
  }

  #stop(): Json | undefined {
    if (this.#finishReason === undefined) return this.#fail('it ended before its end');
    this.#state = 'finished';
    const { usage } = this.metered();
    return usage === null
      ? undefined
      : { ...this.#head, choices: [], usage: completionUsage(usage) };
  }

  #chunk(delta: Json, finishReason: FinishReason | null = null): Json {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
    return { ...this.#head, choices: [choice] };
  }

  #fail(reason: string | StreamBroken): undefined {
    this.#state = 'failed';
    this.#failure = typeof reason === 'string' ? new StreamBroken(reason) : reason;
  }
}

const write = (chunk: Json | undefined): string =>
  chunk === undefined ? '' : `data: ${JSON.stringify(chunk)}\n\n`;
