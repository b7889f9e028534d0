import type { Call, Stage } from './payment-calls.ts';

const LOOK_EVERY_MS = 50;
/** So long after a payment has lapsed by the clock of the payer, a slow vendor answers. */
const LATE_BY_MS = 200;

/** Runs the vendors that answer late: each answers once its payment has lapsed by the clock of the chain too. */
export function attend(stage: Stage, calls: readonly Call[]): AsyncDisposable {
  const slow = new Set(calls.filter(({ row }) => row.mode.slow));
  let isOver = false;
  const done = (async () => {
    while (!isOver && slow.size > 0) {
      for (const call of slow) if (await answerLate(stage, call)) slow.delete(call);
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      isOver = true;
      await done;
    },
  };
}

async function answerLate({ chain, vendor }: Stage, { row, url }: Call): Promise<boolean> {
  const payment = vendor.seen(url).findLast((seen) => seen.payment !== undefined)?.payment;
  if (typeof payment !== 'object') return false;
  const validBefore = Number(payment.transfer.validBefore);
  if (Date.now() < validBefore * 1_000 + LATE_BY_MS) return false;
  if (!row.mode.taken) {
    // Others of this batch that still wait for their vendor must not lapse with it.
    await vendor.settleHeld();
    await travelTo(chain, validBefore);
  }
  vendor.release(url);
  return true;
}

/** Lets the chain's time pass over everything that is signed and undecided. */
export async function lapse({ chain, life }: Stage): Promise<void> {
  const [row] = await life.sql<{ last: bigint | null }[]>`
    select max(valid_before) as last from reservations
    where state in ('reserved', 'sent', 'pending_settlement')`;
  if (row?.last) await travelTo(chain, Number(row.last));
}

async function travelTo(chain: Stage['chain'], seconds: number): Promise<void> {
  if ((await chain.head()).timestamp >= seconds) return;
  await chain.setNextTimestamp(seconds);
  await chain.mine();
}
