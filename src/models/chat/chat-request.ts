import { z } from 'zod';
import { MODEL_LIMITS } from '../limits.ts';

/** Roles of chat messages. */
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;

/**
 * Returns the schema of a number within the dialect's bounds. Some upstreams accept numbers beyond the bounds, with another
 * meaning.
 */
const within = (min: number, max: number) => z.number().min(min).max(max).nullish();

const mark = z.string().min(1);

const cap = z.number().int().positive().max(MODEL_LIMITS.tokens.mostOutput).nullish();

/**
 * Members of a chat request that the gateway reads. All other members (tools, formats, penalties, vendors' own) are kept and
 * forwarded unchanged.
 */
export const ChatRequest = z.looseObject({
  model: z.string().min(1).max(MODEL_LIMITS.idChars),
  messages: z
    .array(z.looseObject({ role: z.enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` }) }))
    .min(1)
    .max(MODEL_LIMITS.chat.messages),
  max_tokens: cap,
  max_completion_tokens: cap,
  n: z.number().int().positive().max(MODEL_LIMITS.chat.completions).nullish(),
  stream: z.boolean().nullish(),
  temperature: within(0, 2),
  top_p: within(0, 1),
  presence_penalty: within(-2, 2),
  frequency_penalty: within(-2, 2),
  logprobs: z.boolean().nullish(),
  stop: z.union([mark, z.array(mark).max(MODEL_LIMITS.chat.stopSequences)]).nullish(),
  top_logprobs: z.number().int().min(0).max(20).nullish(),
});

export type ChatRequest = z.output<typeof ChatRequest>;
