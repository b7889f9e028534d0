import { z } from 'zod';
import { fewMembers } from '../../kernel/json/few-members.ts';
import { isStorable } from '../../kernel/storable.ts';
import { MODEL_LIMITS } from '../limits.ts';
import { RESPONSES_LIMITS } from './limits.ts';

const within = (min: number, max: number) => z.number().min(min).max(max).nullish();

/** Id of a response, an item or a call, made by this server or an upstream. */
export const ResponseId = z
  .string()
  .min(1)
  .max(RESPONSES_LIMITS.request.idChars)
  .refine(isStorable, { error: 'has a character that no id has' });

/** One item of the input. Members of its type are checked by the code that reads them. */
export const InputItem = z.looseObject({
  type: z.string().max(RESPONSES_LIMITS.request.idChars).nullish(),
  id: ResponseId.nullish(),
});

/**
 * Members of a request in the Responses dialect that the gateway reads. All other members are kept, and forwarded to an
 * upstream that speaks the dialect.
 */
export const ResponsesRequest = z.looseObject({
  model: z.string().min(1).max(MODEL_LIMITS.idChars),
  input: z.union([z.string(), z.array(InputItem).max(MODEL_LIMITS.chat.messages)]).nullish(),
  instructions: z.string().max(RESPONSES_LIMITS.request.instructionChars).nullish(),
  previous_response_id: ResponseId.nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  max_output_tokens: z.number().int().positive().max(MODEL_LIMITS.tokens.mostOutput).nullish(),
  temperature: within(0, 2),
  top_p: within(0, 1),
  top_logprobs: z.number().int().min(0).max(20).nullish(),
  tools: z
    .array(z.looseObject({ type: z.string() }))
    .max(RESPONSES_LIMITS.request.tools)
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z
    .looseObject({
      format: z.looseObject({ type: z.string() }).nullish(),
      verbosity: z.string().nullish(),
    })
    .nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
  include: z.array(z.string()).max(RESPONSES_LIMITS.request.includes).nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  metadata: fewMembers(
    z.record(
      z.string().max(RESPONSES_LIMITS.request.metadataKeyChars),
      z.string().max(RESPONSES_LIMITS.request.metadataChars),
    ),
    RESPONSES_LIMITS.request.metadataPairs,
    `may have ${RESPONSES_LIMITS.request.metadataPairs} pairs`,
  ).nullish(),
});

export type ResponsesRequest = z.output<typeof ResponsesRequest>;
export type InputItem = z.output<typeof InputItem>;
