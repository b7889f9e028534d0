import { isLive, type ReservationEvent } from '../../machines/reservation.ts';
import { silentLog } from '../../src/kernel/log.ts';
import type { ReservationMove } from '../../src/ledger/rules/payment.ts';
import { advanceReservation } from '../../src/payments/reservations/advance-reservation.ts';
import { applyVerdict, type VerdictDeps } from '../../src/payments/reservations/apply-verdict.ts';
import { correctReleased } from '../../src/payments/reservations/correct-released.ts';
import type { Reservation } from '../../src/payments/reservations/reservation.ts';
import type { PaymentRow } from '../support/fakes/memory-payments.ts';
import { nonceOf, payoutOf, reservationOf } from '../support/payments.ts';
import type { SimNode, SimWorld } from './ledger-world.ts';
import { HOSTS, TASKS } from './policy-book.ts';
import type { Chance } from './seeded.ts';
import type { SignedTransfer, SimBlock } from './sim-chain.ts';

const VALID_SECONDS = 90;
const MOST_BLOCKS = 40;

/** A row as the database has it, in the words of those who move it on. */
const rowOf = (nonce: string, row: PaymentRow): Reservation => ({
  ...row,
  nonce,
  keyRootId: row.keyId,
  isCorrected: row.corrected,
  reservedMs: 0,
  sentMs: row.sent ? 0 : null,
  decidedMs: row.decided ? 0 : null,
});

/** Who pays vendors, asks the chain what became of it, and empties wallets: in every process, at random. */
export class Payers {
  readonly #world: SimWorld;
  readonly #chance: Chance;
  readonly #agents: readonly number[];
  /** Up to which block everything was done: a row that all processes share. */
  #cursor = -1;
  /** Payments of this agent turn up on chain after they were released, by a reorganisation deeper than believed. */
  readonly lateAgentId: number;
  #names = 0;
  /** Steps that a process was told of and that are not in the row. */
  readonly broken: string[] = [];
  reads = 0;

  constructor(world: SimWorld, chance: Chance, agents: readonly number[]) {
    this.#world = world;
    this.#chance = chance;
    this.#agents = agents;
    this.lateAgentId = Math.max(...agents);
  }

  act(node: SimNode): void {
    const choice = this.#chance.below(100);
    const agentId = this.#chance.pick(this.#agents);
    if (choice < 50) this.begin(this.#pay(node, agentId, BigInt(this.#chance.below(60))));
    else if (choice < 62) this.begin(this.#meter(node, agentId, BigInt(this.#chance.below(90))));
    else if (choice < 74) this.#world.chain.deposit(agentId, BigInt(1 + this.#chance.below(600)));
    else if (choice < 92) this.begin(this.reconcile(node));
    else if (choice < 93) this.begin(this.#close(node, agentId));
    else if (choice < 95) this.begin(this.#sweep(node, agentId));
    else if (choice < 97) this.submitPayouts();
    else this.#surprise();
  }

  /** A failed step has logged its error; the reconciler finds what it left undone. */
  begin(work: Promise<unknown>): void {
    work.catch(() => {});
  }

  /** Nothing is signed away any more, and all that the chain has shown is in the books. */
  isDone(): boolean {
    const { chain, payments } = this.#world;
    const isIdle = payments.openPayouts.size === 0 && payments.live.size === 0;
    return isIdle && chain.deep()?.number === this.#cursor && chain.isQuiet();
  }

  /** At the end: what the books say of payments and wallets, against the chain. */
  violations(): string[] {
    const { chain, payments, store } = this.#world;
    const found = [...this.broken];
    for (const { nonce, agentId } of chain.bounced) {
      if (agentId !== this.lateAgentId) found.push(`the wallet of ${nonce} could not pay it`);
    }
    for (const [nonce, { holdId, agentId, state, valueRaw, isCorrected }] of payments.payments) {
      const isPaid = state === 'settled' || isCorrected;
      if (isLive(state)) found.push(`${holdId} is ${state} for ever`);
      // A payment of nothing moves nothing, late or not.
      if (chain.isUsed(nonce) !== isPaid && valueRaw > 0n)
        found.push(`${holdId} of ${agentId} is ${state}, paid: ${!isPaid}`);
    }
    for (const [agentId, { state }] of store.balances) {
      if (state.walletRaw !== chain.balanceOf(agentId)) {
        found.push(
          `agent ${agentId} has ${chain.balanceOf(agentId)}, by the books ${state.walletRaw}`,
        );
      }
      if (state.promisedRaw !== 0n) found.push(`agent ${agentId} promises ${state.promisedRaw}`);
    }
    return found;
  }

  #depsOf(node: SimNode): VerdictDeps {
    return {
      ledger: node.ledger,
      reload: (nonce) => this.#world.read(node, () => this.#rowOf(nonce)),
      eventsOf: async () => [],
      log: silentLog,
    };
  }

  #rowOf(nonce: string): Reservation | undefined {
    const row = this.#world.store.reservations.get(nonce);
    return row && rowOf(nonce, row);
  }

  /** One paid call: as much of it as its process lives to see. */
  async #pay(node: SimNode, agentId: number, amountRaw: bigint): Promise<void> {
    const { clock, chain, payments } = this.#world;
    const holdId = `p${++this.#names}`;
    const nonce = nonceOf(holdId);
    const validBefore = Math.floor(clock.now() / 1_000) + VALID_SECONDS;
    const spender = { agentId, keyId: 1, taskId: this.#chance.pick(TASKS) };
    const host = this.#chance.pick(HOSTS);
    const reservation = reservationOf(holdId, { validBefore, targetHost: host });
    const destination = { host, payee: reservation.payee };
    const verdict = await node.ledger.hold({
      spender,
      holdId,
      amountRaw,
      destination,
      reservation,
    });
    if (verdict.kind === 'refused' || !node.alive) return;
    const known = this.#rowOf(nonce);
    if (known === undefined) {
      this.broken.push(`${holdId} is held and written nowhere`);
      return;
    }
    const reserved: Reservation = { ...known, state: 'reserved' };
    const noted = this.#step(node, reserved, { type: 'request.sent' });
    if (this.#chance.oneIn(2)) await noted;
    else noted.catch(() => {});
    await this.#world.pause(node);
    const sent: Reservation = { ...reserved, state: 'sent' };
    if (this.#chance.oneIn(8)) {
      await this.#step(node, sent, { type: 'request.unsent' });
      return;
    }
    payments.handed.add(nonce);
    this.#hand({ nonce, agentId, valueRaw: amountRaw, validBefore });
    await this.#world.pause(node);
    await this.#answer(node, sent);
    if (clock.now() >= validBefore * 1_000) await this.#judge(node, nonce, chain.deep());
  }

  /** Mostly soon, now and then when it is too late, and often never. */
  #hand(transfer: SignedTransfer): void {
    if (this.#chance.oneIn(3)) return;
    const delayMs = this.#chance.oneIn(3) ? this.#chance.below(120_000) : 0;
    this.#world.chain.hand(transfer, this.#world.clock.now() + delayMs);
  }

  async #answer(node: SimNode, row: Reservation): Promise<void> {
    const choice = this.#chance.below(5);
    const txHash = '0xclaimed';
    if (choice < 2) {
      const learnt = { responseStatusCode: 200, latencyMs: 5, txHash };
      await this.#step(node, row, { type: 'response.arrived' }, learnt);
    } else if (choice < 3) {
      const learnt = { responseStatusCode: 402, refused: true } as const;
      await this.#step(node, row, { type: 'response.arrived' }, learnt);
    } else if (choice < 4) await this.#step(node, row, { type: 'request.broken' });
    // Else the vendor never answers, and no step waits for it.
  }

  async #step(
    node: SimNode,
    row: Reservation,
    event: ReservationEvent,
    learnt?: ReservationMove['learnt'],
  ): Promise<void> {
    const more = learnt === undefined ? {} : { learnt };
    const told = await advanceReservation(this.#depsOf(node), row, event, more);
    const is = this.#world.store.reservations.get(row.nonce)?.state;
    // A reservation that one process has ended is ended for all.
    const isTrue = is === told || (isLive(told) && is !== 'reserved');
    if (node.alive && !isTrue)
      this.broken.push(`${row.holdId} was told to be ${told}, and is ${is}`);
  }

  async #judge(node: SimNode, nonce: string, deep: SimBlock | undefined): Promise<void> {
    const row = await this.#world.read(node, () => this.#rowOf(nonce));
    if (row !== undefined && deep !== undefined) await this.#decide(node, row, deep);
  }

  /** Used, or past its time and unused, at one block; else undecided. */
  async #decide(node: SimNode, row: Reservation, at: SimBlock): Promise<void> {
    const { chain } = this.#world;
    const deps = this.#depsOf(node);
    if (chain.isUsedAt(row.nonce, at)) {
      await applyVerdict(deps, row, { kind: 'used', txHash: `0x${row.nonce}` });
    } else if (row.validBefore <= at.timeSec) await applyVerdict(deps, row, { kind: 'void' });
  }

  /** What a process does every few seconds; two may do it at once, and each may die over it. */
  async reconcile(node: SimNode): Promise<void> {
    const { chain } = this.#world;
    const from = this.#cursor;
    // The head first: whatever is mined up to it was written down before.
    const to = chain.deep(from + MOST_BLOCKS);
    if (to === undefined) return;
    const blocks = chain.between(from, to);
    await this.#world.pause(node);
    const rows = await this.#world.read(node, () => this.#rowsFor(blocks));
    const work: Promise<unknown>[] = [];
    const seen = new Set<string>();
    for (const { used, deposits } of blocks) {
      for (const transfer of used) {
        seen.add(transfer.nonce);
        work.push(this.#seen(node, transfer, rows.get(transfer.nonce)));
      }
      for (const { id, agentId, amountRaw } of deposits) {
        const reference = `deposit:${id}`;
        work.push(node.ledger.credit({ agentId, amountRaw, reference, deposit: true }));
      }
    }
    for (const row of rows.values()) {
      if (isLive(row.state) && !seen.has(row.nonce)) work.push(this.#decide(node, row, to));
    }
    const outcomes = await Promise.allSettled(work);
    if (outcomes.some(({ status }) => status === 'rejected')) return;
    await this.#world.read(node, () => {
      this.#cursor = Math.max(this.#cursor, to.number);
    });
    this.reads++;
  }

  #live(): ReadonlyMap<string, Reservation> {
    const rows = new Map<string, Reservation>();
    for (const nonce of this.#world.payments.live) {
      const row = this.#rowOf(nonce);
      if (row !== undefined) rows.set(nonce, row);
    }
    return rows;
  }

  /** What is undecided, and whatever was used in these blocks. */
  #rowsFor(blocks: readonly SimBlock[]): ReadonlyMap<string, Reservation> {
    const rows = new Map(this.#live());
    for (const { used } of blocks) {
      for (const { nonce } of used) {
        const row = this.#rowOf(nonce);
        if (row !== undefined) rows.set(nonce, row);
      }
    }
    return rows;
  }

  async #seen(node: SimNode, transfer: SignedTransfer, row?: Reservation): Promise<void> {
    const { nonce, agentId, valueRaw: amountRaw } = transfer;
    const txHash = `0x${nonce}`;
    if (this.#world.store.payouts.has(nonce)) {
      await node.ledger.paid({ agentId, nonce, amountRaw, txHash });
      return;
    }
    const deps = this.#depsOf(node);
    if (row === undefined) this.broken.push(`${nonce} was paid and is written nowhere`);
    else if (isLive(row.state)) await applyVerdict(deps, row, { kind: 'used', txHash });
    else if (row.state !== 'settled' && !row.isCorrected) await correctReleased(deps, row, txHash);
  }

  /** Work that is paid for by the operator: what it cost stays in the wallet until it is swept. */
  async #meter(node: SimNode, agentId: number, amountRaw: bigint): Promise<void> {
    const spender = { agentId, keyId: 1, taskId: this.#chance.pick(TASKS) };
    const destination = { host: this.#chance.pick(HOSTS), payee: null };
    const holdId = `m${++this.#names}`;
    const verdict = await node.ledger.hold({ spender, holdId, amountRaw, destination });
    if (verdict.kind === 'refused' || !node.alive) return;
    const actualRaw = BigInt(this.#chance.below(60));
    const { hold } = verdict;
    await node.ledger.settle({ hold, actualRaw, account: 'gateway', source: 'acme' });
  }

  async #close(node: SimNode, agentId: number): Promise<void> {
    const reference = `close${++this.#names}`;
    const payout = payoutOf(`${agentId} ${reference}`);
    const withdraw = () => node.ledger.withdrawAll({ agentId, reference, payout });
    await Promise.all(this.#chance.oneIn(3) ? [withdraw(), withdraw()] : [withdraw()]);
  }

  async #sweep(node: SimNode, agentId: number): Promise<void> {
    const payout = payoutOf(`sweep ${agentId} ${++this.#names}`, 'sweep');
    await node.ledger.sweep({ agentId, payout, leastRaw: BigInt(this.#chance.below(30)) });
  }

  /** However often it is carried to the chain, it is mined once. */
  submitPayouts(): void {
    for (const [nonce, { agentId, amountRaw: valueRaw }] of this.#world.payments.openPayouts) {
      this.#world.chain.hand({ nonce, agentId, valueRaw, validBefore: null }, 0);
    }
  }

  /** The chain reorganises, further back than the server believes possible. */
  #surprise(): void {
    const { payments, chain } = this.#world;
    const released = [...payments.payments].filter(
      ([nonce, { agentId, state }]) =>
        agentId === this.lateAgentId &&
        payments.handed.has(nonce) &&
        !isLive(state) &&
        state !== 'settled' &&
        !chain.isUsed(nonce),
    );
    if (released.length === 0) return;
    const [nonce, { agentId, valueRaw, validBefore }] = this.#chance.pick(released);
    if (valueRaw > 0n) chain.overrule({ nonce, agentId, valueRaw, validBefore });
  }
}
