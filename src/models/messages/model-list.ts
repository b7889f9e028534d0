import type { Model } from '../catalogue/catalogue.ts';
import { gatewayErrors } from '../errors.ts';

/** Query for a page of models in Anthropic's API: https://platform.claude.com/docs/en/api/models-list. */
export type ModelPageQuery = {
  readonly limit?: string | undefined;
  readonly after_id?: string | undefined;
  readonly before_id?: string | undefined;
};

const LIMIT = { usual: 20, most: 1_000 };

/** Release time of a model whose release time is not known, as the vendor writes it. */
const EPOCH = '1970-01-01T00:00:00Z';

/** Returns a model in the form of Anthropic's list. Facts that the catalogue lacks are null. */
export const describeForMessages = (model: Model, nowMs: number) => ({
  type: 'model',
  id: model.id,
  display_name: model.displayName ?? model.id,
  created_at: EPOCH,
  capabilities: null,
  line: null,
  lifecycle: lifecycleOf(model, nowMs),
  deprecated_at: null,
  retires_at: model.retirement === undefined ? null : shutdownOf(model.retirement.shutdownDate),
  max_input_tokens: model.contextWindow,
  max_tokens: model.maxOutputTokens,
});

/** Returns a page of the models that `/v1/messages` serves. Throws the refusal of an invalid limit or cursor. */
export function pageForMessages(models: readonly Model[], query: ModelPageQuery, nowMs: number) {
  const limit = limitOf(query.limit);
  const all = models.filter(({ modality }) => modality === 'text');
  const { after_id: afterId, before_id: beforeId } = query;
  const from = afterId === undefined ? 0 : indexOf(all, afterId, 'after_id') + 1;
  const until = beforeId === undefined ? all.length : indexOf(all, beforeId, 'before_id');
  const isBackward = beforeId !== undefined && afterId === undefined;
  const start = isBackward ? Math.max(0, until - limit) : from;
  const end = isBackward ? until : Math.min(until, from + limit);
  const page = all.slice(start, end);
  return {
    data: page.map((model) => describeForMessages(model, nowMs)),
    has_more: isBackward ? start > 0 : end < until,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return LIMIT.usual;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT.most) return limit;
  throw gatewayErrors.invalidRequest(
    `limit is ${JSON.stringify(text)}; send a whole number from 1 to ${LIMIT.most}.`,
    'limit',
  );
}

function indexOf(models: readonly Model[], id: string, param: string): number {
  const index = models.findIndex((model) => model.id === id);
  if (index !== -1) return index;
  throw gatewayErrors.invalidRequest(
    `${param} is "${id}", which names no model; send the first_id or last_id of another page.`,
    param,
  );
}

const shutdownOf = (day: string): string => `${day}T00:00:00Z`;

function lifecycleOf({ retirement }: Model, nowMs: number): string {
  if (retirement === undefined) return 'active';
  return Date.parse(shutdownOf(retirement.shutdownDate)) <= nowMs ? 'retired' : 'deprecated';
}
