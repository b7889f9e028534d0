import { type Clock, sleep } from '../../../kernel/clock.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { CarrierFailed, type CarrierNumber, type CarrierNumbers } from '../carrier.ts';
import { isUnknown, type TelnyxApi } from './api.ts';

const list = (data: unknown): readonly Json[] => (Array.isArray(data) ? data.filter(isObject) : []);
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/**
 * Creates the part of the carrier that rents numbers from Telnyx. An order has the purchase id as its reference, and is decided
 * some time after it was placed. The phone number itself is the carrier's id here, because the order and the number have
 * different ids.
 */
export function createTelnyxNumbers(deps: {
  readonly api: TelnyxApi;
  readonly clock: Clock;
  readonly connectionId: string;
}): CarrierNumbers {
  const { api, clock, connectionId } = deps;

  /**
   * Polls an order until Telnyx has decided it. Throws CarrierFailed when the order fails, or is undecided after
   * `PHONE_LIMITS.carrier.orderChecks` checks.
   */
  async function bought(placed: Json): Promise<CarrierNumber> {
    let order = placed;
    for (let check = 0; check < PHONE_LIMITS.carrier.orderChecks; check++) {
      if (order.status === 'success') return numberOf(order);
      if (order.status === 'failure') throw new CarrierFailed('taken', 'telnyx sold no number');
      await sleep(clock, PHONE_LIMITS.carrier.orderCheckMs);
      const path = `number_orders/${encodeURIComponent(String(order.id))}`;
      const data = await api.ask({ method: 'GET', path });
      if (isObject(data)) order = data;
    }
    throw new CarrierFailed('away', 'telnyx has not decided about an order');
  }

  return {
    async search({ areaCode, country = 'US', phoneNumber, limit }) {
      const query = new URLSearchParams({
        'filter[country_code]': country,
        'filter[phone_number_type]': 'local',
        'filter[features][]': 'voice',
        'filter[best_effort]': 'false',
        'filter[limit]': String(limit),
      });
      if (areaCode !== undefined) query.set('filter[national_destination_code]', areaCode);
      if (phoneNumber !== undefined) {
        query.set('filter[phone_number][contains]', phoneNumber.replace(/^\+1/, ''));
      }
      const data = await api.ask({ method: 'GET', path: `available_phone_numbers?${query}` });
      return list(data)
        .filter(({ phone_number }) => typeof phone_number === 'string')
        .map(offered)
        .filter((number) => phoneNumber === undefined || number.phoneNumber === phoneNumber)
        .slice(0, limit);
    },

    async buy({ phoneNumber, purchaseId }) {
      const data = await api.ask({
        method: 'POST',
        path: 'number_orders',
        body: {
          phone_numbers: [{ phone_number: phoneNumber }],
          connection_id: connectionId,
          customer_reference: purchaseId,
        },
      });
      if (!isObject(data)) throw new CarrierFailed('away', 'telnyx answered no order');
      return bought(data);
    },

    async findPurchase(purchaseId) {
      const query = new URLSearchParams({ 'filter[customer_reference]': purchaseId });
      const data = await api.ask({ method: 'GET', path: `number_orders?${query}` });
      const ours = list(data).filter(({ customer_reference }) => customer_reference === purchaseId);
      const order = ours.find(({ status }) => status !== 'failure');
      return order && bought(order);
    },

    async release(phoneNumber) {
      const query = new URLSearchParams({ 'filter[phone_number]': phoneNumber });
      const data = await api.ask({ method: 'GET', path: `phone_numbers?${query}` });
      const owned = list(data).find(({ phone_number }) => phone_number === phoneNumber);
      if (owned === undefined) return;
      try {
        const path = `phone_numbers/${encodeURIComponent(String(owned.id))}`;
        await api.ask({ method: 'DELETE', path });
      } catch (error) {
        if (!isUnknown(error)) throw error;
      }
    },
  };
}

function numberOf({ phone_numbers }: Json): CarrierNumber {
  const phoneNumber = list(phone_numbers)[0]?.phone_number;
  if (typeof phoneNumber === 'string') return { carrierNumberId: phoneNumber, phoneNumber };
  throw new CarrierFailed('away', 'telnyx answered an order without a number');
}

function offered({ phone_number, region_information }: Json) {
  const regions = list(region_information);
  const nameOf = (...types: readonly string[]) =>
    regions.find(({ region_type }) => types.includes(String(region_type)))?.region_name;
  const phoneNumber = String(phone_number);
  return {
    phoneNumber,
    friendlyName: phoneNumber.replace(/^\+1(\d{3})(\d{3})(\d{4})$/, '($1) $2-$3'),
    locality: textOrNull(nameOf('city', 'location', 'rate_center')),
    region: textOrNull(nameOf('state')),
  };
}
