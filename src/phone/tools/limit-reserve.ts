import { minRaw } from '../../kernel/amount.ts';
import type { Reserve } from '../../ledger/rules/requests.ts';

/** Returns the reserve for one tool call: the money that it holds at a time and spends is at most `mostRaw`. */
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
