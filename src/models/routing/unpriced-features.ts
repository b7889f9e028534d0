import { errors } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import { isSet } from '../providers/unserved-features.ts';

const USUAL_TIERS: ReadonlySet<unknown> = new Set(['auto', 'default', 'flex', 'standard']);

/** What vendors bill beside the tokens of a text, or by other rates, and when a request asks for it. */
const UNPRICED: readonly { readonly field: string; readonly asked: (value: unknown) => boolean }[] =
  [
    { field: 'audio', asked: isSet },
    {
      field: 'modalities',
      asked: (list) => Array.isArray(list) && list.some((modality) => modality !== 'text'),
    },
    { field: 'web_search_options', asked: isSet },
    { field: 'search_parameters', asked: isSet },
    { field: 'plugins', asked: isSet },
    { field: 'service_tier', asked: (tier) => isSet(tier) && !USUAL_TIERS.has(tier) },
  ];

/** Throws the refusal of a chat that would cost more than its tokens at the rates of the catalogue. */
export function requirePriced(request: Json): void {
  const found = UNPRICED.find(({ asked, field }) => asked(request[field]));
  if (found === undefined) return;
  throw errors.gateway.invalidRequest(
    `${found.field} costs what has no price here; a key of your own at the provider pays for it.`,
    found.field,
  );
}
