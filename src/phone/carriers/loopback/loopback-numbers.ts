import {
  CarrierFailed,
  type CarrierNumber,
  type CarrierNumbers,
  type OfferedNumber,
} from '../carrier.ts';

/** Line numbers 555-0100 to 555-0199, which are reserved for fiction: none of them is a real telephone. */
const LINES = Array.from({ length: 100 }, (_, i) => `555${String(100 + i).padStart(4, '0')}`);
const FICTIONAL = /^\+1[2-9]\d{2}55501\d{2}$/;

/** Area codes of a search that names none, in this order. */
const AREAS = [
  { areaCode: '212', locality: 'New York', region: 'NY' },
  { areaCode: '415', locality: 'San Francisco', region: 'CA' },
  { areaCode: '312', locality: 'Chicago', region: 'IL' },
  { areaCode: '206', locality: 'Seattle', region: 'WA' },
];

export type LoopbackNumbersDeps = {
  /** Returns the given numbers that are rented, as known by another process, or by this process before a restart. */
  readonly findRented: (phoneNumbers: readonly string[]) => Promise<readonly string[]>;
};

/**
 * Creates the numbers for development, from the range that is reserved for fiction. The same search offers the same numbers,
 * without the rented ones. Purchases are known in this process alone: after a restart an unfinished purchase reads as failed.
 */
export function createLoopbackNumbers({ findRented }: LoopbackNumbersDeps): CarrierNumbers {
  /** Rented phone numbers by purchase id. An area code has a hundred numbers, and each can be rented once. */
  const sold = new Map<string, string>();

  async function offersOf(areaCode: string, limit: number): Promise<OfferedNumber[]> {
    const numbers = LINES.map((line) => `+1${areaCode}${line}`);
    const taken = new Set([...sold.values(), ...(await findRented(numbers))]);
    return numbers
      .filter((number) => !taken.has(number))
      .slice(0, limit)
      .map(offerOf);
  }

  return {
    async search({ areaCode, phoneNumber, limit }) {
      if (phoneNumber !== undefined) {
        if (!FICTIONAL.test(phoneNumber)) return [];
        const offers = await offersOf(phoneNumber.slice(2, 5), LINES.length);
        return offers.filter((offer) => offer.phoneNumber === phoneNumber).slice(0, limit);
      }
      if (areaCode !== undefined) return offersOf(areaCode, limit);
      const each = Math.ceil(limit / AREAS.length);
      const offers = await Promise.all(AREAS.map((area) => offersOf(area.areaCode, each)));
      return offers.flat().slice(0, limit);
    },

    async buy({ phoneNumber, purchaseId }) {
      if (sold.get(purchaseId) === phoneNumber) return carrierNumber(phoneNumber);
      const isTaken = [...sold.values()].includes(phoneNumber);
      if (isTaken || !FICTIONAL.test(phoneNumber)) {
        throw new CarrierFailed('taken', `${phoneNumber} is not for sale`);
      }
      sold.set(purchaseId, phoneNumber);
      return carrierNumber(phoneNumber);
    },

    async findPurchase(purchaseId) {
      const phoneNumber = sold.get(purchaseId);
      return phoneNumber === undefined ? undefined : carrierNumber(phoneNumber);
    },

    async release(carrierNumberId) {
      for (const [purchaseId, phoneNumber] of sold) {
        if (idOf(phoneNumber) === carrierNumberId) sold.delete(purchaseId);
      }
    },
  };
}

const idOf = (phoneNumber: string): string => `loopback${phoneNumber}`;

const carrierNumber = (phoneNumber: string): CarrierNumber => ({
  carrierNumberId: idOf(phoneNumber),
  phoneNumber,
});

function offerOf(phoneNumber: string): OfferedNumber {
  const areaCode = phoneNumber.slice(2, 5);
  const area = AREAS.find((each) => each.areaCode === areaCode);
  return {
    phoneNumber,
    friendlyName: `(${areaCode}) ${phoneNumber.slice(5, 8)}-${phoneNumber.slice(8)}`,
    locality: area?.locality ?? null,
    region: area?.region ?? null,
  };
}
