/** A number that was sold. */
export type SimNumber = {
  readonly sid: string;
  readonly phoneNumber: string;
  readonly friendlyName: string;
  readonly voiceUrl: string;
  readonly statusCallback: string;
};

/** The numbers of the carrier: those for sale, and those of its one customer. */
export class Numbers {
  readonly owned: SimNumber[] = [];
  readonly #forSale: Set<string>;
  #sold = 0;

  constructor(forSale: readonly string[]) {
    this.#forSale = new Set(forSale);
  }

  search({ areaCode, contains, limit }: { areaCode: string; contains: string; limit: number }) {
    return [...this.#forSale]
      .filter((number) => number.startsWith(`+1${areaCode}`) && number.includes(contains))
      .slice(0, limit);
  }

  /** Undefined: the number is not for sale. */
  buy(request: Omit<SimNumber, 'sid'>): SimNumber | undefined {
    if (!this.#forSale.delete(request.phoneNumber)) return undefined;
    const sid = `PN${String(++this.#sold).padStart(32, '0')}`;
    const number = { sid, ...request };
    this.owned.push(number);
    return number;
  }

  /** False: the carrier does not know it. */
  release(sid: string): boolean {
    const at = this.owned.findIndex((number) => number.sid === sid);
    const [released] = at < 0 ? [] : this.owned.splice(at, 1);
    if (released !== undefined) this.#forSale.add(released.phoneNumber);
    return released !== undefined;
  }

  find(phoneNumber: string): SimNumber | undefined {
    return this.owned.find((number) => number.phoneNumber === phoneNumber);
  }
}
