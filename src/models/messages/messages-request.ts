import { z } from 'zod';
import { isObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';

const ROLES = ['user', 'assistant', 'system'] as const;

/** Text, or blocks. What a block may be is for the upstream to judge, or for the translation that meets it. */
const CONTENT = 'must be a string or a list of blocks';
const content = z.union([z.string(), z.array(z.unknown())], { error: CONTENT });

/** A turn of the system may change the effort alone, and says nothing then. */
const turn = z
  .looseObject({
    role: z.enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` }),
    content: content.optional(),
  })
  .refine(
    ({ content: said, output_config: config, role }) =>
      said !== undefined || (role === 'system' && isObject(config)),
    { path: ['content'], error: CONTENT },
  );

const within = (min: number, max: number) => z.number().min(min).max(max).nullish();

/** Members of a prompt that both routes read. All other members are kept and forwarded as they came. */
const PROMPT = {
  model: z.string().min(1).max(LIMITS.modelIdChars),
  messages: z.array(turn).min(1).max(LIMITS.chatMessages),
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
