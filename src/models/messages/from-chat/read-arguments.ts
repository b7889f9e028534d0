import { JSON_LIMITS } from '../../../kernel/json/limits.ts';
import { parseJsonInTurns } from '../../../kernel/json/parse-json-in-turns.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { argumentsText } from '../../chat/read-answer.ts';

/**
 * Returns the arguments of a call as an object. Text that is no JSON object is put under the member that the vendor names for
 * it (https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming).
 */
export async function readArguments(told: unknown): Promise<Json> {
  if (isObject(told) && !Array.isArray(told)) return told;
  const text = argumentsText(told);
  if (text.trim() === '') return {};
  const input = await parseJsonInTurns(Buffer.from(text), JSON_LIMITS.upstream).catch(
    () => undefined,
  );
  return isObject(input) && !Array.isArray(input) ? input : { INVALID_JSON: text };
}
