import { isLive } from '../../machines/reservation.ts';
import { createLedger } from '../../src/ledger/engine/ledger.ts';
import type { ChainCursor } from '../../src/payments/reconcile/chain-cursor-store.ts';
import type { PaymentAlarm } from '../../src/payments/reconcile/payment-alarm.ts';
import { type ReconcileDeps, reconcile } from '../../src/payments/reconcile/reconcile.ts';
import {
  createWalletAuditor,
  type WalletAuditor,
} from '../../src/payments/reconcile/wallet-auditor.ts';
import type { Reservation } from '../../src/payments/reservations/reservation.ts';
import { FakeChain, rpcOf, USDC } from '../support/fakes/fake-chain.ts';
import { MemoryAudits } from '../support/fakes/memory-audits.ts';
import { MemoryAwaited } from '../support/fakes/memory-awaited.ts';
import { MemoryLedger } from '../support/fakes/memory-ledger.ts';
import { logLines } from '../support/log-lines.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { reservationOf } from '../support/payments.ts';
import type { Chance } from './seeded.ts';

const START_SEC = 1_800_000_000;
const VALID_SECONDS = 90;
const BLOCK_SECONDS = 2;
const CONFIRMATIONS = 2;
/** Between two rounds over all wallets. */
const REST_SECONDS = 160;
const STRANGER = `0x${'dd'.repeat(20)}`;

const walletOf = (agentId: number) => `0x${agentId.toString(16).padStart(40, 'a')}`;

type Open = { readonly row: Reservation; readonly atBlock: number };

/**
 * Agents with wallets on a chain, who are paid and pay, and one reader of that chain, whose node may lie. What is true
 * is kept beside it.
 */
export class LyingWorld {
  readonly chain = new FakeChain(START_SEC, CONFIRMATIONS + 1);
  readonly store = new MemoryLedger();
  readonly alarms: PaymentAlarm[] = [];
  readonly clock = new ManualClock(START_SEC * 1_000);
  readonly ledger = createLedger({ store: this.store, clock: this.clock, log: logLines().log });
  readonly #chance: Chance;
  readonly #agents: readonly number[];
  readonly #deps: ReconcileDeps & { readonly awaited: MemoryAwaited };
  #auditor: WalletAuditor;
  readonly audits: MemoryAudits;
  readonly awaited: MemoryAwaited;
  readonly #reservedMs = new Map<string, number>();
  #waiting: Open[] = [];
  #cursor: ChainCursor | undefined;
  #names = 0;
  /** Others move the token in each block, as on a chain that is used. */
  isCrowded = false;
  /** The node tells of deposits that there never were, and of each until it stops lying. */
  isInventing = false;
  deposits = 0;
  /** The logs that the node invented. */
  readonly invented: string[] = [];
  /** The most that a book said beyond what its wallet held, over all readings. */
  mostBeyondRaw = 0n;
  failedTicks = 0;

  constructor(chance: Chance, agents: number) {
    this.#chance = chance;
    this.#agents = Array.from({ length: agents }, (_, i) => i + 1);
    for (const agentId of this.#agents) this.store.addAgent(agentId);
    const wallets = new Map(this.#agents.map((agentId) => [agentId, walletOf(agentId)]));
    this.audits = new MemoryAudits(this.store, wallets, () => this.clock.now());
    this.awaited = new MemoryAwaited(this.store, walletOf, () => this.clock.now());
    this.awaited.toldRaw = (agentId) => this.audits.differences.get(agentId)?.toldRaw ?? 0n;
    this.#deps = this.#depsOf();
    this.#auditor = this.#newAuditor();
  }

  /** Another process goes on where this one has come to. */
  restart(): void {
    this.#auditor = this.#newAuditor();
  }

  #newAuditor(): WalletAuditor {
    const restMs = REST_SECONDS * 1_000;
    return createWalletAuditor({ ...this.#deps, audits: this.audits, restMs });
  }

  /** The wallet that holds the most by the book. */
  richest(): readonly [wallet: string, walletRaw: bigint] {
    const held = this.#agents.map(
      (agentId) => [walletOf(agentId), this.store.require(agentId).state.walletRaw] as const,
    );
    return held.reduce((most, each) => (each[1] > most[1] ? each : most));
  }

  /** What happens in one block. */
  async block({ busy = true } = {}): Promise<void> {
    this.chain.mine(1, BLOCK_SECONDS);
    this.clock.advance(BLOCK_SECONDS * 1_000);
    this.#mineDue();
    if (this.isCrowded) this.chain.transfer({ from: STRANGER, to: STRANGER, valueRaw: 1n });
    if (!busy) return;
    if (this.isInventing && this.#chance.oneIn(5)) this.#invent();
    if (this.#chance.oneIn(3)) this.#deposit();
    if (this.#chance.oneIn(2)) await this.#pay();
  }

  /** One reading of the chain, as a process does it every few seconds. */
  async tick(): Promise<void> {
    try {
      const done = await reconcile(this.#deps, this.#cursor);
      this.#cursor = done.readTo ?? this.#cursor;
      if (done.current !== undefined) await this.#auditor.run(done.current);
    } catch {
      this.failedTicks++;
    }
    for (const agentId of this.#agents) {
      const heldRaw = this.chain.balanceOf(walletOf(agentId));
      const openRaw = this.#openRaw(agentId);
      const beyondRaw = this.store.require(agentId).state.walletRaw - heldRaw - openRaw;
      if (beyondRaw > this.mostBeyondRaw) this.mostBeyondRaw = beyondRaw;
    }
  }

  /** The node tells no invented log any more. */
  recant(): void {
    this.isInventing = false;
    for (const txHash of this.invented) this.chain.hidden.add(txHash);
  }

  /** What the chain may have taken from a wallet and the book not yet. */
  #openRaw(agentId: number): bigint {
    return [...this.store.reservations.values()]
      .filter((row) => row.agentId === agentId && isLive(row.state))
      .reduce((sum, { valueRaw }) => sum + valueRaw, 0n);
  }

  #invent(): void {
    const to = walletOf(this.#chance.pick(this.#agents));
    const valueRaw = BigInt(1 + this.#chance.below(9)) * 1_000n;
    this.invented.push(this.chain.invent({ from: STRANGER, to, valueRaw }));
  }

  /** What the books have wrong, against the chain. */
  wrong() {
    const rows = [...this.store.reservations].map(([nonce, row]) => ({ nonce, ...row }));
    const used = (nonce: string, wallet: string) => this.chain.isUsed({ wallet, nonce });
    const paid = ({ state, corrected }: (typeof rows)[number]) => state === 'settled' || corrected;
    const walletDiffers = this.#agents.filter((agentId) => {
      const bookRaw = this.store.require(agentId).state.walletRaw;
      return bookRaw !== this.chain.balanceOf(walletOf(agentId));
    });
    const credited = [...this.store.postings.keys()].filter((id) =>
      id.startsWith('credit:deposit:'),
    );
    return {
      depositsMissing: this.deposits - credited.length,
      falseReleases: rows.filter(
        (row) => !isLive(row.state) && !paid(row) && used(row.nonce, row.wallet),
      ).length,
      falseCharges: rows.filter((row) => paid(row) && !used(row.nonce, row.wallet)).length,
      undecided: rows.filter(({ state }) => isLive(state)).length,
      walletsThatDiffer: walletDiffers.length,
      broken: this.store.violations(),
    };
  }

  get payments(): number {
    return this.store.reservations.size;
  }

  countOf(alarm: PaymentAlarm): number {
    return this.alarms.filter((each) => each === alarm).length;
  }

  #deposit(): void {
    const agentId = this.#chance.pick(this.#agents);
    const valueRaw = BigInt(1 + this.#chance.below(9)) * 1_000n;
    this.chain.transfer({ from: STRANGER, to: walletOf(agentId), valueRaw });
    this.deposits++;
  }

  /** Half of the payments are taken, some blocks later and in their time. */
  async #pay(): Promise<void> {
    const agentId = this.#chance.pick(this.#agents);
    const holdId = `p${++this.#names}`;
    const valueRaw = BigInt(1 + this.#chance.below(20)) * 100n;
    const validBefore = this.chain.head.timestampSec + VALID_SECONDS;
    const reservation = reservationOf(holdId, { wallet: walletOf(agentId), validBefore });
    const { targetHost: host, payee, nonce } = reservation;
    const verdict = await this.ledger.hold({
      spender: { agentId, keyId: 1 },
      holdId,
      amountRaw: valueRaw,
      destination: { host, payee },
      reservation,
    });
    if (verdict.kind === 'refused') return;
    this.#reservedMs.set(nonce, this.chain.head.timestampSec * 1_000);
    const row = this.#find(nonce);
    if (row === undefined || this.#chance.oneIn(2)) return;
    const atBlock = this.chain.head.number + 1 + this.#chance.below(40);
    this.#waiting.push({ row, atBlock });
  }

  #mineDue(): void {
    const { number } = this.chain.head;
    const due = this.#waiting.filter(({ atBlock }) => atBlock <= number);
    this.#waiting = this.#waiting.filter(({ atBlock }) => atBlock > number);
    for (const { row } of due) {
      // A wallet whose money was released and promised again may not cover both.
      if (this.chain.balanceOf(row.wallet) < row.valueRaw) continue;
      this.chain.use(row, { to: row.payee, valueRaw: row.valueRaw });
    }
  }

  #find(nonce: string): Reservation | undefined {
    const row = this.store.reservations.get(nonce);
    if (row === undefined) return undefined;
    const sentMs = row.sent ? 0 : null;
    const decidedMs = row.decided ? 0 : null;
    const reservedMs = this.#reservedMs.get(nonce) ?? 0;
    const { corrected: isCorrected, keyId: keyRootId } = row;
    return { ...row, nonce, keyRootId, isCorrected, reservedMs, sentMs, decidedMs };
  }

  /** Most reservations are over: only those in a wanted state are read whole. */
  #rows(isWanted: (state: Reservation['state']) => boolean): Reservation[] {
    const rows: Reservation[] = [];
    for (const [nonce, { state }] of this.store.reservations) {
      const row = isWanted(state) ? this.#find(nonce) : undefined;
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  #depsOf(): ReconcileDeps & { readonly awaited: MemoryAwaited } {
    const find = async (nonce: string) => this.#find(nonce);
    return {
      view: { rpc: rpcOf(this.chain), usdc: USDC, confirmations: CONFIRMATIONS },
      ledger: this.ledger,
      findLive: async () => this.#rows(isLive),
      findWatched: async () => this.#rows((state) => !isLive(state) && state !== 'settled'),
      findSettled: async () => this.#rows((state) => state === 'settled'),
      findByNonce: find,
      reload: find,
      findOpenPayouts: async () => [],
      findPayout: async () => undefined,
      repayVanished: async () => 0,
      findCredited: this.store.findCredited,
      awaited: this.awaited,
      keepClaim: async () => {},
      clock: this.clock,
      wasGivenBack: async (nonce) => this.store.postings.has(`credit:vanished:${nonce}`),
      findFirstWalletMs: async () => undefined,
      findWalletOwners: async () => new Map(this.#agents.map((id) => [walletOf(id), id])),
      eventsOf: async () => [],
      log: logLines().log,
      onAlarm: (alarm) => void this.alarms.push(alarm),
    };
  }
}
