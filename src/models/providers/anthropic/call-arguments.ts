import { parseDigits } from '../../../kernel/json/digits.ts';
import { checkJsonBounds } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { MODEL_LIMITS } from '../../limits.ts';

const { members: MOST_MEMBERS, values: MOST_VALUES } = MODEL_LIMITS.chat.callArguments;

/**
 * Reads the arguments of one request's calls. The Messages dialect carries them as an object; text that is no JSON object
 * (models write broken JSON, and a cap cuts arguments off) is put under the member that the vendor names for it:
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming. The bounds of the request's JSON
 * do not cover JSON inside texts, so all arguments together have bounds of their own; arguments beyond the bounds stay text.
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

  /**
   * Parses the text of arguments. Undefined when the text is no JSON, or when the arguments of the request exceed the bounds.
   */
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
