import { z } from 'zod';
import { LIMITS } from '../kernel/limits.ts';

const cap = z.number().int().positive().max(LIMITS.maxOutputTokens).nullish();

/**
 * As much of a chat request as the gateway itself has to understand. Everything else (tools, formats,
 * penalties, whatever a vendor adds) is kept and forwarded as it came.
 */
export const ChatRequest = z.looseObject({
  model: z.string().min(1).max(LIMITS.modelIdChars),
  messages: z
    .array(z.looseObject({ role: z.string().min(1).max(64) }))
    .min(1)
    .max(LIMITS.chatMessages),
  max_tokens: cap,
  max_completion_tokens: cap,
  n: z.number().int().positive().max(LIMITS.completionsPerRequest).nullish(),
  stream: z.boolean().nullish(),
});

export type ChatRequest = z.output<typeof ChatRequest>;
