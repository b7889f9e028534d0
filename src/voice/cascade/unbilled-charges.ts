import { owedRaw } from '../billing/charge-price.ts';
import type { TurnCharge } from '../session/voice-pipeline.ts';

/** A charge of a session that is not billed yet and may still grow. */
export type UnbilledCharge = {
  /** True when nothing more is added to the charge. */
  readonly isOver: boolean;
  /** Returns the charge so far; undefined when there is none. */
  bought(): TurnCharge | undefined;
};

/**
 * Upper bound of a purchase's cost. It counts as unbilled until the charge of the purchase is complete, or `drop` is called.
 */
export type Share = {
  readonly mostRaw: bigint;
  /**
   * True when the purchase is paid per call. Such a payment in progress is charged even when its result is no longer needed.
   */
  isPayment: boolean;
  /** Adds the charge of the purchase. Its amount up to now is counted within the upper bound, not in addition. */
  open(line: UnbilledCharge): void;
  drop(): void;
};

type Expected = {
  readonly share: Share;
  line: UnbilledCharge | undefined;
  readonly known: Promise<void>;
};

/** All charges of a session that are not billed yet, each purchase once. */
export class UnbilledCharges {
  #lines: UnbilledCharge[] = [];
  readonly #expected = new Set<Expected>();

  open(line: UnbilledCharge): void {
    this.#lines.push(line);
  }

  /** Adds a charge whose price is already final. */
  add(bought: TurnCharge): void {
    this.open({ isOver: true, bought: () => bought });
  }

  /** Counts the upper bound of a purchase that is about to be made. */
  expect(mostRaw: bigint): Share {
    let resolveKnown = () => {};
    const known = new Promise<void>((resolve) => {
      resolveKnown = resolve;
    });
    const share: Share = {
      mostRaw,
      isPayment: false,
      open: (line) => {
        expected.line = line;
        this.open(line);
        resolveKnown();
      },
      drop: () => {
        this.#expected.delete(expected);
        resolveKnown();
      },
    };
    const expected: Expected = { share, line: undefined, known };
    this.#expected.add(expected);
    return share;
  }

  /** Resolves when the charge of every payment in progress is known. */
  async paymentsKnown(): Promise<void> {
    const payments = [...this.#expected].filter(({ share }) => share.isPayment);
    await Promise.all(payments.map(({ known }) => known));
  }

  /** Returns true when the charges include the fee for buying `model` with the caller's own key. */
  hasFeeOf(model: string): boolean {
    return this.#lines.some((line) => {
      const bought = line.bought();
      return bought !== undefined && feeFor(bought) === model;
    });
  }

  /** Returns the upper bound of the cost of all charges, including open and expected charges. */
  unbilledRaw(): bigint {
    let sumRaw = 0n;
    for (const one of feeOnce(this.#lines.flatMap((line) => line.bought() ?? []))) {
      sumRaw += owedRaw([one]);
    }
    for (const { line, share } of this.#expected) {
      if (line?.isOver) share.drop();
      else {
        const leftRaw = share.mostRaw - (line === undefined ? 0n : costRaw(line));
        if (leftRaw > 0n) sumRaw += leftRaw;
      }
    }
    return sumRaw;
  }

  /** Returns the finished charges and removes them. The caller bills them. */
  take(): TurnCharge[] {
    const over = this.#lines.filter(({ isOver }) => isOver);
    this.#lines = this.#lines.filter((line) => !over.includes(line));
    return feeOnce(over.flatMap((line) => line.bought() ?? []));
  }
}

/** Returns the model that a fee for the caller's own key is owed for; undefined when no fee is owed. */
const feeFor = ({ model, source }: TurnCharge): string | undefined =>
  source.rail === 'byok' ? model : undefined;

/** Charges the fee for the caller's own keys once for each model, whatever the number of requests and providers. */
function feeOnce(bought: readonly TurnCharge[]): TurnCharge[] {
  if (bought.every((one) => feeFor(one) === undefined)) return [...bought];
  const payers = new Map<string | undefined, TurnCharge>();
  for (const one of bought) {
    const payer = payers.get(feeFor(one));
    if (payer === undefined || payer.isSpeculated) payers.set(feeFor(one), one);
  }
  return bought.map((one) => {
    const model = feeFor(one);
    if (model === undefined || payers.get(model) === one) return one;
    const { request: _, ...usage } = one.usage;
    return { ...one, usage };
  });
}

function costRaw(line: UnbilledCharge): bigint {
  const bought = line.bought();
  return bought === undefined ? 0n : owedRaw([bought]);
}
