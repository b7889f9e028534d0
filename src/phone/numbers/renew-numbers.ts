import type { Worker } from '../../kernel/schedule.ts';
import { CarrierFailed } from '../carriers/carrier.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { claimDue, claimPayable } from './due-store.ts';
import { clearFailed, resolvePurchase } from './give-up-purchase.ts';
import type { PhoneNumber } from './number.ts';
import type { NumberDeps } from './number-deps.ts';
import { renewNumber } from './renew-number.ts';
import { returnNumber } from './return-number.ts';

/**
 * Creates the worker that handles numbers when they are due: renewals, payments in grace, and unfinished purchases and
 * releases. Any number of processes may run it; each claims a bounded batch for a limited time.
 */
export const renewNumbers = (deps: NumberDeps): Worker => ({
  name: 'renew-numbers',
  everyMs: PHONE_LIMITS.number.renewEveryMs,
  async tick() {
    for (let passes = 0; passes < PHONE_LIMITS.worker.passesPerTick; passes++) {
      const taken = await claim(deps);
      await Promise.all(taken.map((number) => attend(deps, number)));
      if (taken.length < PHONE_LIMITS.worker.duePerPass) break;
    }
  },
});

async function claim({ sql, seller, now }: NumberDeps): Promise<readonly PhoneNumber[]> {
  const time = new Date(now());
  const leasedUntil = new Date(now() + PHONE_LIMITS.number.unfinishedMs);
  const of = { carrier: seller.name, now: time, leasedUntil };
  const due = await claimDue(sql, of);
  return [...due, ...(await claimPayable(sql, of))];
}

/**
 * Handles one number. Never rejects: a failure is retried once the number's lease is over, and does not delay other numbers.
 */
async function attend(deps: NumberDeps, number: PhoneNumber): Promise<void> {
  const { id: numberId, status } = number;
  try {
    await work(deps, number);
  } catch (err) {
    const isAway = err instanceof CarrierFailed;
    deps.log[isAway ? 'warn' : 'error']({ err, numberId, status }, 'a number is looked at again');
  }
}

function work(deps: NumberDeps, number: PhoneNumber): Promise<void> {
  switch (number.status) {
    case 'buying':
      return resolvePurchase(deps, number);
    case 'active':
    case 'grace':
      return renewNumber(deps, number);
    case 'released':
      return returnNumber(deps, number);
    case 'failed':
      return clearFailed(deps, number);
  }
}
