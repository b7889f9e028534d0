import { isObject, type Json } from '../../kernel/json.ts';

/** A member of a chat request that cannot be served, the values that request the feature, and the reason. */
export type UnservedFeature = {
  readonly field: string;
  readonly asked: (value: unknown) => boolean;
  readonly why: string;
};

export const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/** Features of a request that only a vendor of the OpenAI dialect can serve. */
export const UNSERVED: readonly UnservedFeature[] = [
  { field: 'logprobs', asked: (on) => on === true, why: 'this model gives none' },
  { field: 'top_logprobs', asked: (n) => isSet(n) && n !== 0, why: 'this model gives none' },
  {
    field: 'logit_bias',
    asked: (bias) => isObject(bias) && Object.keys(bias).length > 0,
    why: 'this model has no such control',
  },
  { field: 'audio', asked: isSet, why: 'this model does not speak' },
  {
    field: 'modalities',
    asked: (list) => Array.isArray(list) && list.some((modality) => modality !== 'text'),
    why: 'this model answers in text',
  },
  { field: 'functions', asked: isSet, why: 'use tools' },
  { field: 'function_call', asked: isSet, why: 'use tool_choice' },
  { field: 'web_search_options', asked: isSet, why: 'this model does not search' },
];

/**
 * Returns the first member of a request that cannot be served, with a sentence that begins with the member. Undefined when all
 * members can be served.
 */
export function findUnserved(
  request: Json,
  wishes: readonly UnservedFeature[],
): { readonly detail: string; readonly param: string } | undefined {
  const found = wishes.find(({ asked, field }) => asked(request[field]));
  return (
    found && {
      detail: `${found.field} cannot be served here: ${found.why}.`,
      param: found.field,
    }
  );
}
