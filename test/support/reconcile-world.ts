import type { Ledger } from '../../src/ledger/rules/ledger.ts';
import type { OpenPayout } from '../../src/payments/payouts/payout.ts';
import type { ChainCursor } from '../../src/payments/reconcile/chain-cursor-store.ts';
import {
  type ReconcileDeps,
  type Reconciled,
  reconcile,
} from '../../src/payments/reconcile/reconcile.ts';
import type { Reservation } from '../../src/payments/reservations/reservation.ts';
import { RpcUnavailable } from '../../src/platform/chain/rpc.ts';
import { FakeChain, rpcOf, USDC } from './fakes/fake-chain.ts';
import { MemoryAwaited } from './fakes/memory-awaited.ts';
import { logLines } from './log-lines.ts';
import { PaymentBook } from './payment-book.ts';

/** The time of the first block, which every payment of these tests is younger than. */
export const START_SEC = 1_800_000_000;

/** The transfer that a payment was signed for. */
export const movedBy = ({ payee, valueRaw }: Reservation) => ({ to: payee, valueRaw });

/** A book of payments beside a chain, and the reconciler that compares them. */
export function reconcileWorld(confirmations = 0, blocks = 1) {
  const book = new PaymentBook();
  const chain = new FakeChain(START_SEC, blocks);
  const { log, lines } = logLines();
  const owners = new Map<string, number>();
  const payouts: (OpenPayout & { isDone: boolean })[] = [];
  const paid: Parameters<Ledger['paid']>[0][] = [];
  const credits: Parameters<Ledger['credit']>[0][] = [];
  /** What was asked of the chain and of the book, in order. */
  const order = chain.asked;
  const walletOf = (agentId: number) =>
    [...owners].find(([, owner]) => owner === agentId)?.[0] ?? '';
  const awaited = new MemoryAwaited(book.store, walletOf, () => book.clock.now());
  const deps: ReconcileDeps & { awaited: MemoryAwaited } = {
    awaited,
    view: { rpc: rpcOf(chain), usdc: USDC, confirmations },
    ledger: {
      ...book.ledger,
      paid: async (request) => void paid.push(request),
      credit: async (request) => {
        credits.push(request);
        return book.ledger.credit(request);
      },
    },
    findLive: async () => {
      order.push('live');
      return book.live();
    },
    findWatched: async () =>
      book.rows(({ decidedMs, state }) => decidedMs !== null && state !== 'settled'),
    findFirstWalletMs: async () => undefined,
    findSettled: async () => book.rows(({ state }) => state === 'settled'),
    findByNonce: book.reload,
    reload: book.reload,
    findOpenPayouts: async () => payouts.filter(({ isDone }) => !isDone),
    findPayout: async (nonce) => payouts.find((payout) => payout.nonce === nonce),
    repayVanished: async () => 0,
    findCredited: book.store.findCredited,
    keepClaim: async () => {},
    clock: book.clock,
    wasGivenBack: async (nonce) => book.store.postings.has(`credit:vanished:${nonce}`),
    findWalletOwners: async () => owners,
    eventsOf: async () => [],
    log,
  };
  let cursor: ChainCursor | undefined;

  /** One reading; the cursor moves on only where it says so. */
  async function read(change: Partial<ReconcileDeps> = {}): Promise<Reconciled> {
    const done = await reconcile({ ...deps, ...change }, cursor);
    cursor = done.readTo ?? cursor;
    return done;
  }

  return {
    awaited,
    book,
    chain,
    deps,
    lines,
    owners,
    payouts,
    paid,
    credits,
    order,
    read,
    get cursor() {
      return cursor;
    },
    set cursor(at: ChainCursor | undefined) {
      cursor = at;
    },
    /** A payment that lapses 90 s after the first block, if it is not said otherwise. */
    pay: (name: string, wanted: Parameters<PaymentBook['open']>[1] = {}) =>
      book.open(name, { validBefore: START_SEC + 90, ...wanted }),
    /** The chain is asked this in vain, until it is called off. */
    failOn(question: RegExp): () => void {
      chain.onAsk = (asked) =>
        question.test(asked) ? Promise.reject(new RpcUnavailable('away')) : undefined;
      return () => {
        chain.onAsk = () => undefined;
      };
    },
    errors: () => lines.filter(({ level }) => level >= 50).map(({ msg }) => msg),
  };
}
