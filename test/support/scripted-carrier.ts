import {
  CarrierFailed,
  type CarrierNumber,
  type OfferedNumber,
} from '../../src/phone/carriers/carrier.ts';
import type { NumberCarrier } from '../../src/phone/numbers/number-deps.ts';

/** What a purchase comes to: `lost` is made, and its answer is not heard; `away` is not made. */
type Deal = 'sold' | 'lost' | 'away' | 'refused' | 'taken';

/** A carrier that has a hundred numbers in each area code, and fails where a test says so. */
export class ScriptedCarrier implements NumberCarrier {
  readonly name = 'loopback' as const;
  /** By purchase. */
  readonly sold = new Map<string, CarrierNumber>();
  readonly returned: string[] = [];
  buys = 0;
  deal: Deal = 'sold';
  /** Numbers that another customer has bought since they were offered. */
  readonly gone = new Set<string>();
  /** It does not say what it has sold. */
  isMute = false;
  /** Why it takes no number back; `lost`: it does, and its answer is not heard. */
  keeps: 'away' | 'refused' | 'lost' | undefined;
  offered: (areaCode: string) => readonly string[] = (areaCode) =>
    Array.from({ length: 100 }, (_, i) => `+1${areaCode}55501${String(i).padStart(2, '0')}`);
  /** A purchase waits for it before it is made. */
  gate: Promise<void> = Promise.resolve();

  readonly numbers: NumberCarrier['numbers'] = {
    search: async ({ areaCode = '212', phoneNumber, limit }) => {
      const taken = new Set([...this.sold.values()].map((number) => number.phoneNumber));
      return this.offered(phoneNumber?.slice(2, 5) ?? areaCode)
        .filter((number) => !taken.has(number) && number === (phoneNumber ?? number))
        .slice(0, limit)
        .map(offer);
    },
    buy: async ({ phoneNumber, purchaseId }) => {
      this.buys += 1;
      const { deal } = this;
      await this.gate;
      if (deal !== 'sold' && deal !== 'lost') throw failure(deal);
      if (this.gone.has(phoneNumber)) throw failure('taken');
      const number = { carrierNumberId: `PN${phoneNumber}`, phoneNumber };
      this.sold.set(purchaseId, number);
      if (deal === 'lost') throw failure('away');
      return number;
    },
    findPurchase: async (purchaseId) => {
      if (this.isMute) throw failure('away');
      return this.sold.get(purchaseId);
    },
    release: async (carrierNumberId) => {
      if (this.keeps === 'away' || this.keeps === 'refused') throw failure(this.keeps);
      this.returned.push(carrierNumberId);
      for (const [id, number] of this.sold) {
        if (number.carrierNumberId === carrierNumberId) this.sold.delete(id);
      }
      if (this.keeps === 'lost') throw failure('away');
    },
  };
}

const failure = (kind: CarrierFailed['kind']) => new CarrierFailed(kind, `the carrier is ${kind}`);

const offer = (phoneNumber: string): OfferedNumber => ({
  phoneNumber,
  friendlyName: phoneNumber,
  locality: null,
  region: null,
});
