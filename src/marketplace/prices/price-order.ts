import { ApiError } from '../../kernel/api-error.ts';
import { isObject } from '../../kernel/json.ts';
import type { MarketPrice } from '../../payments/proxy/marketplace.ts';
import { OwnRefusal } from '../errors.ts';
import { MARKETPLACE_LIMITS } from '../limits.ts';
import { NO_FILE, readBody, requireShort } from '../read-order.ts';
import type { ServiceName } from '../requests.ts';
import { planOf, type Service } from '../vendor.ts';
import { listPriceRaw } from './price.ts';

/**
 * Placeholders for members that a request needs besides the members that decide its price: the shortest text, a file, and
 * languages of the vendor.
 */
const PLACEHOLDER: Readonly<Record<ServiceName, Readonly<Record<string, unknown>>>> = {
  tts: { text: 'a' },
  stt: { audioUrl: 'https://file.invalid/' },
  'stt-translate': { audioUrl: 'https://file.invalid/' },
  translate: { input: 'a', source_language_code: 'en-IN', target_language_code: 'hi-IN' },
  transliterate: { input: 'a', source_language_code: 'hi-IN', target_language_code: 'en-IN' },
  lid: { input: 'a' },
};

/**
 * Returns the price of an order by list price and margin, as its sale would charge. The text of an order is counted. Missing
 * members are filled in; then, and for a file, whose length is in its bytes, the price is that of the list's quantity. Throws
 * OwnRefusal when the order could not be sold.
 */
export function priceOrder(
  service: Service<ServiceName>,
  { body, service: kind }: { readonly service: ServiceName; readonly body: unknown },
): MarketPrice {
  const given = isObject(body) ? body : {};
  const asked = readBody(kind, { ...PLACEHOLDER[kind], ...given });
  const { marginBps } = MARKETPLACE_LIMITS;
  try {
    if ('audioUrl' in asked) {
      const { audioUrl: _, ...order } = asked;
      return perList(planOf(service, { ...order, file: NO_FILE }));
    }
    const points = requireShort(asked, service.mostChars);
    const plan = planOf(service, asked);
    if (!('text' in given || 'input' in given)) return perList(plan);
    const priceRaw = listPriceRaw(plan.price, (plan.characters ?? points) * 1_000, marginBps);
    return priceRaw === 0n ? { kind: 'free' } : { kind: 'sold', priceRaw };
  } catch (error) {
    throw error instanceof ApiError ? new OwnRefusal(error) : error;
  }
}

function perList({ price }: ReturnType<Service<ServiceName>['plan']>): MarketPrice {
  const { per: quantity, unit } = price;
  const priceRaw = listPriceRaw(price, quantity * 1_000, MARKETPLACE_LIMITS.marginBps);
  return priceRaw === 0n ? { kind: 'free' } : { kind: 'sold', priceRaw, per: { quantity, unit } };
}
