import { createHash } from 'node:crypto';

/** Form of the call ids that a vendor accepts. */
export type CallIdForm = {
  fits(id: string): boolean;
  /** Returns an id of this form, made from the hexadecimal digits of a hash. */
  made(digits: string): string;
};

const DIGITS = 24;
const made = (digits: string): string => `call_${digits.slice(0, DIGITS)}`;
const upTo = (chars: number): CallIdForm => ({
  fits: (id) => id !== '' && id.length <= chars,
  made,
});

const DASHED = /^[a-zA-Z0-9_-]+$/;
const NINE = /^[a-zA-Z0-9]{9}$/;

/** Forms of call ids that chat vendors require, by the names that catalogue files use. */
export const CALL_ID_FORMS = {
  /** Any text that occurs once in a conversation. */
  unique: { fits: (id) => id !== '', made },
  /** Up to 40 characters: OpenAI's chat completions (https://github.com/vercel/ai/issues/5171). */
  forty: upTo(40),
  /** 9 characters: Mistral (https://github.com/mistralai/mistral-common, MistralRequestValidatorV3). */
  nine: { fits: (id) => NINE.test(id), made: (digits) => digits.slice(0, 9) },
} as const satisfies Readonly<Record<string, CallIdForm>>;

export type CallIdFormName = keyof typeof CALL_ID_FORMS;

/** Form of call ids in OpenAI's Responses (https://github.com/openai/openai-openapi, FunctionCallOutputItemParam). */
export const RESPONSE_CALL_IDS = upTo(64);

/** Form of call ids at Anthropic (https://github.com/CommandCodeAI/command-code/issues/323 has the vendor's error). */
export const ANTHROPIC_CALL_IDS: CallIdForm = { fits: (id) => DASHED.test(id), made };

/**
 * Gives each call of one conversation a unique id that the vendor accepts. The first use of an acceptable id is kept. All other
 * ids are hashed from the client's id and a count, so that the same conversation gets the same ids in its next turn.
 */
export class CallIds {
  readonly #form: CallIdForm;
  readonly #used = new Set<string>();
  /** Client's ids of calls without a result. */
  readonly #unanswered = new Set<string>();
  /** Replaced ids of calls without a result, in their order, by the client's id. */
  readonly #changed = new Map<string, string[]>();

  constructor(form: CallIdForm) {
    this.#form = form;
  }

  /** Returns the id to send for the next call. */
  call(given: string): string {
    const isFirst = !this.#used.has(given) && this.#form.fits(given);
    const id = isFirst ? given : this.#another(given);
    if (!isFirst) {
      const open = this.#changed.get(given) ?? (this.#unanswered.has(given) ? [given] : []);
      open.push(id);
      this.#changed.set(given, open);
    }
    this.#used.add(id);
    this.#unanswered.add(given);
    return id;
  }

  /** Returns the id to send with the next result. */
  result(given: string): string {
    const open = this.#changed.get(given);
    const id = open?.shift();
    if (open === undefined || open.length === 0) {
      this.#changed.delete(given);
      this.#unanswered.delete(given);
    }
    return id ?? (this.#form.fits(given) ? given : this.#hashed(given, 0));
  }

  #another(given: string): string {
    for (let nth = 0; ; nth++) {
      const id = this.#hashed(given, nth);
      if (!this.#used.has(id)) return id;
    }
  }

  #hashed(given: string, nth: number): string {
    return this.#form.made(createHash('sha256').update(`${nth} ${given}`).digest('hex'));
  }
}

/** Returns true when an id occurs twice or does not fit. */
export function hasOddId(form: CallIdForm, ids: Iterable<string>): boolean {
  const seen = new Set<string>();
  for (const id of ids) {
    if (seen.has(id) || !form.fits(id)) return true;
    seen.add(id);
  }
  return false;
}
