import type { Block } from '../../platform/chain/rpc-answers.ts';
import { PAYMENT_LIMITS } from '../limits.ts';

/** A round over all wallets: their logs in these blocks are read once more, and their balances are compared with the book. */
export type AuditRound = {
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Id of the last agent whose wallet is done; null when all wallets are done. */
  readonly afterAgentId: number | null;
};

/** Progress of the audit. */
export type AuditState = {
  readonly round: AuditRound;
  /** True when the round ended long enough ago for the next round. */
  readonly isDue: boolean;
  /** First block to read again in the next round; null when no block has to be read again. */
  readonly rereadFrom: number | null;
};

/** An agent's wallet, and its balance by the book. */
export type BookedWallet = {
  readonly agentId: number;
  /** Address of the wallet, in lower case. */
  readonly wallet: string;
  readonly walletRaw: bigint;
  readonly createdMs: number;
};

/** A wallet whose balance on the chain differs from the ledger's. */
export type NewDifference = {
  readonly agentId: number;
  /** Balance on chain minus the book; negative when the chain has less. */
  readonly differenceRaw: bigint;
  /** Lowest block in which the wallet can exist. */
  readonly floorBlock: number;
};

/** Difference whose reason is being searched, from the newest block backwards. */
export type Difference = BookedWallet &
  NewDifference & {
    /** Lowest block that the search has reached; null when the search begins at the newest block. */
    readonly searchedFrom: number | null;
    /** `looks`: searches in a row that found nothing. `passes`: times that such a search reached the floor and paused. */
    readonly looks: number;
    readonly passes: number;
    /** Difference that an alarm was raised for; null before the first alarm. */
    readonly toldRaw: bigint | null;
  };

/** Fields of a difference that one look saves. */
export type LookedAt = Pick<
  Difference,
  'agentId' | 'differenceRaw' | 'searchedFrom' | 'looks' | 'passes' | 'toldRaw'
> & {
  /** Milliseconds until the next look. */
  readonly afterMs: number;
};

/** Stores the audit's progress, so that it survives restarts. */
export interface AuditStore {
  /** Reads the audit's progress. Undefined before the first round. */
  findState(): Promise<AuditState | undefined>;
  /**
   * Saves the audit's progress, unless another process has saved other progress since `from`. The next round is due after
   * `restMs`.
   */
  saveRound(from: AuditState | undefined, to: AuditRound, restMs: number): Promise<void>;
  /** Has the next round begin at this block, or at the earlier block of another call. */
  rewind(fromBlock: number): Promise<void>;
  /** Reads a page of wallets, ordered by agent id. */
  findWallets(afterAgentId: number, limit: number): Promise<readonly BookedWallet[]>;
  /** Returns the nonces that the books do not have as carried out, or have given back since. */
  findUntaken(nonces: readonly string[]): Promise<ReadonlySet<string>>;
  /** Saves differences. A known difference of the same amount stays unchanged. */
  openDifferences(differences: readonly NewDifference[]): Promise<void>;
  closeDifferences(agentIds: readonly number[]): Promise<void>;
  /** Reads differences whose next look is due, the longest overdue first. */
  findDifferences(limit: number): Promise<readonly Difference[]>;
  saveLooks(looks: readonly LookedAt[]): Promise<void>;
  /** Counts the differences that raised an alarm and are not explained yet. */
  countTold(): Promise<number>;
}

/**
 * Returns the round to continue, as of the newest block that is believed. Undefined while no round is due. Each round begins
 * before the end of the previous round, so that a block is read again after the node had time to catch up.
 */
export function planRound(
  state: AuditState | undefined,
  at: Pick<Block, 'number'>,
  mostBlocks: number,
): AuditRound | undefined {
  // Half of the range at most: a longer overlap would stop the audit from advancing.
  const overlap = Math.min(PAYMENT_LIMITS.audit.overlapBlocks, Math.floor(mostBlocks / 2));
  const begin = (from: number): AuditRound => {
    const fromBlock = Math.max(0, from);
    const toBlock = Math.min(at.number, fromBlock + mostBlocks - 1);
    return { fromBlock, toBlock, afterAgentId: 0 };
  };
  if (state === undefined) return begin(at.number - overlap);
  const { round, isDue, rereadFrom } = state;
  // The round began on blocks that never existed, or that a reorganisation has removed.
  if (round.toBlock > at.number) return begin(Math.min(round.fromBlock, at.number - overlap));
  if (round.afterAgentId !== null) {
    // A node that refuses long ranges would never answer a longer round.
    return round.toBlock - round.fromBlock < mostBlocks ? round : begin(round.fromBlock);
  }
  const isBehind = at.number - round.toBlock > PAYMENT_LIMITS.audit.lagBlocks;
  if (!isDue && !isBehind && rereadFrom === null) return undefined;
  const next = round.toBlock + 1 - overlap;
  return begin(rereadFrom === null ? next : Math.min(rereadFrom, next));
}

/**
 * Returns the lowest block in which a wallet can exist, from its age: at least a second a block, and a margin for clocks that
 * differ.
 */
export function floorOf({ createdMs }: Pick<BookedWallet, 'createdMs'>, at: Block): number {
  const seconds = at.timestampSec - Math.floor(createdMs / 1_000);
  const margin = PAYMENT_LIMITS.audit.clockMarginBlocks;
  const blocks = Math.min(Math.max(0, seconds) + margin, PAYMENT_LIMITS.chain.firstReadBlocks);
  return Math.max(0, at.number - blocks);
}

/** Returns the next range of blocks to search for the reason of a difference. */
export function searchRange(
  { searchedFrom, floorBlock }: Pick<Difference, 'searchedFrom' | 'floorBlock'>,
  at: Pick<Block, 'number'>,
  mostBlocks: number,
): { readonly fromBlock: number; readonly toBlock: number } {
  const last = searchedFrom === null ? at.number : Math.max(0, searchedFrom - 1);
  // The blocks searched before may lie above the present end of the chain.
  const toBlock = Math.min(last, at.number);
  return { fromBlock: Math.max(0, floorBlock, toBlock - mostBlocks + 1), toBlock };
}

/** Plans the next look at a difference whose blocks from `fromBlock` on were searched. */
export function planLook(
  difference: Difference,
  { fromBlock, isFound }: { readonly fromBlock: number; readonly isFound: boolean },
): LookedAt {
  const { agentId, differenceRaw, floorBlock, passes, toldRaw } = difference;
  const looks = isFound ? 0 : difference.looks + 1;
  const isWhole = fromBlock <= floorBlock;
  const { looksBeforeAlarm, retryFirstMs, retryMaxMs } = PAYMENT_LIMITS.audit;
  return {
    agentId,
    differenceRaw,
    looks,
    searchedFrom: isWhole ? null : fromBlock,
    passes: isWhole && looks >= looksBeforeAlarm ? passes + 1 : passes,
    toldRaw: looks >= looksBeforeAlarm ? differenceRaw : toldRaw,
    // Delay after `looksBeforeAlarm` searches that found nothing: a later search may use a better node. Otherwise the next look
    // is due at once, since a found transfer is in the ledger by then.
    afterMs:
      isWhole && looks >= looksBeforeAlarm ? Math.min(retryMaxMs, retryFirstMs * 2 ** passes) : 0,
  };
}
