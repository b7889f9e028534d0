import { isObject, type Json } from '../../../kernel/json.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import type { Reported } from '../chat-rail.ts';
import { messageNote } from './message-note.ts';
import { readMessageUsage } from './message-usage.ts';

const COUNTS = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const;

/** Usage of a Messages stream up to now: the upstream's running totals, and the characters written. */
export class StreamedUsage {
  #counts: Json = {};
  /** True when the upstream has counted the output, and not only reported its first tokens. */
  #isCounted = false;
  #answerChars = 0;
  #model: unknown;
  #stopReason: unknown;

  /** Notes the model that the begin of the message names. */
  beganBy(model: unknown): void {
    this.#model = model;
  }

  /** Records the reason why the message ended. */
  endedFor(stopReason: unknown): void {
    this.#stopReason = stopReason ?? this.#stopReason;
  }

  /** Counts characters of text, thoughts or arguments. */
  wrote(chars: number): void {
    this.#answerChars += chars;
  }

  /** Reads the counts of an event. Counts are running totals, so later counts replace earlier counts. */
  count(usage: unknown): void {
    if (!isObject(usage)) return;
    for (const name of COUNTS) {
      if (typeof usage[name] === 'number') this.#counts = { ...this.#counts, [name]: usage[name] };
    }
    const { cache_creation } = usage;
    if (isObject(cache_creation)) this.#counts = { ...this.#counts, cache_creation };
  }

  /** Reads the counts of the event that ends the message. Only its output count is final. */
  countEnd(usage: unknown): void {
    this.count(usage);
    this.#isCounted ||= isObject(usage) && typeof usage.output_tokens === 'number';
  }

  /**
   * Returns the usage so far. Before the end of the message, the output counts as at least the estimated tokens of the text.
   */
  metered(): Reported {
    const answerChars = this.#answerChars;
    const note = () => messageNote(this.#model, this.#stopReason);
    const usage = readMessageUsage(this.#counts);
    if (usage === null || this.#isCounted) return { usage, answerChars, note };
    const written = Math.ceil(answerChars / MODEL_LIMITS.tokens.charsEach);
    return {
      usage: { ...usage, outputTokens: Math.max(usage.outputTokens, written) },
      answerChars,
      note,
    };
  }
}
