import { completionUsage } from '../providers/anthropic/message-usage.ts';
import type { TokenUsage } from '../providers/chat-rail.ts';
import { ReportedError } from '../providers/reported-error.ts';
import type { AnswerEvent, AnswerWriter } from './answer-event.ts';
import type { AnsweredCall } from './answered-calls.ts';

/**
 * Writes the chunks of a chat stream. The usage comes last, in a chunk without choices; the caller writes the terminator and the
 * report of a failure. Chat has no place for thoughts.
 */
export class ChatWriter implements AnswerWriter {
  readonly #createdSec: number;
  readonly #servedAs: string | undefined;
  readonly #wantsUsage: boolean;
  readonly #begun = new Set<AnsweredCall>();
  /** JSON of the members that all chunks have, without the closing brace. */
  #head = '';
  #chunks = '';

  /** `servedAs`: the model's name for the caller. `wantsUsage`: the caller requested the chunk with the usage. */
  constructor(options: {
    readonly createdSec: number;
    readonly servedAs?: string | undefined;
    readonly wantsUsage: boolean;
  }) {
    this.#createdSec = options.createdSec;
    this.#servedAs = options.servedAs;
    this.#wantsUsage = options.wantsUsage;
  }

  write(event: AnswerEvent): void {
    switch (event.kind) {
      case 'begin':
        this.#begin(event.id, event.model);
        break;
      case 'text':
        this.#delta(`{"content":${JSON.stringify(event.text)}}`);
        break;
      case 'refusal':
        this.#delta(`{"refusal":${JSON.stringify(event.text)}}`);
        break;
      case 'call':
        this.#call(event.call, event.text);
        break;
      case 'usage':
        this.#usage(event.usage);
        break;
      case 'end':
        this.#delta('{}', JSON.stringify(event.reason));
        break;
      case 'alive':
        this.#chunks += ':\n\n';
        break;
      case 'error':
        throw new ReportedError(event.error);
      case 'thought':
    }
  }

  finish(): void {}

  take(): string {
    const chunks = this.#chunks;
    this.#chunks = '';
    return chunks;
  }

  #begin(id: string, model: string): void {
    const object = 'chat.completion.chunk';
    const head = { id, object, created: this.#createdSec, model: this.#servedAs ?? model };
    this.#head = JSON.stringify(head).slice(0, -1);
    this.#delta('{"role":"assistant","content":"","refusal":null}');
  }

  #call(call: AnsweredCall, text: string): void {
    const { id, name, place: index } = call;
    const isNew = !this.#begun.has(call);
    this.#begun.add(call);
    const piece = isNew
      ? { index, id, type: 'function', function: { name, arguments: text } }
      : { index, function: { arguments: text } };
    this.#delta(JSON.stringify({ tool_calls: [piece] }));
  }

  #usage(usage: TokenUsage): void {
    if (this.#wantsUsage) this.#chunk(`[],"usage":${JSON.stringify(completionUsage(usage))}`);
  }

  #delta(delta: string, reason = 'null'): void {
    this.#chunk(`[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${reason}}]`);
  }

  #chunk(choices: string): void {
    this.#chunks += `data: ${this.#head},"choices":${choices}}\n\n`;
  }
}
