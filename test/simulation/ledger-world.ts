import type { Clock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createLedger, type LiveLedger } from '../../src/ledger/engine/ledger.ts';
import type { AgentBatch } from '../../src/ledger/rules/change.ts';
import type { Balance, BalanceStore } from '../../src/ledger/store/balances.ts';
import { CallTimeout } from '../../src/platform/postgres/transient.ts';
import { MemoryLedger } from '../support/fakes/memory-ledger.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { PaymentBook } from './payment-book.ts';
import { PolicyBook } from './policy-book.ts';
import type { Chance } from './seeded.ts';
import { SimChain } from './sim-chain.ts';

type Call = {
  /** Carries it out in the database. */
  readonly run: () => unknown;
  readonly answer: (value: unknown) => void;
  readonly fail: (error: unknown) => void;
  readonly node: SimNode;
  /** A process that dies takes the transaction with it in which it was deciding. */
  readonly diesWithNode: boolean;
  done?: { readonly value: unknown };
  /** Its sender has given up on it; the server has not. */
  orphaned: boolean;
};

export type SimNode = { readonly name: string; ledger: LiveLedger; alive: boolean };

/**
 * One database and some processes under one seeded roof: which call goes on next, which answer is
 * lost, who dies and when is chance that can be played again.
 */
export class SimWorld {
  readonly store = new MemoryLedger();
  readonly clock = new ManualClock();
  readonly nodes: SimNode[] = [];
  /** Which process opened each hold: what its lease is for. */
  readonly openedBy = new Map<string, SimNode>();
  readonly #chance: Chance;
  readonly #ready: (() => void)[] = [];
  #calls: Call[] = [];
  #names = 0;
  readonly policies: PolicyBook;
  readonly chain: SimChain;
  readonly payments: PaymentBook;
  /** When each agent's batch was decided: the same one may be sent again much later. */
  readonly #decidedMs = new WeakMap<AgentBatch, number>();
  /** What stands and should not: let through by a full cap, or a payment that the chain says otherwise of. */
  readonly wrong: string[] = [];
  /** While set no answer is lost and no process dies. */
  calm = false;
  lost = 0;
  crashes = 0;

  /** The agents after the first `capped` ones have no cap. */
  constructor(chance: Chance, agents: { readonly capped: number; readonly free: number }) {
    this.#chance = chance;
    const count = agents.capped + agents.free;
    for (let agentId = 1; agentId <= count; agentId++) this.store.addAgent(agentId);
    this.policies = new PolicyBook(this.store, chance, agents.capped);
    this.chain = new SimChain(chance);
    this.payments = new PaymentBook(this.store, this.chain);
  }

  get busy(): boolean {
    return this.#calls.length > 0 || this.#ready.length > 0;
  }

  start(): SimNode {
    const node: SimNode = { name: `n${++this.#names}`, ledger: {} as LiveLedger, alive: true };
    node.ledger = createLedger({
      store: this.#doorOf(node),
      clock: this.#clockOf(node),
      log: silentLog,
      soon: (callback) => this.#ready.push(() => node.alive && callback()),
    });
    this.nodes.push(node);
    return node;
  }

  /** The process is gone between two instructions; what it had sent may still be carried out. */
  crash(node: SimNode): void {
    node.alive = false;
    this.crashes++;
    this.nodes.splice(this.nodes.indexOf(node), 1);
    for (const call of this.#calls) if (call.node === node) call.orphaned = true;
    this.#calls = this.#calls.filter((call) => call.node !== node || !call.diesWithNode);
  }

  /** Lets one thing happen: a callback runs, a call is carried out, answered or lost, or time passes. */
  async step(): Promise<void> {
    const choice = this.#chance.below(10);
    if (choice < 4 && this.#ready.length > 0) {
      this.#ready.splice(this.#chance.below(this.#ready.length), 1)[0]?.();
    } else if (choice < 9 && this.#calls.length > 0) {
      this.#advance(this.#chance.pick(this.#calls));
    } else this.clock.advance(this.#someTime());
    for (let i = 0; i < 12; i++) await Promise.resolve();
  }

  /** Mostly moments; now and then enough to leave a bucket, a window or a day behind. */
  #someTime(): number {
    if (this.#chance.oneIn(3_000)) return 1 + this.#chance.below(30 * 3_600_000);
    if (this.#chance.oneIn(60)) return 1 + this.#chance.below(90_000);
    return 1 + this.#chance.below(300);
  }

  #advance(call: Call): void {
    if (call.done === undefined) {
      if (!this.calm && this.#chance.oneIn(12)) {
        this.#lose(call);
        return;
      }
      try {
        call.done = { value: call.run() };
      } catch (error) {
        this.#drop(call);
        call.fail(error);
      }
      return;
    }
    this.#drop(call);
    if (call.orphaned) return;
    if (!this.calm && this.#chance.oneIn(12)) {
      this.lost++;
      call.fail(new CallTimeout('the answer was lost'));
    } else call.answer(call.done.value);
  }

  /** The sender hears of a failure. Whether the server ever does what was asked is another matter. */
  #lose(call: Call): void {
    this.lost++;
    call.orphaned = true;
    if (call.diesWithNode || this.#chance.oneIn(2)) this.#drop(call);
    call.fail(new CallTimeout('the connection was lost'));
  }

  #drop(call: Call): void {
    this.#calls.splice(this.#calls.indexOf(call), 1);
  }

  /** What the database says when it is asked, if it is and the answer arrives. */
  read<T>(node: SimNode, run: () => T): Promise<T> {
    return this.#send(node, run, true);
  }

  /** Something else happens first; a process that dies meanwhile does not go on. */
  pause(node: SimNode): Promise<void> {
    return new Promise((resolve) => this.#ready.push(() => node.alive && resolve()));
  }

  #send<T>(node: SimNode, run: () => T, diesWithNode: boolean): Promise<T> {
    return new Promise<T>((resolve, fail) => {
      const answer = (value: unknown) => resolve(value as T);
      this.#calls.push({ run, answer, fail, node, diesWithNode, orphaned: false });
    });
  }

  /** The one clock, as long as the process lives. */
  #clockOf(node: SimNode): Clock {
    const { clock } = this;
    return {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      setTimeout: (callback, delayMs) => clock.setTimeout(() => node.alive && callback(), delayMs),
      clearTimeout: (handle) => clock.clearTimeout(handle),
    };
  }

  #doorOf(node: SimNode): BalanceStore {
    const send = <T>(run: () => T, diesWithNode = false) => this.#send(node, run, diesWithNode);
    return {
      load: (agentId) => send(() => this.store.balances.get(agentId)),
      apply: (parts, resent) => {
        for (const part of parts) this.#decided(part);
        return send(() => this.#apply(node, parts, resent));
      },
      fenced: (agentId, decide: (balance: Balance) => AgentBatch) =>
        send(() => {
          const balance = this.store.balances.get(agentId);
          if (balance === undefined) return { kind: 'agent_unknown' } as const;
          const part = decide(balance);
          this.#decided(part);
          const [outcome] = this.#apply(node, [part], false);
          return outcome ?? ({ kind: 'agent_unknown' } as const);
        }, true),
    };
  }

  #decided(part: AgentBatch): void {
    if (!this.#decidedMs.has(part)) this.#decidedMs.set(part, this.clock.now());
  }

  #apply(node: SimNode, parts: readonly AgentBatch[], resent: boolean) {
    const outcomes = this.store.applyNow(parts, resent);
    parts.forEach((part, i) => {
      if (outcomes[i]?.kind !== 'applied') return;
      const decidedMs = this.#decidedMs.get(part) ?? this.clock.now();
      this.wrong.push(...this.policies.applied(part, decidedMs), ...this.payments.applied(part));
      for (const { hold } of part.changes) {
        if (hold !== null && hold.fromRaw === null) this.openedBy.set(hold.holdId, node);
      }
    });
    return outcomes;
  }
}
