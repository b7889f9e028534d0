import { minRaw } from '../../kernel/amount.ts';
import type { Reserve } from '../../ledger/rules/requests.ts';

/** The reserve of a call for one tool call: all that it holds at a time and buys is at most `mostRaw`. */
export function limitReserve(reserve: Reserve, mostRaw: bigint): Reserve {
  let leftRaw = mostRaw;
  return {
    use: (work) =>
      reserve.use(async (claim, lendableRaw) => {
        const used = await work(claim, minRaw(lendableRaw, leftRaw));
        if (claim !== undefined && used.claim !== undefined && used.claim !== 'lost') {
          leftRaw -= claim.hold.amountRaw - used.claim.hold.amountRaw;
        }
        return used;
      }),
  };
}
