import { type Clock, nowSeconds, within } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import { type PayOutDeps, type PayoutSender, payOut } from './pay-out.ts';
import type { ClaimedPayout, PastPayout } from './payout.ts';

export type PayoutsDeps = Omit<PayOutDeps, 'sender'> & {
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined when there is no chain, no gas key or no wallet provider. No payout is attempted then. */
  readonly sender: PayoutSender | undefined;
  /** Claims due payouts, of one agent or of all; no other process has them for a while. */
  readonly claim: (validBefore: number, agentId?: number) => Promise<readonly ClaimedPayout[]>;
  readonly hasOpen: () => Promise<boolean>;
};

export interface Payouts extends AsyncDisposable {
  /** Hands a bounded batch of due payouts to the chain. */
  payDue(): Promise<void>;
  /**
   * Hands the due payouts of one agent, which were just planned, to the chain at once. Resolves when that is done or time is up,
   * and never rejects: remaining payouts are paid by `payDue`.
   */
  payNow(agentId: number): Promise<void>;
  /**
   * Hands a payout that has left the chain over again; never rejects. Does nothing when the payout is on the chain after all.
   */
  payAgain(payout: PastPayout): Promise<void>;
}

/** Creates the payer of planned payouts. Any number of processes may pay side by side. */
export function createPayouts(deps: PayoutsDeps): Payouts {
  const { sender, clock, log } = deps;
  const underWay = new Set<Promise<void>>();
  let isWarned = false;

  const warnOnce = async (): Promise<void> => {
    if (isWarned) return;
    const isOpen = await deps.hasOpen();
    // Another call may have logged the warning during the query.
    if (!isOpen || isWarned) return;
    isWarned = true;
    log.warn('payouts wait: they need RPC_URL, FACILITATOR_PRIVATE_KEY and managed wallets');
  };

  const validBefore = () => nowSeconds(clock) + PAYMENT_LIMITS.payout.validSeconds;

  const pay = async (agentId?: number): Promise<void> => {
    if (sender === undefined) return warnOnce();
    const claimed = await deps.claim(validBefore(), agentId);
    await Promise.all(claimed.map((payout) => payOut({ ...deps, sender }, payout)));
  };

  const hurried = async (agentId: number): Promise<void> => {
    try {
      await pay(agentId);
    } catch (err) {
      log.warn({ err, agentId }, 'the payouts of an agent could not be looked at');
    }
  };

  return {
    payDue: () => pay(),
    payNow(agentId) {
      const work = hurried(agentId).finally(() => underWay.delete(work));
      underWay.add(work);
      return within(clock, PAYMENT_LIMITS.payout.closeMs, work, () => undefined);
    },
    async payAgain(payout) {
      if (sender === undefined) return;
      await payOut({ ...deps, sender }, { ...payout, validBefore: validBefore() });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(underWay);
    },
  };
}
