import type { Chance } from './seeded.ts';

/** A signed transfer that its holder may submit; a payout is signed again until it is mined. */
export type SignedTransfer = {
  readonly nonce: string;
  readonly agentId: number;
  readonly valueRaw: bigint;
  /** Unix seconds; null for one that never lapses. */
  readonly validBefore: number | null;
};

type Deposit = { readonly id: string; readonly agentId: number; readonly amountRaw: bigint };

export type SimBlock = {
  readonly number: number;
  readonly timeSec: number;
  readonly used: readonly SignedTransfer[];
  readonly deposits: readonly Deposit[];
};

/** How many blocks stand on one before it is believed. */
const CONFIRMATIONS = 2;

type Waiting = { readonly transfer: SignedTransfer; readonly fromMs: number };

/**
 * A chain with a clock of its own, behind the true one now and then, whose newest blocks are sometimes replaced. A
 * transfer is mined once and before its time is over; the holder of the signature decides when.
 */
export class SimChain {
  readonly #chance: Chance;
  readonly #blocks: SimBlock[] = [];
  readonly #balances = new Map<number, bigint>();
  readonly #used = new Map<string, number>();
  /** What holders of signatures will try to have mined, each not before its instant. */
  #waiting: Waiting[] = [];
  #deposits: Deposit[] = [];
  readonly #overruled = new Set<string>();
  #names = 0;
  #believed = -1;
  #isSlow = false;
  /** Transfers that were tried in time and that the wallet could not pay. */
  readonly bounced: SignedTransfer[] = [];
  reorganised = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  balanceOf(agentId: number): bigint {
    return this.#balances.get(agentId) ?? 0n;
  }

  /** The newest block that is believed, or one before it: it stays. */
  deep(upTo = this.#believed): SimBlock | undefined {
    return this.#blocks[Math.min(upTo, this.#believed)];
  }

  /** Blocks after this one, up to and with that one. */
  between(after: number, to: SimBlock): readonly SimBlock[] {
    return this.#blocks.slice(after + 1, to.number + 1);
  }

  isUsedAt(nonce: string, block: SimBlock): boolean {
    const number = this.#used.get(nonce);
    return number !== undefined && number <= block.number;
  }

  isUsed(nonce: string): boolean {
    return this.#used.has(nonce);
  }

  /** USDC from outside, on its way into a wallet. */
  deposit(agentId: number, amountRaw: bigint): void {
    this.#deposits.push({ id: `d${++this.#names}`, agentId, amountRaw });
  }

  /** A vendor holds this signature from now on, and submits it at `fromMs`: perhaps too late. */
  hand(transfer: SignedTransfer, fromMs: number): void {
    this.#waiting.push({ transfer, fromMs });
  }

  /** What was believed is replaced: this transfer was mined in its time after all. */
  overrule(transfer: SignedTransfer): void {
    this.#overruled.add(transfer.nonce);
    this.hand(transfer, 0);
  }

  mine(nowMs: number): void {
    if (this.#chance.oneIn(30)) this.#isSlow = !this.#isSlow;
    if (this.#chance.oneIn(25)) this.#replace(1 + this.#chance.below(CONFIRMATIONS));
    const last = this.#blocks.at(-1)?.timeSec ?? 0;
    const nowSec = Math.floor(nowMs / 1_000);
    const late = last === 0 ? nowSec : Math.min(nowSec, last + this.#chance.below(3));
    const timeSec = Math.max(last, this.#isSlow ? late : nowSec);
    const number = this.#blocks.length;
    const deposits = this.#deposits.splice(0);
    for (const { agentId, amountRaw } of deposits) this.#move(agentId, amountRaw);
    const used = this.#mineTransfers(number, timeSec, nowMs);
    this.#blocks.push({ number, timeSec, used, deposits });
    this.#believed = Math.max(this.#believed, number - CONFIRMATIONS);
  }

  /** No transfer waits for the next block. */
  isQuiet(): boolean {
    const top = this.#blocks.slice(this.#believed + 1);
    const isEmpty = top.every(({ used, deposits }) => used.length + deposits.length === 0);
    return this.#waiting.length === 0 && this.#deposits.length === 0 && isEmpty;
  }

  /** Nothing is withheld any more, and the chain's clock is right. */
  settleDown(): void {
    this.#isSlow = false;
    this.#waiting = this.#waiting.map((waiting) => ({ ...waiting, fromMs: 0 }));
  }

  #mineTransfers(number: number, timeSec: number, nowMs: number): SignedTransfer[] {
    const used: SignedTransfer[] = [];
    this.#waiting = this.#waiting.filter(({ transfer, fromMs }) => {
      if (fromMs > nowMs) return true;
      const { nonce, validBefore, agentId, valueRaw } = transfer;
      const isInTime = validBefore === null || timeSec < validBefore || this.#overruled.has(nonce);
      if (!isInTime || this.#used.has(nonce)) return false;
      if (this.balanceOf(agentId) < valueRaw) {
        this.bounced.push(transfer);
        return validBefore === null;
      }
      this.#move(agentId, -valueRaw);
      this.#used.set(nonce, number);
      used.push(transfer);
      return false;
    });
    return used;
  }

  /** The newest blocks are gone, and what was in them waits again. */
  #replace(count: number): void {
    for (let i = 0; i < count && this.#blocks.length > this.#believed + 1; i++) {
      const block = this.#blocks.pop();
      if (block === undefined) return;
      this.reorganised++;
      for (const transfer of block.used) {
        this.#used.delete(transfer.nonce);
        this.#move(transfer.agentId, transfer.valueRaw);
        this.#waiting.push({ transfer, fromMs: 0 });
      }
      for (const deposit of block.deposits) {
        this.#move(deposit.agentId, -deposit.amountRaw);
        this.#deposits.push(deposit);
      }
    }
  }

  #move(agentId: number, byRaw: bigint): void {
    this.#balances.set(agentId, this.balanceOf(agentId) + byRaw);
  }
}
