import { z } from 'zod';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { VOICE_LIMITS } from '../../voice/limits.ts';
import type { SessionConfig, Tool } from '../../voice/session/session-config.ts';
import { REALTIME_LIMITS } from '../openai-realtime/limits.ts';

const ModelId = z.string().min(1).max(MODEL_LIMITS.idChars);
const DelayMs = z.number().int().min(0).max(600_000).optional();

const FunctionTool = z.strictObject({
  type: z.literal('function', { error: 'only function tools are served here' }),
  name: z.string().min(1).max(128),
  description: z.string().max(REALTIME_LIMITS.toolsChars).nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});

/** Settings of the backend. Settings that only a vendor's backend supports have no effect here, and are returned as given. */
const Backend = z.strictObject({
  model: ModelId,
  instructions: z.string().max(REALTIME_LIMITS.instructionsChars).nullish(),
  max_output_tokens: z.number().int().min(1).max(1_000_000).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning: z.record(z.string(), z.unknown()).nullish(),
  service_tier: z.string().max(64).nullish(),
  text: z.record(z.string(), z.unknown()).nullish(),
  tool_choice: z
    .union([
      z.enum(['auto', 'none', 'required']),
      z.strictObject({ type: z.literal('function'), name: z.string().min(1).max(128) }),
    ])
    .nullish(),
  tools: z
    .array(FunctionTool)
    .max(VOICE_LIMITS.realtime.tools)
    .refine((tools) => JSON.stringify(tools).length <= REALTIME_LIMITS.toolsChars, {
      message: `all tools together may have ${REALTIME_LIMITS.toolsChars} characters`,
    })
    .nullish(),
});

const Client = z.strictObject({ type: z.literal('client'), acknowledgement_delay_ms: DelayMs });
const Type = { error: 'use client or responses: decisions are not served here' };

/** Target of a live session's delegated work: the application, or the session's model with the tools given here. */
export const Delegation = z.discriminatedUnion(
  'type',
  [
    Client,
    z.strictObject({
      type: z.literal('responses'),
      acknowledgement_delay_ms: DelayMs,
      responses: Backend,
    }),
  ],
  Type,
);
/** A change of the delegation. Members that are left out keep their values. */
export const DelegationUpdate = z.discriminatedUnion(
  'type',
  [
    Client,
    z.strictObject({
      type: z.literal('responses'),
      acknowledgement_delay_ms: DelayMs,
      responses: Backend.partial().optional(),
    }),
  ],
  Type,
);

export type Delegation = z.output<typeof Delegation>;
type DelegationUpdate = z.output<typeof DelegationUpdate>;

/** Tool by which a model delegates a task to the application. */
const HAND_OVER: Tool = {
  type: 'function',
  name: 'delegate_task',
  description:
    'Hands the task of the caller over to the application, which has data and can act. Say in a few words that you are looking into it, then call this. The result comes later.',
  parameters: {
    type: 'object',
    properties: { task: { type: 'string', description: 'What the caller wants.' } },
  },
};

/**
 * Applies a change to a delegation. Returns undefined when the change would alter the type of the delegation or its model,
 * which are fixed.
 */
export function updateDelegation(
  before: Delegation,
  update: DelegationUpdate,
): Delegation | undefined {
  if (update.type === 'client')
    return before.type === 'client' ? { ...before, ...update } : undefined;
  if (before.type !== 'responses') return undefined;
  const { responses = {}, ...rest } = update;
  const { model } = before.responses;
  if ((responses.model ?? model) !== model) return undefined;
  return { ...before, ...rest, responses: { ...before.responses, ...responses, model } };
}

/** Returns the settings of a voice session with these `instructions` and this delegation. */
export function delegatedConfig(
  before: SessionConfig,
  instructions: string,
  delegation: Delegation,
): SessionConfig {
  if (delegation.type === 'client') return { ...before, instructions, tools: [HAND_OVER] };
  const { responses } = delegation;
  const both = [instructions, responses.instructions ?? ''].filter((text) => text !== '');
  return {
    ...before,
    instructions: both.join('\n\n'),
    tools: (responses.tools ?? []).map(({ description, name, parameters }) => ({
      type: 'function',
      name,
      description: description ?? '',
      parameters: parameters ?? { type: 'object', properties: {} },
    })),
    toolChoice: responses.tool_choice ?? 'auto',
    maxOutputTokens: responses.max_output_tokens ?? 'inf',
  };
}
