import { isObject, type Json } from '../../../kernel/json.ts';
import type { ChatRequest } from '../../chat/chat-request.ts';
import { withoutThoughts } from '../../chat/thoughts.ts';
import { isSet } from '../../providers/unserved-features.ts';
import type { InputItem, ResponsesRequest } from '../responses-request.ts';
import { type Misfit, Misfits, NOT_HERE } from './misfit.ts';
import { noteMembers, SAME } from './request-members.ts';
import type { ToolNames } from './tool-names.ts';
import { bringsTools } from './tools-of-items.ts';
import { type Message, translateItems } from './translate-items.ts';
import { translateTools } from './translate-tools.ts';

export type TranslatedRequest = {
  /** Request for sources that speak chat, with thoughts that not every source takes. */
  readonly chat: ChatRequest;
  /** The chat with all content that counts as prompt at an upstream with the Responses API. */
  readonly weighed: ChatRequest;
  /** Caller's tools, by their names in chat. */
  readonly names: ToolNames;
  /** Reason why the request cannot be translated into chat. Undefined when it can. */
  readonly misfit: Misfit | undefined;
};

const LOGPROBS = 'message.output_text.logprobs';

/**
 * Translates a request, with the items of its whole conversation, into chat. Leaves out members without an effect on the
 * answer: `metadata`, summaries of reasoning, and all values of `include` except log probabilities. An unknown member is a
 * misfit.
 */
export function translateRequest(
  request: ResponsesRequest,
  items: readonly InputItem[],
): TranslatedRequest {
  const misfits = new Misfits();
  noteMembers(request, misfits);
  const { messages, thoughts } = translateItems(items, misfits);
  const { instructions } = request;
  if (isSet(instructions)) messages.unshift({ role: 'system', content: String(instructions) });
  const { members, names } = translateTools(request, items, misfits);
  const options: Record<string, unknown> = { model: request.model, messages };
  Object.assign(options, members, translateFormat(request, misfits));
  addOptions(options, request);
  const chat = options as ChatRequest;
  const { prompt } = request;
  const hidden: Message[] = [...thoughts, ...(isSet(prompt) ? [prompt] : [])].map((value) => ({
    role: 'user',
    content: JSON.stringify(value),
  }));
  if (hidden.length === 0 && members.tools === undefined) {
    return { chat, weighed: chat, names, misfit: misfits.first };
  }
  const given = [...(request.tools ?? []), ...items.flatMap(toolsOf)];
  const weighed = {
    ...chat,
    ...(members.tools !== undefined && { tools: longerOf(given, members.tools) }),
    // `hidden` has the reasoning items.
    messages: [...withoutThoughts(messages), ...hidden],
  };
  return { chat, weighed: weighed as ChatRequest, names, misfit: misfits.first };
}

const toolsOf = (item: InputItem): readonly Json[] => (bringsTools(item) ? item.tools : []);

/**
 * Returns the longer of the two forms of the tools: the caller's own has members that chat lacks, and chat repeats namespaces.
 */
const longerOf = (own: unknown, translated: unknown): unknown =>
  JSON.stringify(own).length > JSON.stringify(translated).length ? own : translated;

function translateFormat({ text }: ResponsesRequest, misfits: Misfits): Json {
  const { format, verbosity } = text ?? {};
  const spoken = isSet(verbosity) ? { verbosity } : {};
  if (format === undefined || format === null || format.type === 'text') return spoken;
  if (format.type === 'json_object') return { ...spoken, response_format: { type: format.type } };
  if (format.type === 'json_schema') {
    const { type, ...json_schema } = format;
    return { ...spoken, response_format: { type, json_schema } };
  }
  misfits.note('text.format', `is of type ${JSON.stringify(format.type)}, which ${NOT_HERE}`);
  return { ...spoken, response_format: format };
}

function addOptions(options: Record<string, unknown>, request: ResponsesRequest): void {
  for (const member of SAME) if (isSet(request[member])) options[member] = request[member];
  const { include, max_output_tokens: cap, reasoning, stream, top_logprobs: odds } = request;
  if (isSet(cap)) options.max_tokens = cap;
  if (isObject(reasoning) && isSet(reasoning.effort)) options.reasoning_effort = reasoning.effort;
  if (include?.includes(LOGPROBS) === true || (odds ?? 0) > 0) {
    options.logprobs = true;
    if (isSet(odds)) options.top_logprobs = odds;
  }
  if (stream === true) {
    options.stream = true;
    options.stream_options = { include_usage: true };
  }
}
