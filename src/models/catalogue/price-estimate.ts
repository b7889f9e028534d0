import { formatUsdc } from '../../kernel/amount.ts';
import { priceRaw, type Unit, type Usage } from '../../kernel/price.ts';
import { chatRates } from '../chat/chat-price.ts';
import { gatewayErrors } from '../errors.ts';
import { billedUnits, isByTheCall } from './billed-units.ts';
import type { Catalogue, Model, Source } from './catalogue.ts';

/** Empty set, for a source whose sold units all have a rate. */
const NONE: ReadonlySet<Unit> = new Set();

type Priced = { readonly source: Source; readonly usage: Usage; readonly costRaw: bigint };

/** Prices a call at the cheapest source that has a rate for all of its units. The balance is not read. */
export function estimatePrice(catalogue: Catalogue, modelId: string, asked: Usage) {
  const model = catalogue.find(modelId);
  if (model === undefined) {
    throw gatewayErrors.modelNotFound(modelId, catalogue.suggest(modelId));
  }
  const { source, usage, costRaw } = requirePriced(model, dropZeroes(asked));
  return {
    model: model.id,
    rail: source.rail,
    provider: source.provider,
    margin_bps: source.marginBps,
    usage,
    upstream_cost_usdc: formatUsdc(priceAt(source, usage, 0)),
    cost_usdc: formatUsdc(costRaw),
    cost_raw: costRaw.toString(),
  };
}

/**
 * Returns the cheapest source that can price the usage; of equal prices, the first source. Throws the refusal when none can.
 */
function requirePriced(model: Model, asked: Usage): Priced {
  if (Object.keys(asked).length === 0) {
    throw gatewayErrors.noPriceableSource('There is nothing to price: every quantity is zero.');
  }
  let cheapest: Priced | undefined;
  for (const source of model.sources) {
    if (!canPrice(model, source, asked)) continue;
    const usage = source.rates.request === undefined ? asked : { ...asked, request: 1 };
    const costRaw = priceAt(source, usage, source.marginBps);
    if (cheapest === undefined || costRaw < cheapest.costRaw) cheapest = { source, usage, costRaw };
  }
  if (cheapest !== undefined) return cheapest;
  const units = Object.keys(asked).join(', ');
  throw gatewayErrors.noPriceableSource(`No source of "${model.id}" has a rate for: ${units}.`);
}

function canPrice(model: Model, source: Source, usage: Usage): boolean {
  const { rail, rates } = source;
  const sold = rail === 'free' || isByTheCall(rates) ? billedUnits(model.modality).units : NONE;
  return (Object.keys(usage) as Unit[]).every(
    (unit) =>
      rates[unit] !== undefined ||
      (unit === 'cached_input_token' && rates.text_input_token !== undefined) ||
      sold.has(unit),
  );
}

/**
 * Returns the price of a usage at a source. A source without a rate for cached input bills it like other input, as in the
 * settlement.
 */
function priceAt(source: Source, usage: Usage, marginBps: number): bigint {
  const { text_input_token: fresh = 0, cached_input_token: kept = 0 } = usage;
  const rates = chatRates({ inputTokens: fresh + kept }, source);
  const { text_input_token: input, cached_input_token: cached = input } = rates;
  const filled = cached === undefined ? rates : { ...rates, cached_input_token: cached };
  return priceRaw(usage, filled, marginBps);
}

const dropZeroes = (usage: Usage): Usage =>
  Object.fromEntries(Object.entries(usage).filter(([, quantity]) => quantity !== 0));
