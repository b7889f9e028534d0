import { errors } from '../../kernel/errors.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { isSet } from '../providers/unserved-features.ts';
import type { CountRequest } from './messages-request.ts';
import { blocksOf, sourceOf } from './read-block.ts';

/**
 * Members that cost no more than the tokens of their prompt and answer. Any other is refused: much that the vendor adds has a
 * price of its own (a search, a container, a faster answer), runs further models, or names what is kept in the account that
 * pays, and that account is this server's. Members as of `@anthropic-ai/sdk` 1.14.
 */
const PRICED: ReadonlySet<string> = new Set([
  ...['model', 'max_tokens', 'messages', 'system', 'stream', 'metadata', 'stop_sequences'],
  ...['temperature', 'top_p', 'top_k', 'tools', 'tool_choice', 'thinking'],
  ...['output_config', 'output_format', 'cache_control', 'diagnostics'],
  ...['context_management', 'service_tier', 'speed', 'inference_geo'],
]);

/** Values of the others that cost what every request costs. */
const USUAL: Readonly<Record<string, ReadonlySet<unknown>>> = {
  service_tier: new Set(['auto', 'standard_only']),
  speed: new Set(['standard']),
  inference_geo: new Set(['global']),
};

/** Tools that the caller runs. All others run at the vendor, as often as the model likes. */
const OF_CALLER =
  /^(?:custom|bash|text_editor|computer|computer_toolset|memory|browser_toolset)(?:_\d+)?$/;

/** Edits of the context that only leave parts of it out; a summary is written by a further run of the model. */
const LEAVES_OUT = /^clear_/;

/** Throws the refusal of a request that would cost more than its tokens at the rates of the catalogue. */
export function requirePricedMessages(request: CountRequest): void {
  for (const [field, value] of Object.entries(request)) {
    if (isSet(value) && !isPriced(field, value)) throw unpriced(field);
  }
  const { messages, system, tools } = request;
  for (const [index, tool] of (tools ?? []).entries()) {
    if (isRunByVendor(tool)) throw unpriced(`tools.${index}`);
  }
  if (holdsUnpriced(system)) throw unpriced('system');
  for (const [index, { content }] of messages.entries()) {
    if (holdsUnpriced(content)) throw unpriced(`messages.${index}.content`);
  }
}

function isPriced(field: string, value: unknown): boolean {
  if (!PRICED.has(field)) return Array.isArray(value) && value.length === 0;
  if (field === 'context_management') return editsOf(value).every(leavesOut);
  return USUAL[field]?.has(value) ?? true;
}

const editsOf = (management: unknown): readonly unknown[] =>
  isObject(management) && Array.isArray(management.edits) ? management.edits : [];

const leavesOut = (edit: unknown): boolean =>
  isObject(edit) && typeof edit.type === 'string' && LEAVES_OUT.test(edit.type);

const isRunByVendor = (tool: unknown): boolean =>
  isObject(tool) && typeof tool.type === 'string' && !OF_CALLER.test(tool.type);

/** A file of the account that pays, or a document that only the vendor knows the length of; blocks may stand in blocks. */
const holdsUnpriced = (content: unknown): boolean =>
  blocksOf(content).some((block) => {
    if (!isObject(block)) return false;
    if (block.type === 'container_upload') return true;
    return (
      isRemote(block) || holdsUnpriced(block.content) || holdsUnpriced(sourceOf(block).content)
    );
  });

function isRemote(block: Json): boolean {
  const { type } = sourceOf(block);
  return type === 'file' || (type === 'url' && block.type !== 'image');
}

const unpriced = (field: string) =>
  errors.gateway.invalidRequest(
    `${field} costs what has no price here; a key of your own at the provider pays for it.`,
    field,
  );
