import { z } from 'zod';
import { MODEL_LIMITS } from '../limits.ts';
import type { EmbeddingInput } from '../providers/embedding-rail.ts';

const { inputs: embeddingInputs } = MODEL_LIMITS.embedding;

const SHAPE =
  'must be a text, a list of texts, a list of tokens or a list of such lists, and none of them empty';

/**
 * Schema of the input. Not a union of shapes, with which each token of a long list would be an issue of every shape that it
 * does not fit.
 */
const Input = z
  .custom<EmbeddingInput>((value) => value !== undefined, SHAPE)
  .superRefine((value, context) => {
    if (!isInput(value)) return context.addIssue(SHAPE);
    if (typeof value === 'string' || isTokens(value) || value.length <= embeddingInputs) return;
    context.addIssue(`has at most ${embeddingInputs} inputs`);
  })
  .meta({
    anyOf: [
      { type: 'string' },
      { type: 'array', items: { type: 'string' }, maxItems: embeddingInputs },
      { type: 'array', items: { type: 'integer' } },
      {
        type: 'array',
        maxItems: embeddingInputs,
        items: { type: 'array', items: { type: 'integer' } },
      },
    ],
  });

const isText = (value: unknown): value is string => typeof value === 'string';

const isTokens = (value: unknown): value is readonly number[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((token) => Number.isSafeInteger(token) && token >= 0);

function isInput(value: unknown): value is EmbeddingInput {
  if (isText(value) || isTokens(value)) return true;
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every(isText) || value.every(isTokens);
}

/** Members of an embeddings request that the gateway reads. All other members are forwarded unchanged. */
export const EmbeddingRequest = z.looseObject({
  model: z.string().min(1).max(MODEL_LIMITS.idChars),
  input: Input,
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.number().int().positive().max(MODEL_LIMITS.embedding.dimensions).nullish(),
});

export type EmbeddingRequest = z.output<typeof EmbeddingRequest>;

/** Answer to an embedding request, as clients know it. */
export const EmbeddingAnswer = z.looseObject({
  object: z.literal('list'),
  data: z.array(
    z.looseObject({
      object: z.literal('embedding'),
      index: z.number(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  model: z.string(),
  usage: z.looseObject({ prompt_tokens: z.number(), total_tokens: z.number() }),
});
