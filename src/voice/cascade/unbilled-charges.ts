import { owedRaw } from '../billing/charge-price.ts';
import type { TurnCharge } from '../session/voice-pipeline.ts';

/** Something that a session buys while its turns go on. */
export type UnbilledCharge = {
  /** Nothing more is bought on it. */
  readonly isOver: boolean;
  /** What it has come to. Undefined: nothing. */
  bought(): TurnCharge | undefined;
};

/** What a purchase may come to at most. It counts as unbilled until its line is over, or it is dropped. */
export type Share = {
  readonly mostRaw: bigint;
  /** It is paid per call: once the payment is under way it is bought, also where it is not needed any more. */
  isPayment: boolean;
  /** Opens the line of what is bought. What it has come to counts once. */
  open(line: UnbilledCharge): void;
  drop(): void;
};

/** A share as its tab has it. */
type Expected = {
  readonly share: Share;
  line: UnbilledCharge | undefined;
  readonly known: Promise<void>;
};

/** Everything that a session has bought and that is not billed yet, each purchase once. */
export class UnbilledCharges {
  #lines: UnbilledCharge[] = [];
  readonly #expected = new Set<Expected>();

  open(line: UnbilledCharge): void {
    this.#lines.push(line);
  }

  /** Something whose price is known already. */
  add(bought: TurnCharge): void {
    this.open({ isOver: true, bought: () => bought });
  }

  /** Counts what is about to be bought. */
  expect(mostRaw: bigint): Share {
    let tell = () => {};
    const known = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const share: Share = {
      mostRaw,
      isPayment: false,
      open: (line) => {
        expected.line = line;
        this.open(line);
        tell();
      },
      drop: () => {
        this.#expected.delete(expected);
        tell();
      },
    };
    const expected: Expected = { share, line: undefined, known };
    this.#expected.add(expected);
    return share;
  }

  /** Resolves when it is known what every payment under way has bought. */
  async paymentsKnown(): Promise<void> {
    const payments = [...this.#expected].filter(({ share }) => share.isPayment);
    await Promise.all(payments.map(({ known }) => known));
  }

  /** The fee for a model that is bought with the caller's own keys stands on it. */
  hasFeeOf(model: string): boolean {
    return this.#lines.some((line) => {
      const bought = line.bought();
      return bought !== undefined && feeFor(bought) === model;
    });
  }

  /** What all of it can come to, with what goes on and what is only expected. */
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

  /** What is over; it is billed now. */
  take(): TurnCharge[] {
    const over = this.#lines.filter(({ isOver }) => isOver);
    this.#lines = this.#lines.filter((line) => !over.includes(line));
    return feeOnce(over.flatMap((line) => line.bought() ?? []));
  }
}

/** The model that a fee for the caller's own key is owed for. Undefined: none is. */
const feeFor = ({ model, source }: TurnCharge): string | undefined =>
  source.rail === 'byok' ? model : undefined;

/**
 * The fee for a part that was bought with the caller's own keys is one a turn, whatever the number of requests and of
 * the providers that took them.
 */
function feeOnce(bought: readonly TurnCharge[]): TurnCharge[] {
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
