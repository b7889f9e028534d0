import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import { authorizationStates } from '../../platform/chain/authorization-states.ts';
import type { Flood } from '../../platform/chain/log-range.ts';
import { findWitness } from '../../platform/chain/log-witness.ts';
import type { Block } from '../../platform/chain/rpc-answers.ts';
import { incoming, outgoing } from '../../platform/chain/usdc.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { OpenPayout } from '../payouts/payout.ts';
import { type ApplyDeps, applyOutflow } from '../reservations/apply-events.ts';
import { applyVerdict } from '../reservations/apply-verdict.ts';
import type { Reservation } from '../reservations/reservation.ts';
import type { Applied } from './applied.ts';
import type { ChainCursor } from './chain-cursor-store.ts';
import { takeDeposits } from './deposits.ts';
import { inGroups } from './in-groups.ts';
import { type ChainVerdict, deepBlock, explain } from './judge-by-chain.ts';
import { type RecoverDeps, recoverVanished } from './recover-vanished.ts';

export type ReconcileDeps = ApplyDeps &
  RecoverDeps & {
    readonly clock: Clock;
    readonly findLive: () => Promise<readonly Reservation[]>;
    /** Finds reservations that ended recently without a payment: their wallets are still watched. */
    readonly findWatched: () => Promise<readonly Reservation[]>;
    readonly findOpenPayouts: () => Promise<readonly OpenPayout[]>;
    /**
     * Hands payouts that a reorganisation has undone over again. Returns the number of payouts that are not on this branch yet.
     */
    readonly repayVanished: (at: Block) => Promise<number>;
    /** Reads the creation time of the first wallet. Undefined when there is no wallet. */
    readonly findFirstWalletMs: () => Promise<number | undefined>;
    /** Reads the agent id of each wallet, by the wallet's address in lower case. */
    readonly findWalletOwners: () => Promise<ReadonlyMap<string, number>>;
  };

/** Result of one reading of the chain. */
export type Reconciled = {
  readonly readTo: Block | undefined;
  /** Newest block that is believed, when the books are complete up to this block. Undefined while the books lag. */
  readonly current: Block | undefined;
  readonly settled: number;
  readonly released: number;
  readonly deposits: number;
  readonly left: number;
};

const NOTHING: Reconciled = {
  readTo: undefined,
  current: undefined,
  settled: 0,
  released: 0,
  deposits: 0,
  left: 0,
};

/**
 * Reads the chain on from the cursor and applies it: settles payments that were made, releases payments that can never be made
 * any more, and credits transfers into wallets. May be repeated. Rejects when the chain or the database is away, or when
 * `mostBlocks` blocks hold more logs than the node returns; no payment was released wrongly then.
 */
export async function reconcile(
  deps: ReconcileDeps,
  cursor: ChainCursor | undefined,
  mostBlocks: number = PAYMENT_LIMITS.chain.blocksPerTick.most,
): Promise<Reconciled> {
  // The newest block is read before the database, so that every payment up to this block is already in the database.
  const deep = await deepBlock(deps.view);
  if (deep === undefined) return NOTHING;
  const live = await deps.findLive();
  const { fromBlock, parted } = await firstUnread(deps, cursor, deep);
  const to = await boundedEnd(deps, fromBlock, deep, mostBlocks);
  const isNew = to.number >= fromBlock;
  const applied = isNew ? await readOn(deps, live, { fromBlock, to, parted, deep }) : [];
  const decided = new Set(applied.map(({ nonce }) => nonce));
  const rest = live.filter((row) => !decided.has(row.nonce));
  // States are read at the newest block that is believed, however far the reading is behind: a node may keep no older states.
  const released = await decideLapsed(deps, rest, deep);
  const vanished = parted
    ? (await recoverVanished(deps, deep)) + (await deps.repayVanished(deep))
    : 0;
  const count = (wanted: Applied['kind']) => applied.filter(({ kind }) => kind === wanted).length;
  // The cursor stays when there is no new block, or while payments that a reorganisation removed are missing, so that no block
  // is skipped later.
  const readTo = isNew && vanished === 0 ? to : undefined;
  return {
    readTo,
    current: (readTo ?? cursor)?.hash === deep.hash && vanished === 0 ? deep : undefined,
    settled: count('settled') + released.settled,
    released: count('voided') + released.released,
    deposits: count('deposit'),
    left: rest.length - released.settled - released.released,
  };
}

type Range = {
  readonly fromBlock: number;
  readonly to: Block;
  readonly parted: boolean;
  /** Newest block that is believed. Balances are read at this block, since a node may keep no older balances. */
  readonly deep: Block;
};

async function boundedEnd(
  { view }: ReconcileDeps,
  fromBlock: number,
  deep: Block,
  mostBlocks: number,
): Promise<Block> {
  const last = fromBlock - 1 + mostBlocks;
  if (deep.number <= last) return deep;
  return (await view.rpc.block(last)) ?? deep;
}

/** Returns the block after the cursor, or a block further back when the chain was reorganised since. */
async function firstUnread(
  deps: ReconcileDeps,
  cursor: ChainCursor | undefined,
  deep: Block,
): Promise<{ readonly fromBlock: number; readonly parted: boolean }> {
  const { view, log } = deps;
  if (cursor === undefined) return { fromBlock: await firstEver(deps, deep), parted: false };
  const now = await view.rpc.block(cursor.number);
  const isThere = now === undefined ? !isInvented(deps, cursor, deep) : now.hash === cursor.hash;
  if (isThere) return { fromBlock: cursor.number + 1, parted: false };
  const from = Math.max(0, Math.min(cursor.number, deep.number) - PAYMENT_LIMITS.chain.reorgBlocks);
  log.error(
    { block: cursor.number, from },
    'the chain was reorganised below what was believed; it is read again',
  );
  deps.onAlarm?.('reorganised');
  return { fromBlock: from, parted: true };
}

/**
 * Returns true when the cursor stands on blocks that never existed: the node is far behind the cursor, and yet its newest block
 * is recent. A node that is only slow has no recent block.
 */
const isInvented = ({ clock }: ReconcileDeps, cursor: ChainCursor, deep: Block): boolean =>
  cursor.number - deep.number > PAYMENT_LIMITS.chain.reorgBlocks &&
  Math.abs(nowSeconds(clock) - deep.timestampSec) <= PAYMENT_LIMITS.chain.freshBlockSeconds;

/**
 * Returns the first block to read of a chain that was never read: at or before the creation of the first wallet, which may have
 * been paid since.
 */
async function firstEver({ findFirstWalletMs }: ReconcileDeps, deep: Block): Promise<number> {
  const firstMs = await findFirstWalletMs();
  const seconds = firstMs === undefined ? 0 : deep.timestampSec - Math.floor(firstMs / 1_000);
  // Blocks are at least a second apart, so the age in seconds bounds the number of blocks.
  const blocks = Math.max(
    PAYMENT_LIMITS.chain.reorgBlocks,
    Math.min(seconds, PAYMENT_LIMITS.chain.firstReadBlocks),
  );
  return Math.max(0, deep.number - blocks);
}

/** Reads a whole range of blocks before it applies anything, since one wallet's logs may come in several answers. */
async function readOn(
  deps: ReconcileDeps,
  live: readonly Reservation[],
  { fromBlock, to, parted, deep }: Range,
): Promise<readonly Applied[]> {
  const [watched, payouts, owners, doubted] = await Promise.all([
    deps.findWatched(),
    deps.findOpenPayouts(),
    deps.findWalletOwners(),
    // A payment credited again after a reorganisation may be settled on the next branch.
    parted ? deps.findSettled() : [],
  ]);
  const paying = new Set([...live, ...watched, ...payouts, ...doubted].map(({ wallet }) => wallet));
  if (paying.size === 0 && owners.size === 0) return [];
  const { rpc, usdc } = deps.view;
  const witness = await findWitness(rpc, usdc, { fromBlock, to });
  const range = { fromBlock, to, witness, onFlood: (flood: Flood) => reportFlood(deps, flood) };
  const outflow = await outgoing(rpc, usdc, [...paying], range);
  const transfers = await incoming(rpc, usdc, [...owners.keys()], range);
  const known = {
    rows: new Map(live.map((row) => [row.nonce, row])),
    payouts: new Map(payouts.map((payout) => [payout.nonce, payout])),
  };
  const applied: Applied[] = [];
  await applyOutflow(deps, outflow, known, applied, { isDoubted: parted, logsOdd: true });
  await takeDeposits(deps, transfers, owners, deep, applied);
  return applied;
}

/**
 * Reports logs of a wallet that are left out. One wallet must not keep all others waiting; its balance shows the missing logs.
 */
function reportFlood({ log, onAlarm }: ReconcileDeps, flood: Flood): void {
  log.error(flood, 'a wallet has more logs in one block than can be read; they are left out');
  onAlarm?.('wallet_flooded');
}

/** Decides payments whose time is over by the block's own clock: the state at the same block shows the outcome. */
async function decideLapsed(
  deps: ReconcileDeps,
  rows: readonly Reservation[],
  at: Block,
): Promise<{ readonly settled: number; readonly released: number }> {
  const lapsed = rows.filter((row) => row.validBefore <= at.timestampSec);
  if (lapsed.length === 0) return { settled: 0, released: 0 };
  const { rpc, usdc } = deps.view;
  const states = await authorizationStates(rpc, usdc, at, lapsed);
  const count = { settled: 0, released: 0 };
  const unused = lapsed.filter((_, i) => states[i] === false);
  // The payment was used or canceled in a block that was not read or whose logs were not returned, so each payment is looked up
  // alone.
  const spent = lapsed.filter((_, i) => states[i] === true);
  const apply = async (row: Reservation, verdict: ChainVerdict) => {
    if (!(await applyVerdict(deps, row, verdict))) return;
    if (verdict.kind === 'used') count.settled++;
    else count.released++;
  };
  // A payment that fails is found again at the next reading; the other payments go on.
  const report = (err: unknown) => deps.log.error({ err }, 'a lapsed payment was not decided');
  await inGroups(deps, unused, (row) => apply(row, { kind: 'void' })).catch(report);
  const look = async (row: Reservation) => apply(row, await explain(deps.view, at, row));
  await inGroups(deps, spent, look, PAYMENT_LIMITS.chain.explanationsUnderWay).catch(report);
  return count;
}
