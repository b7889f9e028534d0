import { isObject, type Json } from '../../../kernel/json.ts';
import type { InputItem } from '../responses-request.ts';

/**
 * Returns true when an item adds tools that may be called from then on: results of a tool search by the caller, or additional
 * tools.
 */
export function bringsTools(
  item: InputItem,
): item is InputItem & { readonly tools: readonly Json[] } {
  const { execution, tools, type } = item;
  const isOfCaller =
    type === 'additional_tools' || (type === 'tool_search_output' && execution === 'client');
  return isOfCaller && Array.isArray(tools) && (tools as unknown[]).every(isObject);
}
