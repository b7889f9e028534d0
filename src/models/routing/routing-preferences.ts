import { z } from 'zod';
import { parseRate, type Rates, type Unit } from '../../kernel/price.ts';
import type { Source } from '../catalogue/catalogue.ts';
import { gatewayErrors } from '../errors.ts';
import { MODEL_LIMITS } from '../limits.ts';
import type { KeyedSource, ModelSources } from './keyed-sources.ts';

/**
 * Routing preferences of a request: models to fall back to, the allowed providers, their order, and the highest price. Members
 * and meaning are those of OpenRouter's API (https://openrouter.ai/docs/features/provider-routing).
 */

const names = z
  .array(z.string().min(1).max(MODEL_LIMITS.idChars))
  .max(MODEL_LIMITS.routing.providers);

const price = z.union([z.number(), z.string().max(32)]).transform((text, context) => {
  const rate = parseRate(String(text));
  if (rate !== undefined) return rate;
  const message = 'must be a price in US dollars, with six decimals at most';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const MaxPrice = z
  .strictObject({ prompt: price.nullish(), completion: price.nullish(), request: price.nullish() })
  .nullish();

export const ROUTING_PREFERENCES = {
  models: z
    .array(z.string().min(1).max(MODEL_LIMITS.idChars))
    .max(MODEL_LIMITS.routing.models)
    .nullish(),
  provider: z
    .strictObject({
      order: names.nullish(),
      only: names.nullish(),
      ignore: names.nullish(),
      allow_fallbacks: z.boolean().nullish(),
      max_price: MaxPrice,
    })
    .nullish(),
  max_price: MaxPrice,
} as const;

/** Schema of the preference to have the price in the answer's `usage`. */
export const USAGE_PREFERENCE = z.strictObject({ include: z.boolean() }).nullish();

const PreferenceMembers = z.object(ROUTING_PREFERENCES);

export type RoutingPreferences = {
  /** Ids of the models to try in turn after the first model. */
  readonly models: readonly string[];
  /** Ids of providers, the preferred one first. */
  readonly order: readonly string[];
  /** Ids of the allowed providers. Undefined: any. */
  readonly only: ReadonlySet<string> | undefined;
  readonly ignored: ReadonlySet<string>;
  /** Upper bounds of the rates that the caller pays, including the margin. */
  readonly most: Readonly<Partial<Record<Unit, bigint>>>;
};

const MILLION = 1_000_000n;

/**
 * Reads the routing preferences of a request. Undefined when it has none. Throws the refusal of preferences that contradict
 * each other.
 */
export function readPreferences(
  asked: z.output<typeof PreferenceMembers>,
): RoutingPreferences | undefined {
  const { max_price: ownPrice, models, provider } = asked;
  if (models == null && provider == null && ownPrice == null) return undefined;
  const { allow_fallbacks: allowsOthers, ignore, only, order } = provider ?? {};
  if (allowsOthers === false && order == null) {
    const message = 'allow_fallbacks: false needs the order of the providers that are allowed.';
    throw gatewayErrors.invalidRequest(message, 'provider');
  }
  const allowed = allowsOthers === false ? order : only;
  return {
    models: models ?? [],
    order: order ?? [],
    only:
      allowed == null ? undefined : new Set(allowed.filter((name) => only?.includes(name) ?? true)),
    ignored: new Set(ignore),
    most: ratesOf({ ...provider?.max_price, ...ownPrice }),
  };
}

function ratesOf({ completion, prompt, request }: NonNullable<z.output<typeof MaxPrice>>) {
  return {
    ...(prompt != null && { text_input_token: prompt }),
    ...(completion != null && { text_output_token: completion }),
    // Rates are per million units.
    ...(request != null && { request: request * MILLION }),
  };
}

const isNamed = ({ ignored, only }: RoutingPreferences, { provider }: Source): boolean =>
  !ignored.has(provider) && (only?.has(provider) ?? true);

const BPS = 10_000n;

const isCheapEnough = ({ most }: RoutingPreferences, rates: Rates, marginBps: number): boolean =>
  Object.entries(most).every(
    ([unit, mostRate]) => (rates[unit as Unit] ?? 0n) * (BPS + BigInt(marginBps)) <= mostRate * BPS,
  );

/** Returns the sources that the caller's preferences allow, with their ranks. The list may be empty. */
export function preferredSources(
  choice: ModelSources,
  preferences: RoutingPreferences | undefined,
): ModelSources {
  if (preferences === undefined) return choice;
  const { order } = preferences;
  const allowed = choice.sources.filter(({ source }) => isNamed(preferences, source));
  const rankOf = ({ source }: KeyedSource) => {
    const place = order.indexOf(source.provider);
    return place === -1 ? order.length : place;
  };
  return { ...choice, sources: allowed.map((keyed) => ({ ...keyed, rank: rankOf(keyed) })) };
}

/**
 * Returns the sources that the caller's preferences allow. Throws the refusal when none is left; the error names the providers
 * of the model.
 */
export function requirePreferred(
  choice: ModelSources,
  preferences: RoutingPreferences | undefined,
): ModelSources {
  const allowed = preferredSources(choice, preferences);
  if (allowed.sources.length > 0 || choice.sources.length === 0) return allowed;
  const { id, sources } = choice.model;
  const hosts = [...new Set(sources.map(({ provider }) => provider))].join(', ');
  const message = `provider leaves no source of "${id}", which is served by ${hosts}.`;
  throw gatewayErrors.invalidRequest(message, 'provider');
}

/**
 * Returns the sources whose rates for this request are within the caller's `max_price`. Sources paid with the caller's own key
 * have no price here and stay. Throws the refusal when none is left.
 */
export function requireCheap(
  choice: ModelSources,
  preferences: RoutingPreferences | undefined,
  ratesAt: (source: Source) => Rates,
): ModelSources {
  if (preferences === undefined) return choice;
  const kept = choice.sources.filter(
    ({ ownKey, source }) =>
      ownKey !== undefined || isCheapEnough(preferences, ratesAt(source), source.marginBps),
  );
  if (kept.length > 0) return { ...choice, sources: kept };
  const message = `No source of "${choice.model.id}" is within max_price; GET /v1/models has its rates.`;
  throw gatewayErrors.invalidRequest(message, 'max_price');
}
