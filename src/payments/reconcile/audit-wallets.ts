import type { Flood } from '../../platform/chain/log-range.ts';
import { RpcUnavailable } from '../../platform/chain/rpc.ts';
import type { Block } from '../../platform/chain/rpc-answers.ts';
import {
  type AuthorizationLog,
  carriedOut,
  incoming,
  outgoing,
} from '../../platform/chain/usdc.ts';
import { usdcHeld } from '../../platform/chain/usdc-held.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import { type ApplyDeps, applyOutflow, NOTHING_KNOWN } from '../reservations/apply-events.ts';
import type { Applied } from './applied.ts';
import type { AwaitedStore } from './awaited.ts';
import { takeDeposits } from './deposits.ts';
import type { ChainView } from './judge-by-chain.ts';
import type { RecoverDeps } from './recover-vanished.ts';
import {
  type AuditStore,
  type BookedWallet,
  floorOf,
  type NewDifference,
  planRound,
} from './wallet-audit.ts';

export type AuditDeps = ApplyDeps &
  RecoverDeps & {
    readonly view: ChainView;
    readonly audits: AuditStore;
    readonly awaited: AwaitedStore;
    /** Milliseconds between the end of a round and the next round. */
    readonly restMs: number;
  };

/** First and last block of a range that is read for a group of wallets. */
export type AuditRange = { readonly fromBlock: number; readonly toBlock: number };

/**
 * Does one step of the audit, as of a block up to which the books are complete: reads the logs of a page of wallets again, and
 * compares each wallet's balance at this block with its book. Events that the first reading missed are credited or debited,
 * under the references that the first reading would have used. Returns the missed events.
 */
export async function auditPage(
  deps: AuditDeps,
  at: Block,
  mostBlocks: number,
): Promise<readonly Applied[]> {
  const { audits } = deps;
  const state = await audits.findState();
  const round = planRound(state, at, mostBlocks);
  if (round === undefined) return [];
  const after = round.afterAgentId ?? 0;
  const { walletsPerPass } = PAYMENT_LIMITS.audit;
  const wallets = await audits.findWallets(after, walletsPerPass);
  const applied = wallets.length === 0 ? [] : await reread(deps, wallets, round, at);
  if (wallets.length > 0) await compare(deps, after, at);
  const isLast = wallets.length < walletsPerPass;
  const next = isLast ? null : (wallets.at(-1)?.agentId ?? null);
  await audits.saveRound(state, { ...round, afterAgentId: next }, deps.restMs);
  await rewindTo(deps, applied);
  return applied;
}

/** Reads the logs of some wallets again. Movements that the first reading has missed are logged, even when this rejects. */
export async function reread(
  deps: AuditDeps,
  wallets: readonly BookedWallet[],
  range: AuditRange,
  at: Block,
): Promise<readonly Applied[]> {
  const applied: Applied[] = [];
  try {
    await readAgain(deps, wallets, range, at, applied);
  } finally {
    // The books have these now, so that no later look reports them.
    reportMissed(deps, applied);
  }
  return applied;
}

/**
 * Reads the movements of some wallets again, and applies movements that the books lack. Nearly all movements are known: one
 * short log names each payment, and only unknown payments are read whole. Returns the agents whose deposits wait.
 */
export async function readAgain(
  deps: AuditDeps,
  wallets: readonly Pick<BookedWallet, 'agentId' | 'wallet'>[],
  range: AuditRange,
  at: Block,
  applied: Applied[],
): Promise<ReadonlySet<number>> {
  const { rpc, usdc } = deps.view;
  const owners = ownersOf(wallets);
  const bounds = await boundsOf(deps, range, at);
  const paid = await carriedOut(rpc, usdc, [...owners.keys()], bounds);
  const transfers = await incoming(rpc, usdc, [...owners.keys()], bounds);
  const untaken = await deps.audits.findUntaken(paid.map(({ nonce }) => nonce));
  const isUntaken = ({ nonce }: AuthorizationLog) => untaken.has(nonce);
  const payers = new Set(paid.filter(isUntaken).map(({ authorizer }) => authorizer));
  const { used } =
    payers.size === 0 ? { used: [] } : await outgoing(rpc, usdc, [...payers], bounds);
  const outflow = { used: used.filter(isUntaken), canceled: [] };
  await applyOutflow(deps, outflow, NOTHING_KNOWN, applied, { isDoubted: true });
  return takeDeposits(deps, transfers, owners, at, applied);
}

const ownersOf = (
  wallets: readonly Pick<BookedWallet, 'agentId' | 'wallet'>[],
): ReadonlyMap<string, number> => new Map(wallets.map(({ wallet, agentId }) => [wallet, agentId]));

async function boundsOf({ view, log }: AuditDeps, { fromBlock, toBlock }: AuditRange, at: Block) {
  const { rpc } = view;
  const to = toBlock === at.number ? at : await rpc.block(toBlock);
  if (to === undefined) {
    throw new RpcUnavailable('the node lacks a block that was believed before');
  }
  // No alarm here: the first reading of these blocks raised the alarm.
  const onFlood = (flood: Flood) => log.warn(flood, 'logs of a wallet are too many to be read');
  return { fromBlock, to, maxBytes: PAYMENT_LIMITS.audit.answerBytes, onFlood };
}

/** Compares the USDC of wallets on chain with the book, which is read after all events up to `at` were written. */
async function compare({ view, audits }: AuditDeps, after: number, at: Block): Promise<void> {
  const wallets = await audits.findWallets(after, PAYMENT_LIMITS.audit.walletsPerPass);
  const addresses = wallets.map(({ wallet }) => wallet);
  const held = await usdcHeld(view.rpc, view.usdc, at, addresses);
  const agreeing: number[] = [];
  const differing: NewDifference[] = [];
  for (const [i, wallet] of wallets.entries()) {
    const heldRaw = held[i];
    if (heldRaw === undefined) continue;
    const differenceRaw = heldRaw - wallet.walletRaw;
    const { agentId } = wallet;
    if (differenceRaw === 0n) agreeing.push(agentId);
    else differing.push({ agentId, differenceRaw, floorBlock: floorOf(wallet, at) });
  }
  await audits.closeDifferences(agreeing);
  await audits.openDifferences(differing);
}

function reportMissed({ log, onAlarm }: AuditDeps, applied: readonly Applied[]): void {
  if (applied.length === 0) return;
  const agentIds = [...new Set(applied.map(({ agentId }) => agentId))].slice(0, LOGGED_AGENTS);
  const deposits = applied.filter(({ kind }) => kind === 'deposit');
  log.error(
    { missed: applied.length, deposits: deposits.length, agentIds, ...spanOf(applied) },
    'the first reading of the chain has missed transfers, which are in the books now',
  );
  // No alarm for a payment that moved after its release: that payment has raised its own alarm.
  for (const _ of deposits) onAlarm?.('deposit_missed');
}

/** Has the next round begin before the first missed event: a node that hides one transfer may hide others near it. */
export async function rewindTo({ audits }: AuditDeps, missed: readonly Applied[]): Promise<void> {
  if (missed.length === 0) return;
  await audits.rewind(Math.max(0, spanOf(missed).first - PAYMENT_LIMITS.audit.overlapBlocks));
}

function spanOf(applied: readonly Applied[]) {
  const blocks = applied.map(({ blockNumber }) => blockNumber);
  return { first: Math.min(...blocks), last: Math.max(...blocks) };
}

/** Most agents that one log line names. */
const LOGGED_AGENTS = 20;
