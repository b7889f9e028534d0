import { isObject, type Json } from '../../../kernel/json.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import type { Effort } from '../efforts.ts';
import { type Sampling, untakenSampling } from '../sampling.ts';
import { findUnserved, isSet, UNSERVED, type UnservedFeature } from '../unserved-features.ts';
import { type OutputConfig, outputConfig } from './output-config.ts';
import { isBlank, type TextBlock } from './translate-content.ts';
import { type AnthropicTurn, translateMessages } from './translate-messages.ts';
import { type ToolFields, translateTools } from './translate-tools.ts';
import { unfit } from './unfit-request.ts';

export type AnthropicRequest = ToolFields & {
  readonly model: unknown;
  readonly max_tokens: number;
  readonly messages: readonly AnthropicTurn[];
  readonly system?: readonly TextBlock[];
  readonly temperature?: number;
  readonly top_p?: number;
  readonly stop_sequences?: readonly string[];
  readonly metadata?: { readonly user_id: string };
  readonly output_config?: OutputConfig;
  readonly stream?: true;
};

/**
 * Translates an OpenAI chat request into the Messages dialect. Throws UnfitRequest for a feature that the dialect lacks. Leaves
 * out members that promise nothing (`seed`, `prediction`), `reasoning_effort` when the model's `efforts` are not known, and the
 * members of `temperature` and `top_p` that the model refuses.
 */
export function translateRequest(
  request: Json,
  {
    efforts,
    sampling,
  }: {
    readonly efforts?: readonly Effort[] | undefined;
    readonly sampling?: Sampling | undefined;
  } = {},
): AnthropicRequest {
  refuseUnknown(request);
  const { system: told, turns } = translateMessages(request.messages);
  const { response_format: format } = request;
  const system = isObject(format) && format.type === 'json_object' ? [...told, IN_WORDS] : told;
  const temperature = optionalNumber(request, 'temperature');
  const topP = optionalNumber(request, 'top_p');
  const stop = stopSequences(request.stop);
  const { user } = request;
  const config = outputConfig(request, efforts);
  const untaken = untakenSampling(request, sampling, config?.effort);
  return {
    model: request.model,
    max_tokens: maxTokens(request),
    messages: turns,
    ...(system.length > 0 && { system }),
    ...translateTools(request),
    // OpenAI's scale ends at 2, the Messages dialect's at 1.
    ...(temperature !== undefined &&
      untaken !== 'both' && { temperature: Math.min(Math.max(temperature, 0), 1) }),
    ...(topP !== undefined && untaken === undefined && { top_p: topP }),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(typeof user === 'string' && user !== '' && { metadata: { user_id: user } }),
    ...(config && { output_config: config }),
    ...(request.stream === true && { stream: true }),
  };
}

const FORMATS: ReadonlySet<unknown> = new Set(['text', 'json_schema', 'json_object']);

/** Instruction for `json_object`: the dialect has no format for an object without a schema, so this sentence requests it. */
const IN_WORDS: TextBlock = {
  type: 'text',
  text: 'Answer with one valid JSON object, and write nothing before or after it.',
};

/** Members of a chat request that the Messages dialect cannot express, and members that no other dialect can express. */
const UNKNOWN: readonly UnservedFeature[] = [
  { field: 'n', asked: (n) => isSet(n) && n !== 1, why: 'this model gives one answer a request' },
  ...UNSERVED,
  ...['presence_penalty', 'frequency_penalty'].map((field) => ({
    field,
    why: 'this model has no such control',
    asked: (penalty: unknown) => isSet(penalty) && penalty !== 0,
  })),
  {
    field: 'response_format',
    asked: (format) => isObject(format) && !FORMATS.has(format.type),
    why: 'this model keeps to a json_schema or a json_object, and to no other format',
  },
];

function refuseUnknown(request: Json): void {
  const unserved = findUnserved(request, UNKNOWN);
  if (unserved !== undefined) unfit(unserved.detail);
}

/**
 * Returns the caller's cap of output tokens, or the default that the hold was made for: the Messages dialect requires a cap.
 */
function maxTokens(request: Json): number {
  const asked =
    optionalNumber(request, 'max_completion_tokens') ?? optionalNumber(request, 'max_tokens');
  return asked ?? MODEL_LIMITS.tokens.usualOutput;
}

function optionalNumber(request: Json, field: string): number | undefined {
  const value = request[field];
  if (!isSet(value)) return undefined;
  return typeof value === 'number' ? value : unfit(`${field} must be a number.`);
}

/** Returns the stop sequences without blank ones, which the dialect refuses. Without them an answer may be longer. */
function stopSequences(stop: unknown): readonly string[] {
  if (!isSet(stop)) return [];
  const list = Array.isArray(stop) ? (stop as unknown[]) : [stop];
  return list
    .map((text) =>
      typeof text === 'string' ? text : unfit('stop must be a string or a list of strings.'),
    )
    .filter((text) => !isBlank(text));
}
