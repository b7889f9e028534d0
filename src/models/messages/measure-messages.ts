import { writeDigits } from '../../kernel/json/digits.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import type { CountRequest } from './messages-request.ts';
import { blocksOf, definedTool, sourceOf } from './read-block.ts';

/** Placeholder for an image, or for text whose length only the upstream knows. The bound counts it as the largest image. */
const OPAQUE = { image_url: true } as const;

/**
 * Returns a chat with the same texts, images and files as a Messages request, each once, for measuring. It is never sent. An
 * upstream gets no more than this, whether the request is relayed or translated.
 */
export function measureMessages(
  request: CountRequest & { readonly max_tokens?: number },
): ChatRequest {
  const { max_tokens: cap, messages, model, system, tools } = request;
  const measured: Measured[] = [];
  if (system !== undefined && system !== null) {
    measured.push({ role: 'system', content: partsOf(system) });
  }
  for (const { content, role } of messages) measured.push({ role, content: partsOf(content) });
  // A mark at the top of the request marks the last block.
  if (request.cache_control !== undefined && request.cache_control !== null) {
    measured.push({ role: 'system', content: [{ type: 'text', text: '', cache_control: true }] });
  }
  const ofVendor = (tools ?? []).filter(isVendorTool).map(() => OPAQUE);
  if (ofVendor.length > 0) measured.push({ role: 'system', content: ofVendor });
  const { output_config: config, output_format: older } = request;
  const schema = (isObject(config) ? config.format : undefined) ?? older;
  return {
    model,
    messages: measured,
    tools: tools?.map(asFunction),
    response_format: isObject(schema) ? asFormat(schema) : undefined,
    max_tokens: cap,
  };
}

/** Returns a tool in the longer of the two forms in which it may be sent. */
const asFunction = (tool: unknown): unknown =>
  isVendorTool(tool) ? tool : { type: 'function', function: tool };

const asCall = ({ id, input, name }: Json): Json => ({
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: writeDigits(input ?? {}) } }],
});

const asFormat = (schema: unknown): Json => ({
  type: 'json_schema',
  json_schema: { name: 'answer', schema, strict: true },
});

type Measured = ChatRequest['messages'][number];

/** Returns true for a tool whose schema the vendor writes, so that its length is unknown here. */
const isVendorTool = (tool: unknown): boolean =>
  isObject(tool) && typeof tool.type === 'string' && tool.type !== 'custom';

/**
 * Returns the parts of a content. A list with an item that is no block becomes one part, because it may have a hundred thousand
 * items.
 */
function partsOf(content: unknown): Json[] {
  const blocks = blocksOf(content);
  return blocks.every(isBlock) ? blocks.flatMap(partsOfBlock) : [textPart(blocks)];
}

const isBlock = (block: unknown): block is Json =>
  isObject(block) && typeof block.type === 'string';

function partsOfBlock(block: Json): Json[] {
  const mark = markOf(block);
  switch (block.type) {
    case 'text':
      return [{ ...textPart(block.text), ...mark }];
    case 'image':
      return [{ ...OPAQUE, ...mark }];
    case 'document': {
      const source = sourceOf(block);
      const named = textPart([block.title, block.context]);
      return source.type === 'content'
        ? [{ ...named, ...mark }, ...partsOf(source.content)]
        : [{ ...filePart(source), ...mark }, named];
    }
    case 'tool_result': {
      const { content, ...rest } = block;
      return [{ ...textPart(rest), ...mark }, ...partsOf(content)];
    }
    case 'tool_use':
      return [{ ...textPart(asCall(block)), ...mark }];
    case 'tool_addition':
      return [{ ...textPart(block), ...mark }, ...describedByVendor([block])];
    case 'compaction':
      return [{ ...textPart(block), ...mark }, ...describedByVendor(blocksOf(block.tool_changes))];
    default:
      return [{ ...textPart(block), ...mark }];
  }
}

/** Returns a part for each tool that a block defines and the vendor describes. */
const describedByVendor = (blocks: readonly unknown[]): Json[] =>
  blocks.filter((block) => isObject(block) && isVendorTool(definedTool(block))).map(() => OPAQUE);

function filePart(source: Json): Json {
  if (source.type === 'base64' && typeof source.data === 'string') {
    return { file: { file_data: `data:${String(source.media_type)};base64,${source.data}` } };
  }
  if (source.type === 'text') return textPart(source.data);
  return OPAQUE;
}

const textPart = (value: unknown): { readonly type: 'text'; readonly text: string } => ({
  type: 'text',
  text: typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
});

const markOf = ({ cache_control: mark }: Json): Json =>
  mark === undefined || mark === null ? {} : { cache_control: mark };
