import type { Json } from '../../../kernel/json.ts';
import { RESPONSES_LIMITS } from '../limits.ts';

const { outputParts } = RESPONSES_LIMITS.answer;

export type Emit = (type: string, fields: Json) => void;

/** Emits an event whose members are JSON text. */
export type EmitWritten = (type: string, members: string) => void;

/** Place of an item in the output, and the functions that emit its events. */
export type ItemPlace = {
  readonly id: string;
  readonly outputIndex: number;
  /** Emitter of the item's events. Undefined, like `emitWritten`, for a response that is not streamed. */
  readonly emit: Emit | undefined;
  readonly emitWritten: EmitWritten | undefined;
};

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** One item of the output. It grows until it is closed. */
export interface OutputItem {
  readonly isOpen: boolean;
  shown(): Json;
  /** Closes the item. Has no effect on a closed item. */
  close(status: Exclude<ItemStatus, 'in_progress'>): void;
}

/**
 * Emits the events of one item: its begin, its deltas, and the whole item at its end. The members of an event are built only
 * for a streamed response.
 */
export class ItemEvents {
  readonly #place: ItemPlace;
  /** JSON members at the beginning of all events within the item. */
  #begin: string | undefined;

  constructor(place: ItemPlace) {
    this.#place = place;
  }

  get id(): string {
    return this.#place.id;
  }

  /** Emits the begin or the end of the item. */
  item(type: 'added' | 'done', item: () => Json): void {
    const { emit, outputIndex: output_index } = this.#place;
    emit?.(`response.output_item.${type}`, { output_index, item: item() });
  }

  /** Emits an event within the item. */
  within(type: string, fields: () => Json): void {
    const { emit, id: item_id, outputIndex: output_index } = this.#place;
    emit?.(`response.${type}`, { item_id, output_index, ...fields() });
  }

  /** Emits a delta of a text. Its JSON is concatenated, because a stream has thousands of these events. */
  delta(
    type: string,
    delta: string,
    { contentIndex, logprobs }: { readonly contentIndex: number; logprobs?: readonly unknown[] },
  ): void {
    const { emitWritten, id, outputIndex } = this.#place;
    if (emitWritten === undefined) return;
    this.#begin ??= `"item_id":${JSON.stringify(id)},"output_index":${outputIndex}`;
    const odds = logprobs === undefined ? '' : `,"logprobs":${JSON.stringify(logprobs)}`;
    const text = `"content_index":${contentIndex},"delta":${JSON.stringify(delta)}`;
    emitWritten(`response.${type}`, `${this.#begin},${text}${odds}`);
  }
}

type Part = { readonly type: 'output_text' | 'refusal'; text: string; readonly odds: unknown[] };

const shownPart = ({ odds, text, type }: Part): Json =>
  type === 'refusal'
    ? { type, refusal: text }
    : { type, annotations: [], logprobs: [...odds], text };

/** Message of the assistant. Its parts are text or a refusal. */
export class MessageItem implements OutputItem {
  readonly #events: ItemEvents;
  readonly #parts: Part[] = [];
  #status: ItemStatus = 'in_progress';

  constructor(place: ItemPlace) {
    this.#events = new ItemEvents(place);
    this.#events.item('added', () => this.shown());
  }

  get isOpen(): boolean {
    return this.#status === 'in_progress';
  }

  say(delta: string, logprobs: readonly unknown[]): void {
    const [part, contentIndex] = this.#part('output_text');
    part.text += delta;
    for (const odd of logprobs) part.odds.push(odd);
    this.#events.delta('output_text.delta', delta, { contentIndex, logprobs });
  }

  refuse(delta: string): void {
    const [part, contentIndex] = this.#part('refusal');
    part.text += delta;
    this.#events.delta('refusal.delta', delta, { contentIndex });
  }

  close(status: 'completed' | 'incomplete'): void {
    if (!this.isOpen) return;
    // An answer without text has an empty text part, as OpenAI's answers do.
    if (this.#parts.length === 0) this.#part('output_text');
    this.#closePart();
    this.#status = status;
    this.#events.item('done', () => this.shown());
  }

  shown(): Json {
    const content = this.#parts.map(shownPart);
    const { id } = this.#events;
    return { id, type: 'message', status: this.#status, role: 'assistant', content };
  }

  #part(type: Part['type']): readonly [Part, number] {
    const last = this.#parts.at(-1);
    if (last?.type === type) return [last, this.#parts.length - 1];
    if (this.#parts.length >= outputParts) {
      throw new Error(`an item has more than ${outputParts} parts`);
    }
    this.#closePart();
    const part: Part = { type, text: '', odds: [] };
    const content_index = this.#parts.push(part) - 1;
    this.#events.within('content_part.added', () => ({ content_index, part: shownPart(part) }));
    return [part, content_index];
  }

  #closePart(): void {
    const part = this.#parts.at(-1);
    if (part === undefined) return;
    const content_index = this.#parts.length - 1;
    const { odds, text, type } = part;
    if (type === 'refusal') {
      this.#events.within('refusal.done', () => ({ content_index, refusal: text }));
    } else {
      const done = () => ({ content_index, text, logprobs: [...odds] });
      this.#events.within('output_text.done', done);
    }
    this.#events.within('content_part.done', () => ({ content_index, part: shownPart(part) }));
  }
}

/** Thoughts of a model, when its upstream shows them. */
export class ReasoningItem implements OutputItem {
  readonly #events: ItemEvents;
  #text = '';
  #status: ItemStatus = 'in_progress';

  constructor(place: ItemPlace) {
    this.#events = new ItemEvents(place);
    this.#events.item('added', () => ({ ...this.shown(), content: [] }));
    this.#events.within('content_part.added', () => ({ content_index: 0, part: this.#part() }));
  }

  get isOpen(): boolean {
    return this.#status === 'in_progress';
  }

  say(delta: string): void {
    this.#text += delta;
    this.#events.delta('reasoning_text.delta', delta, { contentIndex: 0 });
  }

  close(status: 'completed' | 'incomplete'): void {
    if (!this.isOpen) return;
    this.#status = status;
    this.#events.within('reasoning_text.done', () => ({ content_index: 0, text: this.#text }));
    this.#events.within('content_part.done', () => ({ content_index: 0, part: this.#part() }));
    this.#events.item('done', () => this.shown());
  }

  shown(): Json {
    const { id } = this.#events;
    return { id, type: 'reasoning', status: this.#status, summary: [], content: [this.#part()] };
  }

  #part = (): Json => ({ type: 'reasoning_text', text: this.#text });
}
