import { isObject, type Json } from '../../kernel/json.ts';
import { isSet } from '../providers/unserved-features.ts';
import { requireOwnTools, unpriced } from '../routing/unpriced-features.ts';
import type { CountRequest } from './messages-request.ts';
import { definedTool, sourceOf } from './read-block.ts';

/**
 * Members that cost no more than the tokens of the prompt and the answer. Any other member is refused: many of the vendor's
 * features have their own price (search, containers, faster answers), run further models, or name objects in the paying
 * account, which is this server's. Members of requests and messages, and types of blocks, as of `@anthropic-ai/sdk` 1.14.
 */
const PRICED: ReadonlySet<string> = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'stream',
  'metadata',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'cache_control',
  'diagnostics',
  'context_management',
  'service_tier',
  'speed',
  'inference_geo',
]);

/** Values of `service_tier`, `speed` and `inference_geo` that cost no more than usual. Any other value is refused. */
const USUAL: Readonly<Record<string, ReadonlySet<unknown>>> = {
  service_tier: new Set(['auto', 'standard_only']),
  speed: new Set(['standard']),
  inference_geo: new Set(['global']),
};

/** Members of a message that cost no more than their tokens. Any other member is refused. */
const OF_MESSAGE: ReadonlySet<string> = new Set(['role', 'content', 'clear_at', 'output_config']);

/**
 * Blocks that cost no more than the tokens of their content, or of the tool that they add. Other blocks come from tools that
 * the vendor runs, or name files in the account that pays.
 */
const BLOCKS: ReadonlySet<unknown> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'thinking',
  'redacted_thinking',
  'connector_text',
  'compaction',
  'tool_use',
  'tool_result',
  'tool_reference',
  'browser_state',
  'tool_addition',
  'tool_removal',
]);

/**
 * Types of tools that the caller runs; tools without a type are run by the caller as well. The vendor runs all others, as often
 * as the model calls them.
 */
const OF_CALLER =
  /^(?:custom|bash|text_editor|computer|computer_toolset|memory|browser_toolset)(?:_\d+)?$/;

/** Edits of the context that only remove parts of it. Other edits, such as a summary, need a further run of the model. */
const LEAVES_OUT = /^clear_/;

/** Throws the refusal of a request that costs more than its tokens at the catalogue's rates. */
export function requirePricedMessages(request: CountRequest): void {
  for (const field in request) {
    const value = request[field];
    if (isSet(value) && !isPriced(field, value)) throw unpriced(field);
  }
  const { messages, system, tools } = request;
  requireOwnTools(tools, isOfCaller, (index) => `tools.${index}`);
  if (holdsUnpriced(system)) throw unpriced('system');
  for (const [index, message] of messages.entries()) {
    const field = unpricedMember(message);
    if (field !== undefined) throw unpriced(`messages.${index}.${field}`);
  }
}

function unpricedMember(message: CountRequest['messages'][number]): string | undefined {
  for (const field in message) {
    if (!OF_MESSAGE.has(field) && isSet(message[field])) return field;
  }
  return holdsUnpriced(message.content) ? 'content' : undefined;
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

const isOfCaller = ({ type }: Json): boolean =>
  !isSet(type) || (typeof type === 'string' && OF_CALLER.test(type));

/** Returns true when content has an unpriced block, also inside another block. */
const holdsUnpriced = (content: unknown): boolean =>
  Array.isArray(content) && (content as unknown[]).some(isUnpriced);

function isUnpriced(block: unknown): boolean {
  if (!isObject(block)) return false;
  return (
    !BLOCKS.has(block.type) ||
    isRemote(block) ||
    addsUnpriced(block) ||
    holdsUnpriced(block.content) ||
    holdsUnpriced(block.tool_changes) ||
    holdsUnpriced(sourceOf(block).content)
  );
}

/** Returns true for a block that names a file of the account that pays, or a document whose length only the vendor knows. */
function isRemote(block: Json): boolean {
  const { type } = sourceOf(block);
  return type === 'file' || (type === 'url' && block.type !== 'image');
}

/**
 * Returns true when a block adds a tool that the vendor runs. A block adds a tool by the name of another tool in the request,
 * or by a definition.
 */
function addsUnpriced(block: Json): boolean {
  const { tool, type } = block;
  if (type !== 'tool_addition' || (isObject(tool) && tool.type === 'tool_reference')) return false;
  const defined = definedTool(block);
  return !(isObject(defined) && isOfCaller(defined));
}
