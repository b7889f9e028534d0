import { z } from 'zod';
import { LIMITS } from '../../kernel/limits.ts';

const ROLES = ['user', 'assistant', 'system'] as const;

/** Text, or blocks. What a block may be is for the upstream to judge, or for the translation that meets it. */
const content = z.union([z.string(), z.array(z.unknown())], {
  error: 'must be a string or a list of blocks',
});

const within = (min: number, max: number) => z.number().min(min).max(max).nullish();

/** What both routes have of a prompt. Everything else is kept and forwarded as it came. */
const PROMPT = {
  model: z.string().min(1).max(LIMITS.modelIdChars),
  messages: z
    .array(
      z.looseObject({
        role: z.enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` }),
        content,
      }),
    )
    .min(1)
    .max(LIMITS.chatMessages),
  system: content.nullish(),
  tools: z.array(z.unknown()).nullish(),
  tool_choice: z.looseObject({ type: z.string() }).nullish(),
  thinking: z.looseObject({ type: z.string() }).nullish(),
};

/** As much of a Messages request as the gateway itself has to understand. */
export const MessagesRequest = z.looseObject({
  ...PROMPT,
  max_tokens: z.number().int().positive().max(LIMITS.maxOutputTokens),
  stream: z.boolean().nullish(),
  temperature: within(0, 1),
  top_p: within(0, 1),
  top_k: z.number().int().min(0).nullish(),
  stop_sequences: z.array(z.string().min(1)).max(LIMITS.stopSequences).nullish(),
});

export type MessagesRequest = z.output<typeof MessagesRequest>;

/** A prompt whose tokens are to be counted. */
export const CountRequest = z.looseObject(PROMPT);

export type CountRequest = z.output<typeof CountRequest>;
