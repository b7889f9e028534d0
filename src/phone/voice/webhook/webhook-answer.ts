import { z } from 'zod';
import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { isObject } from '../../../kernel/json.ts';
import { headOf } from '../../../kernel/storable.ts';
import type { LlmPiece } from '../../../voice/session/voice-pipeline.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { actionPiece, readCallAction } from '../call-actions.ts';

const Line = z.object({
  text: z.string().nullish(),
  interim: z.boolean().nullish(),
  end: z.boolean().nullish(),
  /** Action that the call is to carry out: an object with its `name` and its arguments. */
  action: z.unknown().optional(),
});

const SENTENCE_END = /[.!?…][)"'”’]*$/;
const SENTENCE_START = /^["'“‘(]?\p{Lu}/u;
const SEVERAL_WORDS = /\S\s+\S/;

/** Parses the answer of a voice webhook, line by line (contract B 3.14). Malformed lines are ignored. */
export class WebhookAnswer {
  #said = '';
  /** Latest interim text, which is spoken when no final line comes. */
  #interim = '';
  #hasFinal = false;
  #isOver = false;
  #hasActed = false;

  /** True once the webhook has ended the call: later lines do not count. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** True when the answer has no words, no action and no end of the call. */
  get isEmpty(): boolean {
    return this.#said === '' && !this.#isOver && !this.#hasActed;
  }

  take(line: string): LlmPiece[] {
    if (this.#isOver || line.trim() === '') return [];
    const read = Line.safeParse(tryParseJson(line));
    if (!read.success) return [];
    const { end, interim } = read.data;
    const text = read.data.text ?? '';
    const isEnd = end === true;
    if (interim) {
      if (text.trim() !== '') this.#interim = text;
      return [];
    }
    const action = actionOf(read.data.action);
    if (text.trim() !== '' || isEnd || action !== undefined) this.#hasFinal = true;
    const pieces = [...this.#say(text), ...(action === undefined ? [] : [action])];
    if (action !== undefined) this.#hasActed = true;
    if (!isEnd) return pieces;
    this.#isOver = true;
    return [...pieces, actionPiece({ name: 'end_call' })];
  }

  /** Returns the words left to say once the body has ended: the last interim text, when no final line came. */
  end(): LlmPiece[] {
    return this.#hasFinal ? [] : this.#say(this.#interim);
  }

  /** Speaks a text. A whole sentence gets the space that marks its end, so that it is spoken at once. */
  #say(text: string): LlmPiece[] {
    const isFirst = this.#said === '';
    if (isFirst && text.trim() === '') return [];
    const gap = SENTENCE_END.test(this.#said) && SENTENCE_START.test(text) ? ' ' : '';
    // One word with a full stop may be a token of a longer text: "3." may be followed by "14".
    const isSentence = SENTENCE_END.test(text) && (isFirst || SEVERAL_WORDS.test(text.trim()));
    const room = PHONE_LIMITS.webhook.spokenChars - this.#said.length;
    const said = headOf(`${gap}${text}${isSentence ? ' ' : ''}`, room);
    if (said === '') return [];
    this.#said += said;
    return [{ kind: 'text', text: said }];
  }
}

/** Returns the action that a line requests. Undefined when there is none, or it is invalid. */
function actionOf(given: unknown): LlmPiece | undefined {
  if (!isObject(given) || typeof given.name !== 'string') return undefined;
  const { name, ...others } = given;
  const read = readCallAction({ name: String(name), argumentsJson: JSON.stringify(others) });
  return read?.kind === 'action' ? actionPiece(read.action) : undefined;
}
