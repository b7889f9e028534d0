import type { Json } from '../../kernel/json.ts';
import { messageEvent } from '../messages/message-events.ts';

type Kind = 'text' | 'thinking' | 'tool_use';

/** Writes the blocks of one message as events. One block is open at a time, and the indexes rise by one. */
export class MessageBlocks {
  #events = '';
  #index = -1;
  #open: Kind | undefined;

  /** Removes and returns the events written since the previous call. */
  take(): string {
    const events = this.#events;
    this.#events = '';
    return events;
  }

  event(type: string, more: object = {}): void {
    this.#events += messageEvent(type, more);
  }

  text(text: string): void {
    if (text === '') return;
    if (this.#open !== 'text') this.#start('text', { text: '' });
    this.#delta('text_delta', 'text', text);
  }

  thoughts(thinking: string): void {
    if (thinking === '') return;
    if (this.#open !== 'thinking') this.#start('thinking', { thinking: '', signature: '' });
    this.#delta('thinking_delta', 'thinking', thinking);
  }

  startCall(id: string, name: string): void {
    this.#start('tool_use', { id, name, input: {} });
  }

  /** Writes further arguments of the open call. */
  input(text: string): void {
    if (text !== '') this.#delta('input_json_delta', 'partial_json', text);
  }

  /** Ends the open block, if there is one. */
  stop(): void {
    if (this.#open === undefined) return;
    this.#open = undefined;
    this.event('content_block_stop', { index: this.#index });
  }

  #start(type: Kind, more: Json): void {
    this.stop();
    this.#open = type;
    this.#index++;
    this.event('content_block_start', { index: this.#index, content_block: { type, ...more } });
  }

  /** Writes a delta. Its JSON is concatenated, because a stream has thousands of these events. */
  #delta(type: string, member: string, text: string): void {
    const delta = `{"type":"${type}","${member}":${JSON.stringify(text)}}`;
    this.#events += `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":${delta}}\n\n`;
  }
}
