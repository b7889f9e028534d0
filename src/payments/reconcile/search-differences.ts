import type { Block } from '../../platform/chain/rpc-answers.ts';
import { usdcHeld } from '../../platform/chain/usdc-held.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { Applied } from './applied.ts';
import { type AuditDeps, type AuditRange, reread, rewindTo } from './audit-wallets.ts';
import { type Difference, floorOf, planLook, searchRange } from './wallet-audit.ts';

type Search = { readonly range: AuditRange; readonly of: Difference[] };

/**
 * Searches a bounded number of blocks for the reasons of a bounded number of differences between chain and book. Events that
 * are found are credited or debited, and the difference is gone at the next look. A difference that stays unexplained raises an
 * alarm, and moves no money. Returns the found events.
 */
export async function searchDifferences(
  deps: AuditDeps,
  at: Block,
  mostBlocks: number,
): Promise<readonly Applied[]> {
  const due = await deps.audits.findDifferences(PAYMENT_LIMITS.audit.differencesPerTick);
  if (due.length === 0) return [];
  const found: Applied[] = [];
  for (const search of searchesOf(await stillDiffering(deps, due, at), at, mostBlocks)) {
    found.push(...(await searchFor(deps, search, at)));
  }
  return found;
}

/** Returns the differences that still exist between the chain and the book, and closes the other differences. */
async function stillDiffering(
  { view, audits, log }: AuditDeps,
  due: readonly Difference[],
  at: Block,
): Promise<readonly Difference[]> {
  const addresses = due.map(({ wallet }) => wallet);
  const held = await usdcHeld(view.rpc, view.usdc, at, addresses);
  const gone = due.filter(({ walletRaw }, i) => held[i] === walletRaw);
  await audits.closeDifferences(gone.map(({ agentId }) => agentId));
  for (const { agentId, wallet, toldRaw } of gone) {
    if (toldRaw !== null) log.info({ agentId, wallet }, 'a wallet agrees with its book again');
  }
  return due.flatMap((difference, i) => {
    const heldRaw = held[i];
    if (heldRaw === undefined || heldRaw === difference.walletRaw) return [];
    const differenceRaw = heldRaw - difference.walletRaw;
    // The floor is computed again and only moves down: the block that it was computed from may have been wrong.
    const floorBlock = Math.min(difference.floorBlock, floorOf(difference, at));
    return [{ ...difference, differenceRaw, floorBlock }];
  });
}

/**
 * Groups wallets that are searched in the same blocks into one search. Searches beyond the bound of a tick wait for the next
 * tick.
 */
function searchesOf(
  differences: readonly Difference[],
  at: Block,
  mostBlocks: number,
): readonly Search[] {
  const searches = new Map<string, Search>();
  for (const difference of differences) {
    const range = searchRange(difference, at, mostBlocks);
    const key = `${range.fromBlock}-${range.toBlock}`;
    const search = searches.get(key);
    if (search !== undefined) search.of.push(difference);
    else if (searches.size < PAYMENT_LIMITS.audit.searchesPerTick) {
      searches.set(key, { range, of: [difference] });
    }
  }
  return [...searches.values()];
}

async function searchFor(
  deps: AuditDeps,
  { range, of }: Search,
  at: Block,
): Promise<readonly Applied[]> {
  const applied = await reread(deps, of, range, at);
  const found = new Set(applied.map(({ agentId }) => agentId));
  const { fromBlock } = range;
  const looks = of.map((each) => planLook(each, { fromBlock, isFound: found.has(each.agentId) }));
  for (const [i, { toldRaw, differenceRaw }] of looks.entries()) {
    const before = of[i];
    if (before === undefined || toldRaw === before.toldRaw) continue;
    const { agentId, wallet, walletRaw } = before;
    deps.log.error(
      { agentId, wallet, bookRaw: `${walletRaw}`, differenceRaw: `${differenceRaw}` },
      'a wallet holds something else than its book says, and no log explains it',
    );
    deps.onAlarm?.('wallet_differs');
  }
  await deps.audits.saveLooks(looks);
  await rewindTo(deps, applied);
  return applied;
}
