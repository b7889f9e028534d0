import { isObject, type Json } from '../../kernel/json.ts';
import { gatewayErrors } from '../errors.ts';
import { isSet } from '../providers/unserved-features.ts';

const USUAL_TIERS: ReadonlySet<unknown> = new Set(['auto', 'default', 'flex', 'standard']);

type UnpricedFeature = {
  readonly field: string;
  readonly asked: (value: unknown) => boolean;
  /** Parameter that the refusal names. Undefined: the member itself. */
  readonly param?: string;
};

const isOn = (value: unknown): boolean => isSet(value) && value !== false;

/** Returns true when the settings of thoughts ask for more than one pass of the model. All passes are billed. */
export const asksMorePasses = (reasoning: unknown): boolean =>
  isObject(reasoning) && isSet(reasoning.mode) && reasoning.mode !== 'standard';

/** Features that vendors bill beside tokens or at other rates, and the values that request them. */
const UNPRICED: readonly UnpricedFeature[] = [
  { field: 'audio', asked: isSet },
  {
    field: 'modalities',
    asked: (list) => Array.isArray(list) && list.some((modality) => modality !== 'text'),
  },
  { field: 'web_search_options', asked: isSet },
  { field: 'search_parameters', asked: isSet },
  { field: 'plugins', asked: isSet },
  // Alibaba's members, for its Qwen models.
  { field: 'enable_search', asked: isOn },
  { field: 'enable_code_interpreter', asked: isOn },
  // Groq's member, which names the tools that its systems run.
  { field: 'compound_custom', asked: isSet },
  // Sarvam's member, which adds search results to the prompt.
  { field: 'wiki_grounding', asked: isOn },
  { field: 'reasoning', asked: asksMorePasses, param: 'reasoning.mode' },
  { field: 'service_tier', asked: (tier) => isSet(tier) && !USUAL_TIERS.has(tier) },
];

/** Advice for a request with a feature that cannot be paid from the balance. */
export const LEAVE_OR_PAY =
  'Leave it out, or store your own key at a provider that serves it with PUT /v1/developer/provider-keys/{provider}.';

/** Returns the refusal of a feature that cannot be paid from the balance. */
export const unpriced = (what: string, param = what) =>
  gatewayErrors.invalidRequest(`${what} costs what has no price here. ${LEAVE_OR_PAY}`, param);

/** Throws the refusal of a member that costs more than its tokens at the catalogue's rates. */
export function requirePricedMembers(request: Json): void {
  const found = UNPRICED.find(({ asked, field }) => asked(request[field]));
  if (found !== undefined) throw unpriced(found.param ?? found.field);
}

/** Types of tools that the caller runs, in chat and in Responses. */
const OF_CALLER: ReadonlySet<unknown> = new Set(['function', 'custom']);

export const isFunctionOrCustom = ({ type }: Json): boolean => OF_CALLER.has(type);

/** Instructions for leaving a tool out in the client that offers it, by the tool's name. */
export type ClientSettings = ReadonlyMap<string, string>;

/** Returns the message of a refused tool. `place` is the tool's place in the request. */
export function unpricedTool(tool: unknown, place: string, settings?: ClientSettings): string {
  const name = builtInName(tool);
  if (name === undefined) {
    return `${place} is of no type that the caller runs, and others have no price here. ${LEAVE_OR_PAY}`;
  }
  const named = `The built-in tool ${JSON.stringify(name.slice(0, NAME_CHARS))} (${place})`;
  const setting = settings?.get(name);
  const hint = setting === undefined ? LEAVE_OR_PAY : `${LEAVE_OR_PAY} ${setting}`;
  return `${named} runs at the provider, which bills each call: that has no price here. ${hint}`;
}

const NAME_CHARS = 64;

/** Returns the name of a built-in tool, or of the first built-in tool in a namespace. */
function builtInName(tool: unknown): string | undefined {
  if (!(isObject(tool) && tool.type === 'namespace' && Array.isArray(tool.tools)))
    return ownName(tool);
  return ownName(tool.tools.find((inner) => !(isObject(inner) && isFunctionOrCustom(inner))));
}

/** Returns the name of a vendor's tool: its `type`, the name of a function (Moonshot), or its only member (Google). */
function ownName(tool: unknown): string | undefined {
  if (typeof tool === 'string') return tool;
  if (!isObject(tool)) return undefined;
  const { function: called, type } = tool;
  if (type === 'builtin_function' && isObject(called) && typeof called.name === 'string')
    return called.name;
  if (typeof type === 'string') return type;
  const [only, ...more] = Object.keys(tool);
  return type === undefined && more.length === 0 ? only : undefined;
}

/**
 * Throws the refusal of tools that the vendor runs: the model decides how often, and the vendor bills each call. `isOfCaller`
 * returns true for the dialect's types of tools that the caller runs; a tool of any other type is refused with its name and
 * place.
 */
export function requireOwnTools(
  tools: unknown,
  isOfCaller: (tool: Json) => boolean,
  nameOf: (index: number) => string,
  settings?: ClientSettings,
): void {
  if (!isSet(tools)) return;
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [tools];
  const index = list.findIndex((tool) => !(isObject(tool) && isOfCaller(tool)));
  if (index < 0) return;
  const place = nameOf(index);
  throw gatewayErrors.invalidRequest(unpricedTool(list[index], place, settings), place);
}

/** Throws the refusal of a chat that costs more than its tokens at the catalogue's rates. */
export function requirePriced(request: Json): void {
  requirePricedMembers(request);
  const { messages, tools } = request;
  requireOwnTools(tools, isFunctionOrCustom, (index) => `tools[${index}]`);
  if (!Array.isArray(messages)) return;
  // Moonshot's Kimi K3 also accepts tools in messages.
  for (const [at, { tools: later }] of (messages as readonly Json[]).entries()) {
    if (isSet(later))
      requireOwnTools(later, isFunctionOrCustom, (index) => `messages[${at}].tools[${index}]`);
  }
}
