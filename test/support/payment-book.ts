import { isLive, type ReservationState } from '../../machines/reservation.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createLedger } from '../../src/ledger/engine/ledger.ts';
import type { Ledger } from '../../src/ledger/rules/ledger.ts';
import type { NewReservation } from '../../src/ledger/rules/payment.ts';
import type { HoldRequest, SettleRequest } from '../../src/ledger/rules/requests.ts';
import type { Reservation } from '../../src/payments/reservations/reservation.ts';
import { MemoryLedger } from './fakes/memory-ledger.ts';
import type { PaymentRow } from './fakes/memory-payments.ts';
import { ManualClock } from './manual-clock.ts';
import { nonceOf, reservationOf } from './payments.ts';

export const AGENT = 1;

type Wish = Partial<NewReservation> & {
  readonly valueRaw?: bigint;
  readonly state?: 'reserved' | 'sent' | 'pending_settlement';
};

/** The real ledger over a database in memory: one agent, its payments, and all that was asked of them. */
export class PaymentBook {
  readonly clock: ManualClock;
  readonly store = new MemoryLedger();
  readonly holds: HoldRequest[] = [];
  readonly settlements: SettleRequest[] = [];
  /** Comes before each step of a payment; one that never resolves is a ledger that hangs. */
  beforeStep: (step: 'hold' | 'advance' | 'settle') => Promise<void> | undefined = () => undefined;
  readonly ledger: Ledger;
  /** Comes to pass before anything that is asked of the ledger. */
  readonly deposited: Promise<unknown>;
  readonly #reservedMs = new Map<string, number>();

  constructor(clock = new ManualClock(), depositedRaw = 1_000_000n) {
    this.clock = clock;
    this.store.addAgent(AGENT);
    const ledger = createLedger({ store: this.store, clock, log: silentLog });
    this.deposited = ledger.credit({
      agentId: AGENT,
      amountRaw: depositedRaw,
      reference: 'first deposit',
      deposit: true,
    });
    this.ledger = {
      ...ledger,
      hold: async (request) => {
        this.holds.push(request);
        await this.beforeStep('hold');
        const { reservation } = request;
        if (reservation) this.#reservedMs.set(reservation.nonce, clock.now());
        return ledger.hold(request);
      },
      advance: async (request) => {
        await this.beforeStep('advance');
        return ledger.advance(request);
      },
      settle: async (request) => {
        this.settlements.push(request);
        await this.beforeStep('settle');
        return ledger.settle(request);
      },
    };
  }

  /** A payment that was made before the test begins; its nonce follows from its name. */
  async open(name: string, wanted: Wish = {}): Promise<Reservation> {
    const { valueRaw = 10_000n, state = 'pending_settlement', ...change } = wanted;
    const reservation = reservationOf(name, change);
    const { nonce, targetHost: host, payee } = reservation;
    const destination = { host, payee };
    const spender = { agentId: AGENT, keyId: 1 };
    await this.ledger.hold({
      spender,
      holdId: name,
      amountRaw: valueRaw,
      destination,
      reservation,
    });
    if (state !== 'reserved') {
      const move = { nonce, from: 'reserved', to: state } as const;
      await this.ledger.advance({ agentId: AGENT, holdId: name, move });
    }
    return this.row(name);
  }

  /** Brings a payment to its end, as another process would. */
  async end(name: string, to: Exclude<ReservationState, 'reserved' | 'sent'>): Promise<void> {
    const { nonce, state: from, holdId, valueRaw: amountRaw } = this.row(name);
    const facts = { keyRootId: null, taskId: null, host: null, payee: null };
    await this.ledger.settle({
      hold: { holdId, agentId: AGENT, amountRaw, facts },
      account: 'chain:usdc',
      source: 'x402',
      move: { nonce, from, to },
      actualRaw: to === 'settled' ? amountRaw : 0n,
    });
  }

  row(name: string): Reservation {
    const row = this.find(nonceOf(name));
    if (row === undefined) throw new Error(`there is no payment ${name}`);
    return row;
  }

  find(nonce: string): Reservation | undefined {
    const row = this.store.reservations.get(nonce);
    return row && this.#told(nonce, row);
  }

  readonly reload = async (nonce: string): Promise<Reservation | undefined> => this.find(nonce);

  rows(isWanted: (row: Reservation) => boolean): Reservation[] {
    return [...this.store.reservations]
      .map(([nonce, row]) => this.#told(nonce, row))
      .filter(isWanted);
  }

  live(): Reservation[] {
    return this.rows(({ state }) => isLive(state));
  }

  /** What is spendable and held, and what the wallet holds and has promised. */
  get funds() {
    const { spendableRaw, heldRaw, walletRaw, promisedRaw } = this.store.require(AGENT).state;
    return { spendableRaw, heldRaw, walletRaw, promisedRaw };
  }

  #told(nonce: string, row: PaymentRow): Reservation {
    const { sent, decided, corrected, signature: _s, x402Version: _v, network: _n, ...same } = row;
    return {
      nonce,
      ...same,
      keyRootId: row.keyId,
      isCorrected: corrected,
      reservedMs: this.#reservedMs.get(nonce) ?? 0,
      sentMs: sent ? this.clock.now() : null,
      decidedMs: decided ? this.clock.now() : null,
    };
  }
}

/** Lets the writes in the background come to their end. */
export async function rest({ ledger }: Pick<PaymentBook, 'ledger'>): Promise<void> {
  await letRun();
  // A step that came too late is sent once more.
  for (let i = 0; i < 2; i++) {
    void ledger.settled(AGENT);
    await letRun();
  }
}

/** Lets promises and callbacks run until nothing is ready. */
export async function letRun(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}
