import { errors } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { ResponsesRequest } from './responses-request.ts';

/**
 * What a response repeats of its request, in the members that OpenAI's have. Throws the refusal where that is too much:
 * three events of a stream carry it.
 */
export function headOf(
  request: ResponsesRequest,
  { createdSec, id, isKept }: { readonly createdSec: number; id: string; isKept: boolean },
): Json {
  const { reasoning, text } = request;
  const head = {
    id,
    object: 'response',
    created_at: createdSec,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    model: request.model,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: request.service_tier ?? 'default',
    store: isKept,
    temperature: request.temperature ?? null,
    text: { ...text, format: text?.format ?? { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? null,
    truncation: request.truncation ?? 'disabled',
    usage: null,
    user: request.user ?? null,
    metadata: request.metadata ?? {},
  };
  const { echoBytes } = LIMITS.responses;
  if (!isShort(request) && Buffer.byteLength(JSON.stringify(head)) > echoBytes) {
    throw errors.gateway.invalidRequest(
      `Instructions, tools and all else that a response repeats may have ${echoBytes} bytes together.`,
      'tools',
    );
  }
  return head;
}

/** Whether all that is repeated of a request is a few texts and numbers: then it need not be written to be measured. */
function isShort(request: Json): boolean {
  let chars = 0;
  for (const name in request) {
    const value = request[name];
    if (name === 'input') continue;
    if (typeof value === 'string') chars += value.length;
    else if (typeof value === 'object' && value !== null) return false;
  }
  return chars <= SHORT_CHARS;
}

/** Far below the bound, however many bytes a character takes. */
const SHORT_CHARS = 64 * 1024;
