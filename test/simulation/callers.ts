import { expect } from 'vitest';
import type { Hold, SessionClaim } from '../../src/ledger/rules/requests.ts';
import type { SimNode, SimWorld } from './ledger-world.ts';
import { HOSTS, TASKS } from './policy-book.ts';
import type { Chance } from './seeded.ts';

type Promised = {
  readonly held: Map<string, bigint>;
  readonly refused: Set<string>;
  readonly charged: Map<string, bigint>;
  readonly credited: Map<string, bigint>;
};

type OpenedSession = {
  claim: SessionClaim;
  seq: number;
  /** Its hold is only ever given back, in parts. */
  readonly shrinks: boolean;
};

/** What processes and their callers do, at random, and what they were promised. */
export class Callers {
  readonly promised: Promised = {
    held: new Map(),
    refused: new Set(),
    charged: new Map(),
    credited: new Map(),
  };
  /** Work in hand, by the process that does it: it dies with it. */
  readonly inHand = new Map<SimNode, { holds: Hold[]; claims: OpenedSession[] }>();
  readonly #world: SimWorld;
  readonly #chance: Chance;
  readonly #agents: number;
  #names = 0;

  constructor(world: SimWorld, chance: Chance, agents: number) {
    this.#world = world;
    this.#chance = chance;
    this.#agents = agents;
  }

  act(node: SimNode): void {
    const choice = this.#chance.below(10);
    const agentId = 1 + this.#chance.below(this.#agents);
    const amountRaw = BigInt(this.#chance.below(60));
    if (choice < 3) this.hold(node, agentId, amountRaw);
    else if (choice < 6) this.settleOne(node, BigInt(this.#chance.below(90)));
    else if (choice < 7) this.credit(node, agentId, amountRaw * 20n + 1n);
    else if (choice < 8) this.open(node, agentId, amountRaw);
    else if (choice < 9) this.journalOne(node);
    else this.closeOne(node, 'done');
  }

  /** A promise that is never kept, because its process died, says nothing. */
  #heed<T>(node: SimNode, promise: Promise<T>, then: (value: T) => void): void {
    promise.then(
      (value) => {
        if (node.alive) then(value);
      },
      () => {},
    );
  }

  #work(node: SimNode) {
    const known = this.inHand.get(node);
    if (known !== undefined) return known;
    const work = { holds: [], claims: [] };
    this.inHand.set(node, work);
    return work;
  }

  hold(node: SimNode, agentId: number, amountRaw: bigint): void {
    const holdId = `h${++this.#names}`;
    const request = {
      spender: { agentId, keyId: 1, taskId: this.#chance.pick(TASKS) },
      holdId,
      amountRaw,
      destination: { host: this.#chance.pick(HOSTS), payee: null },
    } as const;
    this.#heed(node, node.ledger.hold(request), (verdict) => {
      if (verdict.kind === 'refused') this.promised.refused.add(holdId);
      else {
        this.promised.held.set(holdId, amountRaw);
        this.#work(node).holds.push(verdict.hold);
      }
    });
  }

  settleOne(node: SimNode, actualRaw: bigint): void {
    const { holds } = this.#work(node);
    const hold = holds.splice(this.#chance.below(Math.max(1, holds.length)), 1)[0];
    if (hold === undefined) return;
    const request = { hold, actualRaw, account: 'gateway', source: 'acme' } as const;
    // The same settlement twice at once, as a caller with a short patience would send it.
    for (let i = 0; i < (this.#chance.oneIn(5) ? 2 : 1); i++) {
      this.#heed(node, node.ledger.settle(request), (verdict) => {
        if (verdict.kind !== 'settled') return;
        expect(this.promised.charged.get(hold.holdId) ?? verdict.chargedRaw).toBe(
          verdict.chargedRaw,
        );
        this.promised.charged.set(hold.holdId, verdict.chargedRaw);
      });
    }
  }

  credit(node: SimNode, agentId: number, amountRaw: bigint): void {
    const reference = `c${this.#chance.below(400)}`;
    this.#heed(node, node.ledger.credit({ agentId, amountRaw, reference }), (verdict) => {
      if (verdict.kind === 'credited' || verdict.kind === 'already_credited') {
        this.promised.credited.set(reference, amountRaw);
      }
    });
  }

  open(node: SimNode, agentId: number, reserveRaw: bigint): void {
    const sessionId = `s${++this.#names}`;
    const request = {
      spender: { agentId, keyId: 1 },
      sessionId,
      reserveRaw,
      kind: 'realtime',
      target: 't',
      model: 'm',
      destination: { host: this.#chance.pick(HOSTS), payee: null },
      account: 'gateway',
    } as const;
    this.#heed(node, node.ledger.openSession(request), (verdict) => {
      if (verdict.kind === 'opened') {
        const shrinks = this.#chance.oneIn(3);
        this.#work(node).claims.push({ claim: verdict.claim, seq: 0, shrinks });
      }
    });
  }

  journalOne(node: SimNode): void {
    const { claims } = this.#work(node);
    const session = claims[this.#chance.below(Math.max(1, claims.length))];
    if (session === undefined) return;
    if (session.shrinks) {
      const mostRaw = session.claim.hold.amountRaw;
      if (mostRaw > 0n && this.#chance.oneIn(3)) this.#shrink(node, session, mostRaw);
    } else if (this.#chance.oneIn(3)) {
      const extended = node.ledger.extend(session.claim, 1n + BigInt(this.#chance.below(20)));
      this.#heed(node, extended, (verdict) => {
        if (verdict.kind === 'extended') session.claim = verdict.claim;
      });
      return;
    }
    const entry = { seq: ++session.seq, costRaw: BigInt(this.#chance.below(9)), usage: {} };
    this.#heed(node, node.ledger.journal(session.claim, [entry]), () => {});
  }

  #shrink(node: SimNode, session: OpenedSession, mostRaw: bigint): void {
    const byRaw = 1n + BigInt(this.#chance.below(Number(mostRaw)));
    this.#heed(node, node.ledger.shrink(session.claim, byRaw), (claim) => {
      if (claim !== undefined) session.claim = claim;
    });
  }

  closeOne(node: SimNode, reason: string): void {
    const { claims } = this.#work(node);
    const session = claims.splice(this.#chance.below(Math.max(1, claims.length)), 1)[0];
    if (session === undefined) return;
    const { claim } = session;
    const actualRaw = this.journaled(claim.sessionId);
    const request = { claim, reason, actualRaw, account: 'gateway', source: 'm' } as const;
    this.#heed(node, node.ledger.closeSession(request), () => {});
  }

  journaled(sessionId: string): bigint {
    let costRaw = 0n;
    for (const [key, raw] of this.#world.store.journal) {
      if (key.startsWith(`${sessionId}/`)) costRaw += raw;
    }
    return costRaw;
  }

  /**
   * What the reaper does for a dead process: takes sessions over, settles from the journal, releases
   * holds. `slow` is one that only looks dead: its lease ran out, and it goes on.
   */
  reap(node: SimNode, slow?: SimNode): void {
    const { store, openedBy } = this.#world;
    // What is signed away is the chain's to decide.
    const signed = new Set([...store.reservations.values()].map((row) => row.holdId));
    for (const [holdId, { agentId, amountRaw, facts }] of store.holds) {
      if (signed.has(holdId)) continue;
      const opener = openedBy.get(holdId);
      if (opener?.alive && opener !== slow) continue;
      const hold = { holdId, agentId, amountRaw, facts };
      const session = store.sessions.get(holdId);
      const request = { account: 'gateway', source: 'm' } as const;
      if (session === undefined) {
        this.#heed(node, node.ledger.settle({ hold, actualRaw: 0n, ...request }), () => {});
      } else {
        session.epoch++;
        const claim = { sessionId: holdId, epoch: session.epoch, hold };
        const actualRaw = this.journaled(holdId);
        const ends = { claim, reason: 'process_lost', actualRaw, ...request };
        this.#heed(node, node.ledger.closeSession(ends), () => {});
      }
    }
  }
}
