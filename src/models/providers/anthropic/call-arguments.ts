import { checkJsonBounds, JsonTooComplex } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { unfit } from './unfit-request.ts';

const { members: MOST_MEMBERS, values: MOST_VALUES } = LIMITS.callArguments;

/**
 * Reads the arguments of the calls of one request. The dialect carries them as an object and not as text, so text that is
 * none cannot be sent. The bounds of the request's JSON do not see what is in these texts, so all of them together have
 * bounds of their own.
 */
export class CallArguments {
  #values = 0;
  #members = 0;

  /** Throws UnfitRequest. */
  object(text: unknown, at: string): Json {
    if (text === undefined || text === null || text === '') return {};
    const input = this.#parse(String(text), at);
    if (!isObject(input) || Array.isArray(input)) return unfit(`${at} must be a JSON object.`);
    return input;
  }

  #parse(text: string, at: string): unknown {
    try {
      const { members, values } = checkJsonBounds(Buffer.from(text));
      this.#values += values;
      this.#members += members;
      if (this.#values <= MOST_VALUES && this.#members <= MOST_MEMBERS) return JSON.parse(text);
    } catch (err) {
      return unfit(`${at} ${err instanceof JsonTooComplex ? err.message : 'is not valid JSON'}.`);
    }
    return unfit(
      `${at} has, with the calls before it, more than ${MOST_VALUES} values or ${MOST_MEMBERS} members.`,
    );
  }
}
