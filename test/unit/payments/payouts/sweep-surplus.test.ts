import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { applyChange } from '../../../../src/ledger/rules/agent-batch.ts';
import type { BalanceState } from '../../../../src/ledger/rules/change.ts';
import { decide } from '../../../../src/ledger/rules/decide.ts';
import type { DecisionContext } from '../../../../src/ledger/rules/decision.ts';
import type { Ledger } from '../../../../src/ledger/rules/ledger.ts';
import type { Operation } from '../../../../src/ledger/rules/operation.ts';
import type { NewPayout, NewReservation } from '../../../../src/ledger/rules/payment.ts';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import { newPayout } from '../../../../src/payments/payouts/payout.ts';
import { sweepSurplus } from '../../../../src/payments/payouts/sweep-surplus.ts';
import { ACTIVE } from '../../../support/fakes/memory-ledger.ts';
import { DESTINATION, FACTS, momentAt } from '../../../support/spending.ts';

const AGENT = 7;
const WALLET = `0x${'a1'.repeat(20)}`;
const TREASURY = `0x${'7e'.repeat(20)}`;
const WORLD: DecisionContext = {
  rules: ACTIVE,
  position: momentAt(1_000_000),
  openHolds: new Map(),
};

const payment = (): NewReservation => ({
  nonce: newPayout(systemRandom, 'sweep', { wallet: WALLET, payee: TREASURY }).nonce,
  wallet: WALLET,
  payee: TREASURY,
  validBefore: 1,
  signature: '0x',
  x402Version: 2,
  network: 'base',
  targetUrl: 'https://v',
  targetHost: 'v',
  method: 'GET',
});

/** What happens to an agent with a wallet, as an operator's customer would have it happen. */
type Step =
  | { readonly kind: 'deposit' | 'credit' | 'metered' | 'payment'; readonly raw: bigint }
  /** How the oldest work under way ends: it takes all of its hold, half of it, or nothing. */
  | { readonly kind: 'end'; readonly takes: 'all' | 'half' | 'nothing' };

type Open = {
  readonly holdId: string;
  readonly raw: bigint;
  readonly reservation: NewReservation | null;
};

/** One agent's books; with a sweep behind every step, or without any. */
class Agent {
  state: BalanceState = {
    version: 0n,
    rulesVersion: 0n,
    spendableRaw: 0n,
    heldRaw: 0n,
    creditedRaw: 0n,
    consumedRaw: 0n,
    walletRaw: 0n,
    promisedRaw: 0n,
    counters: [],
  };
  readonly admitted: boolean[] = [];
  readonly #open: Open[] = [];
  #ids = 0;

  #do(operation: Operation): boolean {
    const { kind, change } = decide(this.state, operation, WORLD);
    if (kind === 'change') this.state = applyChange(this.state, change, WORLD.position);
    return kind === 'change';
  }

  async sweep(): Promise<void> {
    const ledger: Pick<Ledger, 'sweep'> = {
      sweep: async ({ payout }) => {
        this.#do({ kind: 'sweep', agentId: AGENT, payout, leastRaw: 1n });
      },
    };
    const surplus = { id: AGENT, wallet: WALLET };
    await sweepSurplus({ random: systemRandom, ledger, treasury: TREASURY }, surplus);
  }

  take(step: Step): void {
    const agentId = AGENT;
    if (step.kind === 'deposit' || step.kind === 'credit') {
      if (step.raw === 0n) return;
      const deposit = step.kind === 'deposit';
      const reference = `c${this.#ids++}`;
      const credit = { kind: 'credit', agentId, amountRaw: step.raw, reference } as const;
      this.#do({ ...credit, events: [], deposit });
    } else if (step.kind === 'end') {
      this.#end(step.takes);
    } else {
      const holdId = `h${this.#ids++}`;
      const reservation = step.kind === 'payment' ? payment() : null;
      const isHeld = this.#do({
        kind: 'hold',
        agentId,
        holdId,
        amountRaw: step.raw,
        destination: DESTINATION,
        spender: { agentId },
        session: null,
        reservation,
      });
      this.admitted.push(isHeld);
      if (isHeld) this.#open.push({ holdId, raw: step.raw, reservation });
    }
  }

  #end(takes: 'all' | 'half' | 'nothing'): void {
    const open = this.#open.shift();
    if (open === undefined) return;
    const { holdId, raw, reservation } = open;
    // A payment moves whole or not at all.
    const part = takes === 'half' ? (reservation === null ? raw / 2n : raw) : raw;
    const actualRaw = takes === 'nothing' ? 0n : part;
    this.#do({
      kind: 'settle',
      agentId: AGENT,
      ends: null,
      hold: { holdId, agentId: AGENT, amountRaw: raw, facts: FACTS },
      request: { actualRaw, account: reservation === null ? 'gateway' : 'chain:usdc', source: 't' },
      move: reservation && {
        nonce: reservation.nonce,
        from: 'pending_settlement',
        to: actualRaw > 0n ? 'settled' : 'expired_unsettled',
      },
    });
  }

  /** All work ends, and the agent is closed: what the developer is paid. */
  close(): bigint {
    while (this.#open.length > 0) this.#end('nothing');
    const payout = newPayout(systemRandom, 'close', { wallet: WALLET, payee: TREASURY });
    const reference = 'close';
    const operation = { kind: 'withdraw', agentId: AGENT, reference, payout } as const;
    const { change } = decide(this.state, operation, WORLD);
    return change.delta.promisedRaw;
  }
}

const upTo = (max: bigint) => fc.bigInt({ min: 0n, max });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('deposit'), raw: upTo(100n) }),
  fc.record({ kind: fc.constantFrom('metered', 'payment'), raw: upTo(40n) }),
  fc.record({ kind: fc.constant('end'), takes: fc.constantFrom('all', 'half', 'nothing') }),
);

describe('a sweep', () => {
  it('a sweep at any moment never takes what a developer could be paid or what an agent could pay', async () => {
    let sweeps = 0;
    // Credit that nothing backs comes first: later on it would be backed by what the operator has left in the wallet.
    const begin = upTo(20n).map((credited): Step => ({ kind: 'credit', raw: credited }));
    const steps = fc.array(fc.tuple(step, fc.boolean()), { minLength: 5, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(begin, steps, async (first, rest) => {
        const [swept, whole] = [new Agent(), new Agent()];
        for (const [each, isSwept] of [[first, false] as const, ...rest]) {
          swept.take(each);
          whole.take(each);
          if (isSwept) await swept.sweep();
        }
        if (swept.state.promisedRaw > whole.state.promisedRaw) sweeps++;
        expect(swept.admitted).toEqual(whole.admitted);
        expect(swept.close()).toBe(whole.close());
      }),
      { numRuns: 200 },
    );
    // It would say nothing of sweeps if there had been none.
    expect(sweeps).toBeGreaterThan(10);
  });

  it('a sweep goes from the wallet to the treasury and only from `sweepLeastRaw` on', async () => {
    const asked: { agentId: number; payout: NewPayout; leastRaw: bigint }[] = [];
    const ledger: Pick<Ledger, 'sweep'> = {
      sweep: async (request) => {
        asked.push(request);
      },
    };
    const deps = { random: systemRandom, ledger, treasury: TREASURY };
    await sweepSurplus(deps, { id: AGENT, wallet: WALLET });
    expect(asked).toMatchObject([
      {
        agentId: AGENT,
        leastRaw: PAYMENT_LIMITS.payout.sweepLeastRaw,
        payout: { kind: 'sweep', wallet: WALLET, payee: TREASURY },
      },
    ]);
  });
});
