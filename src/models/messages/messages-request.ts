import { z } from 'zod';
import { isObject } from '../../kernel/json.ts';
import { MODEL_LIMITS } from '../limits.ts';

const ROLES = ['user', 'assistant', 'system'] as const;

/** Schema of content: text or a list of blocks. The upstream or the translation checks the blocks. */
const CONTENT = 'must be a string or a list of blocks';
const content = z.union([z.string(), z.array(z.unknown())], { error: CONTENT });

/** Schema of a turn. A system turn that only changes `output_config` may have no content. */
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
  model: z.string().min(1).max(MODEL_LIMITS.idChars),
  messages: z.array(turn).min(1).max(MODEL_LIMITS.chat.messages),
  system: content.nullish(),
  tools: z.array(z.unknown()).nullish(),
  tool_choice: z.looseObject({ type: z.string() }).nullish(),
  thinking: z.looseObject({ type: z.string() }).nullish(),
};

/** Members of a Messages request that the gateway reads. */
export const MessagesRequest = z.looseObject({
  ...PROMPT,
  max_tokens: z.number().int().positive().max(MODEL_LIMITS.tokens.mostOutput),
  stream: z.boolean().nullish(),
  temperature: within(0, 1),
  top_p: within(0, 1),
  top_k: z.number().int().min(0).nullish(),
  stop_sequences: z.array(z.string().min(1)).max(MODEL_LIMITS.chat.stopSequences).nullish(),
});

export type MessagesRequest = z.output<typeof MessagesRequest>;

/** Request to count the tokens of a prompt. */
export const CountRequest = z.looseObject(PROMPT);

export type CountRequest = z.output<typeof CountRequest>;
