import { parseDigits } from '../../../kernel/json/digits.ts';
import { checkJsonBounds } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';

const { members: MOST_MEMBERS, values: MOST_VALUES } = LIMITS.callArguments;

/**
 * Reads the arguments of the calls of one request. The dialect carries them as an object and not as text. Text that is none (models
 * write broken JSON, and a cap cuts arguments off) stands under the member that the vendor names for it:
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming. The bounds of the request's JSON do not
 * see what is in these texts, so all of them together have bounds of their own; what is beyond stays text, too.
 */
export class CallArguments {
  #values = 0;
  #members = 0;

  object(text: unknown): Json {
    if (text === undefined || text === null || text === '') return {};
    if (isObject(text) && !Array.isArray(text)) return text;
    const given = typeof text === 'string' ? text : JSON.stringify(text);
    const input = this.#parse(given);
    return isObject(input) && !Array.isArray(input) ? input : { INVALID_JSON: given };
  }

  /** Undefined: it is no JSON, or too much of it. */
  #parse(text: string): unknown {
    try {
      const { members, values } = checkJsonBounds(Buffer.from(text));
      this.#values += values;
      this.#members += members;
      if (this.#values <= MOST_VALUES && this.#members <= MOST_MEMBERS) return parseDigits(text);
    } catch {
      return undefined;
    }
    return undefined;
  }
}
