import { isObject, type Json } from '../../kernel/json.ts';
import { isSet } from '../providers/unserved-features.ts';
import {
  type ClientSettings,
  isFunctionOrCustom,
  requireOwnTools,
  requirePricedMembers,
  unpriced,
} from '../routing/unpriced-features.ts';
import type { InputItem, ResponsesRequest } from './responses-request.ts';

/** Members that name objects in this server's account at the upstream, or cost more than the tokens of the request. */
const UNPRICED = ['prompt', 'context_management', 'multi_agent'] as const;

/** Settings with which Codex leaves out its built-in tools, by tool. */
const SETTINGS: ClientSettings = new Map([
  ['web_search', 'Codex leaves it out with `web_search = "disabled"` in its config.toml.'],
]);

/**
 * Types of items that add tools or search for some. Items of a search cost no more than their tokens when the caller runs the
 * search.
 */
const TOOL_ITEMS: ReadonlySet<unknown> = new Set([
  'additional_tools',
  'tool_search_call',
  'tool_search_output',
]);

const ITEMS: ReadonlySet<unknown> = new Set([
  undefined,
  null,
  'message',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'reasoning',
]);

/**
 * Throws the refusal of a request that the pool cannot sell: tools that an upstream runs and bills by the call, and members
 * that name a file, a prompt or a container, which the upstream would look up in this server's account.
 */
export function requirePricedResponse(
  request: ResponsesRequest,
  items: readonly InputItem[],
): void {
  requirePricedMembers(request);
  for (const member of UNPRICED) {
    if (isSet(request[member])) throw unpriced(member);
  }
  requireOwnTools(request.tools, isOwnTool, (index) => `tools[${index}]`, SETTINGS);
  for (const [index, item] of items.entries()) {
    const at = `input[${index}]`;
    if (item.type === 'additional_tools')
      requireOwnTools(item.tools, isOwnTool, (inner) => `${at}.tools[${inner}]`, SETTINGS);
    if (!(ITEMS.has(item.type) || isOwnToolItem(item)))
      throw unpriced(`${at} of type ${JSON.stringify(item.type)}`, at);
    if (namesFile(item.content) || namesFile(item.output))
      throw unpriced(`${at}, which names a file,`, at);
  }
}

/** Returns true for a tool that the caller runs. All tools of a namespace must be such tools. */
const isOwnTool = (tool: Json): boolean =>
  isFunctionOrCustom(tool) ||
  (tool.type === 'tool_search' && tool.execution === 'client') ||
  (tool.type === 'namespace' && areAll(tool.tools, isFunctionOrCustom));

const isOwnToolItem = ({ execution, tools, type }: InputItem): boolean =>
  TOOL_ITEMS.has(type) &&
  (type === 'additional_tools' || execution === 'client') &&
  (type === 'tool_search_call' || areAll(tools, isOwnTool));

const areAll = (values: unknown, isOne: (value: Json) => boolean): boolean =>
  Array.isArray(values) && (values as unknown[]).every((value) => isObject(value) && isOne(value));

const namesFile = (parts: unknown): boolean =>
  Array.isArray(parts) &&
  (parts as unknown[]).some(
    (part) => isObject(part) && (isSet(part.file_id) || isSet(part.file_url)),
  );
