import { authorizationStates } from '../chain/authorization-states.ts';
import type { Block } from '../chain/rpc-answers.ts';
import { incoming, outgoing, type Transfer, type UsedAuthorization } from '../chain/usdc.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { OpenPayout } from '../payouts/payout.ts';
import { applyVerdict, correct, type VerdictDeps } from './apply-verdict.ts';
import type { ChainCursor } from './chain-cursor-store.ts';
import { inGroups } from './in-groups.ts';
import { type ChainVerdict, deepBlock, explain } from './judge-by-chain.ts';
import { type RecoverDeps, recoverVanished } from './recover-vanished.ts';
import type { Reservation } from './reservation.ts';

export type ReconcileDeps = VerdictDeps &
  RecoverDeps & {
    readonly ledger: Pick<Ledger, 'advance' | 'settle' | 'correct' | 'credit' | 'paid'>;
    readonly findLive: () => Promise<readonly Reservation[]>;
    /** Ended lately without having been paid: their wallets are watched on. */
    readonly findWatched: () => Promise<readonly Reservation[]>;
    readonly findByNonce: (nonce: string) => Promise<Reservation | undefined>;
    readonly findOpenPayouts: () => Promise<readonly OpenPayout[]>;
    /** Also one that the chain has shown, or that there were too many others to read with. */
    readonly findPayout: (
      nonce: string,
    ) => Promise<(OpenPayout & { readonly isDone: boolean }) | undefined>;
    /** Hands over again what a reorganisation has undone; answers how many are not on this branch yet. */
    readonly repayVanished: (at: Block) => Promise<number>;
    /** When the first wallet was made; undefined where there is none. */
    readonly findFirstWalletMs: () => Promise<number | undefined>;
    /** By address, lower case. */
    readonly findWalletOwners: () => Promise<ReadonlyMap<string, number>>;
  };

/** What one reading of the chain came to. */
export type Reconciled = {
  readonly readTo: Block | undefined;
  readonly settled: number;
  readonly released: number;
  readonly deposits: number;
  readonly left: number;
};

const NOTHING: Reconciled = { readTo: undefined, settled: 0, released: 0, deposits: 0, left: 0 };

/**
 * Reads the chain on from the cursor and does what it says: payments that were made are taken, those that can never be
 * made any more are released, transfers into wallets are credited. Everything in it may be done again. Rejects when the
 * chain or the database is away, or when `mostBlocks` hold more than the node tells; then nothing was released that
 * should not have been.
 */
export async function reconcile(
  deps: ReconcileDeps,
  cursor: ChainCursor | undefined,
  mostBlocks: number = LIMITS.blocksPerTick.most,
): Promise<Reconciled> {
  // The head first: whatever is mined up to it was written down before.
  const deep = await deepBlock(deps.view);
  if (deep === undefined) return NOTHING;
  const live = await deps.findLive();
  const { fromBlock, parted } = await firstUnread(deps, cursor, deep);
  const to = await boundedEnd(deps, fromBlock, deep, mostBlocks);
  const isNew = to.number >= fromBlock;
  const outflow = isNew ? await applyOutflow(deps, live, { fromBlock, to }) : NO_OUTFLOW;
  const rest = live.filter((row) => !outflow.decided.has(row.nonce));
  // States are asked of the newest block that is believed, however far the walk is behind: a node may keep no older ones.
  const released = await decideLapsed(deps, rest, deep);
  const deposits = isNew ? await creditDeposits(deps, { fromBlock, to }) : 0;
  const vanished = parted
    ? (await recoverVanished(deps, deep)) + (await deps.repayVanished(deep))
    : 0;
  return {
    // A chain that is shorter than it was has nothing that may be skipped later.
    readTo: isNew && vanished === 0 ? to : undefined,
    settled: outflow.settled + released.settled,
    released: outflow.released + released.released,
    deposits,
    left: rest.length - released.settled - released.released,
  };
}

type Range = { readonly fromBlock: number; readonly to: Block };

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

/** The block after the cursor; further back where the chain has taken another turn since. */
async function firstUnread(
  deps: ReconcileDeps,
  cursor: ChainCursor | undefined,
  deep: Block,
): Promise<{ readonly fromBlock: number; readonly parted: boolean }> {
  const { view, log } = deps;
  if (cursor === undefined) return { fromBlock: await firstEver(deps, deep), parted: false };
  const now = await view.rpc.block(cursor.number);
  // A node that has not come so far says nothing against it.
  if (now === undefined || now.hash === cursor.hash) {
    return { fromBlock: cursor.number + 1, parted: false };
  }
  const from = Math.max(0, cursor.number - LIMITS.reorgBlocks);
  log.error(
    { block: cursor.number, from },
    'the chain was reorganised below what was believed; it is read again',
  );
  deps.onAlarm?.('reorganised');
  return { fromBlock: from, parted: true };
}

/** Never read before: from when the first wallet was made, which may have been paid since. */
async function firstEver({ findFirstWalletMs }: ReconcileDeps, deep: Block): Promise<number> {
  const firstMs = await findFirstWalletMs();
  const seconds = firstMs === undefined ? 0 : deep.timestampSec - Math.floor(firstMs / 1_000);
  // At least a second a block.
  const blocks = Math.max(LIMITS.reorgBlocks, Math.min(seconds, LIMITS.firstReadBlocks));
  return Math.max(0, deep.number - blocks);
}

type Outflow = {
  readonly decided: ReadonlySet<string>;
  readonly settled: number;
  readonly released: number;
};

const NO_OUTFLOW: Outflow = { decided: new Set(), settled: 0, released: 0 };

async function applyOutflow(
  deps: ReconcileDeps,
  live: readonly Reservation[],
  range: Range,
): Promise<Outflow> {
  const [watched, payouts] = await Promise.all([deps.findWatched(), deps.findOpenPayouts()]);
  const wallets = new Set([...live, ...watched, ...payouts].map(({ wallet }) => wallet));
  if (wallets.size === 0) return NO_OUTFLOW;
  const { rpc, usdc } = deps.view;
  const { used, canceled } = await outgoing(rpc, usdc, [...wallets], range);
  const rows = new Map(live.map((row) => [row.nonce, row]));
  const paidOut = new Map(payouts.map((payout) => [payout.nonce, payout]));
  const decided = new Set<string>();
  let released = 0;
  const settle = async (event: UsedAuthorization): Promise<void> => {
    const payout = paidOut.get(event.nonce);
    if (payout !== undefined) return settlePayout(deps, payout, event);
    const row = rows.get(event.nonce);
    if (row === undefined) return settleLate(deps, event);
    if (!isOurs(row, event)) return tellOdd(deps, event);
    await applyVerdict(deps, row, { kind: 'used', txHash: event.txHash });
    decided.add(row.nonce);
  };
  await inGroups(deps, used, settle);
  const settled = decided.size;
  await inGroups(deps, canceled, async ({ authorizer, nonce }) => {
    const row = rows.get(nonce);
    if (row === undefined || row.wallet !== authorizer || decided.has(nonce)) return;
    await applyVerdict(deps, row, { kind: 'void' });
    decided.add(nonce);
    released++;
  });
  return { decided, settled, released };
}

/** What was signed is what moved. */
const isOurs = (
  row: { readonly wallet: string; readonly payee: string; readonly valueRaw: bigint },
  { authorizer, transfer }: UsedAuthorization,
): boolean =>
  row.wallet === authorizer && transfer?.to === row.payee && transfer.valueRaw === row.valueRaw;

async function settlePayout(
  deps: ReconcileDeps,
  payout: OpenPayout,
  event: UsedAuthorization,
): Promise<void> {
  const { nonce, agentId, amountRaw } = payout;
  if (!isOurs({ ...payout, valueRaw: amountRaw }, event)) return tellOdd(deps, event);
  await deps.ledger.paid({ agentId, nonce, amountRaw, txHash: event.txHash });
}

/** Not one that waits: it was settled before, or it moves after its end. */
async function settleLate(deps: ReconcileDeps, event: UsedAuthorization): Promise<void> {
  const row = await deps.findByNonce(event.nonce);
  if (row === undefined) return settleLatePayout(deps, event);
  if (!isOurs(row, event)) return tellOdd(deps, event);
  if (row.state === 'settled' || row.isCorrected) return;
  if (row.decidedMs !== null) return correct(deps, row, event.txHash);
  await applyVerdict(deps, row, { kind: 'used', txHash: event.txHash });
}

async function settleLatePayout(deps: ReconcileDeps, event: UsedAuthorization): Promise<void> {
  const payout = await deps.findPayout(event.nonce);
  if (payout === undefined) return tellOdd(deps, event);
  if (!payout.isDone) await settlePayout(deps, payout, event);
}

function tellOdd({ log, onAlarm }: ReconcileDeps, event: UsedAuthorization): void {
  const { authorizer: wallet, nonce, txHash } = event;
  log.error({ wallet, nonce, txHash }, 'USDC left a wallet by an authorization that nobody knows');
  onAlarm?.('unknown_authorization');
}

async function creditDeposits(deps: ReconcileDeps, range: Range): Promise<number> {
  const owners = await deps.findWalletOwners();
  if (owners.size === 0) return 0;
  const { rpc, usdc } = deps.view;
  const transfers = namedDeposits(await incoming(rpc, usdc, [...owners.keys()], range));
  let credited = 0;
  await inGroups(deps, transfers, async ({ transfer, reference }) => {
    const agentId = owners.get(transfer.to);
    if (agentId === undefined || transfer.valueRaw === 0n || transfer.from === transfer.to) return;
    if (await credit(deps, agentId, transfer.valueRaw, reference)) credited++;
  });
  return credited;
}

type Deposit = { readonly transfer: Transfer; readonly reference: string };

/**
 * A deposit is named by its transaction, its wallet, and how many for the same wallet that transaction has before it.
 * Where it stands in its block is no name: a reorganisation may put the transaction elsewhere.
 */
function namedDeposits(transfers: readonly Transfer[]): Deposit[] {
  const seen = new Map<string, number>();
  return transfers.map((transfer) => {
    const inside = `deposit:${transfer.txHash}:${transfer.to}`;
    const nth = seen.get(inside) ?? 0;
    seen.set(inside, nth + 1);
    return { transfer, reference: `${inside}:${nth}` };
  });
}

/** Once a name, in however many blocks it is seen. */
async function credit(
  { ledger, log, onAlarm }: ReconcileDeps,
  agentId: number,
  amountRaw: bigint,
  reference: string,
): Promise<boolean> {
  const verdict = await ledger.credit({ agentId, amountRaw, reference, deposit: true });
  if (verdict.kind === 'conflict') {
    log.error({ agentId, reference }, 'a deposit was credited before with another amount');
    onAlarm?.('deposit_conflict');
  }
  return verdict.kind === 'credited';
}

/** Payments whose time is over by the block's own clock: the state at the same block says what became of them. */
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
  // Used or cancelled in a block that was not walked or whose logs were not told: each is looked for by itself.
  const spent = lapsed.filter((_, i) => states[i] === true);
  const apply = async (row: Reservation, verdict: ChainVerdict) => {
    if (!(await applyVerdict(deps, row, verdict))) return;
    if (verdict.kind === 'used') count.settled++;
    else count.released++;
  };
  // Whatever goes wrong with one of them, it is found again at the next reading; the walk goes on.
  const tell = (err: unknown) => deps.log.error({ err }, 'a lapsed payment was not decided');
  await inGroups(deps, unused, (row) => apply(row, { kind: 'void' })).catch(tell);
  const look = async (row: Reservation) => apply(row, await explain(deps.view, at, row));
  await inGroups(deps, spent, look, LIMITS.explanationsUnderWay).catch(tell);
  return count;
}
