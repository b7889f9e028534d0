import { isObject, type Json } from '../../../kernel/json.ts';
import type { ChatRequest } from '../../chat/chat-request.ts';
import { unfit } from '../../providers/anthropic/unfit-request.ts';
import type { Effort } from '../../providers/efforts.ts';
import { type Sampling, untakenSampling } from '../../providers/sampling.ts';
import { findUnserved, isSet, type UnservedFeature } from '../../providers/unserved-features.ts';
import type { CountRequest, MessagesRequest } from '../messages-request.ts';
import { preferredEffort } from './preferred-effort.ts';
import { mayBeStrict } from './strict-schema.ts';
import { joinTexts } from './translate-blocks.ts';
import { translateToolFields } from './translate-tools.ts';
import { translateTurn } from './translate-turn.ts';

/** Limits of the model for members of a translated request. */
type Taken = {
  readonly efforts?: readonly Effort[] | undefined;
  readonly sampling?: Sampling | undefined;
};

/**
 * Translates a Messages request to the OpenAI dialect. Keeps thoughts, which not every source takes, and adapts effort,
 * `temperature` and `top_p` to the model. Leaves out members that only influence the model's work: budgets of thoughts, cache
 * marks, context edits, the end user. Throws UnfitRequest for members without a counterpart.
 */
export function translateToChat(
  request: MessagesRequest,
  { efforts, sampling }: Taken = {},
): ChatRequest {
  refuseUnknown(request);
  const effort = preferredEffort(request, efforts);
  const untaken = untakenSampling(request, sampling, effort);
  const { max_tokens, messages, model, stop_sequences: stop, stream, system } = request;
  const instructions = joinTexts(system, 'system', '\n\n');
  return {
    model,
    messages: [
      ...(instructions === '' ? [] : [{ role: 'system' as const, content: instructions }]),
      ...messages.flatMap((turn, index) => translateTurn(turn, `messages[${index}]`)),
    ],
    max_tokens,
    ...translateToolFields(request),
    ...formatOf(request),
    reasoning_effort: effort,
    temperature: untaken === 'both' ? undefined : (request.temperature ?? undefined),
    top_p: untaken === undefined ? (request.top_p ?? undefined) : undefined,
    stop: (stop ?? []).length > 0 ? stop : undefined,
    stream: stream === true ? true : undefined,
  };
}

const hasMembers = (value: unknown): boolean => isObject(value) && Object.keys(value).length > 0;

/** Members of a request that change its answer and have no counterpart in the chat dialect. */
const UNKNOWN: readonly UnservedFeature[] = [
  { field: 'top_k', asked: isSet, why: 'this model has no such control' },
  { field: 'mcp_servers', asked: hasMembers, why: 'this model calls no servers itself' },
  { field: 'container', asked: isSet, why: 'this model runs no code itself' },
  { field: 'thread', asked: isSet, why: 'the provider of this model keeps no conversation' },
  { field: 'fallbacks', asked: hasMembers, why: 'the provider of this model has none' },
  { field: 'compaction', asked: isSet, why: 'the provider of this model writes no summaries' },
  {
    field: 'speed',
    asked: (speed) => isSet(speed) && speed !== 'standard',
    why: 'this model has one speed',
  },
];

function refuseUnknown(request: CountRequest): void {
  const unserved = findUnserved(request, UNKNOWN);
  if (unserved !== undefined) unfit(unserved.detail);
}

/**
 * Returns the response format of a request. `output_format` is the older member for it. Throws UnfitRequest for a format other
 * than a JSON schema.
 */
function formatOf({ output_config: config, output_format: older }: MessagesRequest): Json {
  const format = (isObject(config) ? config.format : undefined) ?? older;
  if (!isSet(format)) return {};
  if (!isObject(format) || format.type !== 'json_schema' || !isObject(format.schema)) {
    return unfit('output_config.format must be a json_schema with a schema.');
  }
  const { schema } = format;
  const named = { name: 'answer', schema, strict: mayBeStrict(schema) };
  return { response_format: { type: 'json_schema', json_schema: named } };
}
