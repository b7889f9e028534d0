import type { Extension } from '../billing/session-hold.ts';
import type { SessionHolds } from '../billing/session-holds.ts';
import { turnRefused } from '../live/voice-endings.ts';
import { StageFailed, type TurnCharge } from '../session/voice-pipeline.ts';
import { type Share, UnbilledCharges } from './unbilled-charges.ts';

export type Holding = {
  /** Lower bound of the total amount to hold. */
  readonly floorRaw?: bigint;
  /** True for speculative work, whose refusal has no consequence. */
  readonly isQuiet?: boolean;
};

/**
 * Holds the upper bound of a purchase's cost in addition to all unbilled charges. Throws StageFailed when it cannot be held.
 */
export type HoldShare = (mostRaw: bigint, holding?: Holding) => Promise<Share>;

/** The charges of one hold of a session. */
export type ChargesOnHold = { readonly tab: UnbilledCharges; readonly hold: HoldShare };

/** A charge with the name of the hold that pays it. */
type OwedByHold = { readonly sessionHold: string; readonly bought: TurnCharge };

export type ChargesByHold = ReturnType<typeof createChargesByHold>;

/** Returns the charges of a session, grouped by the hold that pays them. */
export function createChargesByHold(sessionHolds: Pick<SessionHolds, 'hold' | 'holdQuietly'>) {
  const chargesByHold = new Map<string, ChargesOnHold>();
  return {
    of(sessionHold: string): ChargesOnHold {
      const known = chargesByHold.get(sessionHold);
      if (known !== undefined) return known;
      const tab = new UnbilledCharges();
      const afford = async (totalRaw: bigint, isQuiet: boolean) => {
        if (!isQuiet) return requireHeld(await sessionHolds.hold(sessionHold, totalRaw));
        if (await sessionHolds.holdQuietly(sessionHold, totalRaw)) return;
        throw new StageFailed('not_begun', 'It is speculative and cannot be held.');
      };
      const charges = { tab, hold: createHolds(tab, afford) };
      chargesByHold.set(sessionHold, charges);
      return charges;
    },
    /** Resolves when the charge of every payment in progress is known. */
    async paymentsKnown(): Promise<void> {
      await Promise.all([...chargesByHold.values()].map(({ tab }) => tab.paymentsKnown()));
    },
    /** Returns the finished charges, each once. The caller bills them. */
    take(): OwedByHold[] {
      const taken: OwedByHold[] = [];
      for (const [sessionHold, { tab }] of chargesByHold) {
        for (const bought of tab.take()) taken.push({ sessionHold, bought });
      }
      return taken;
    },
  };
}

/** Thrown when nothing can be held: the session is over, or the balance or a cap is used up. */
export class NotHeld extends StageFailed {}

/** Throws NotHeld where nothing was held. */
export function requireHeld(verdict: Extension): void {
  if (verdict.kind === 'extended') return;
  if (verdict.kind === 'lost') throw new NotHeld('settled_elsewhere', 'The session is over.');
  const { error, reason } = turnRefused(verdict.refusal);
  throw new NotHeld(error?.code ?? reason, error?.message ?? reason);
}

/** Creates a function that tops up one hold. Calls run one after another, so that each counts the purchases before it. */
function createHolds(
  tab: UnbilledCharges,
  /** Holds `totalRaw` for unbilled charges, or throws StageFailed. */
  afford: (totalRaw: bigint, isQuiet: boolean) => Promise<void>,
): HoldShare {
  let tail: Promise<unknown> = Promise.resolve();
  return (mostRaw, { floorRaw = 0n, isQuiet = false } = {}) => {
    const held = tail.then(async () => {
      const totalRaw = tab.unbilledRaw() + mostRaw;
      await afford(totalRaw > floorRaw ? totalRaw : floorRaw, isQuiet);
      return tab.expect(mostRaw);
    });
    tail = held.catch(() => {});
    return held;
  };
}
