import { isObject, type Json } from '../../../kernel/json.ts';
import type { InputItem } from '../responses-request.ts';

/** Whether an item brings tools that may be called from then on: what a search of the caller found, or what was added. */
export function bringsTools(
  item: InputItem,
): item is InputItem & { readonly tools: readonly Json[] } {
  const { execution, tools, type } = item;
  const isOfCaller =
    type === 'additional_tools' || (type === 'tool_search_output' && execution === 'client');
  return isOfCaller && Array.isArray(tools) && (tools as unknown[]).every(isObject);
}
