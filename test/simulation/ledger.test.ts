import { afterAll, describe, expect, it } from 'vitest';
import { Callers } from './callers.ts';
import { SimWorld } from './ledger-world.ts';
import { Payers } from './payers.ts';
import { seededChance, seedsToRun } from './seeded.ts';

/** Of all worlds together; each has its own seed and so many of them. */
const STEPS = Number(process.env.SIMULATION_STEPS ?? 100_000);
const STEPS_A_WORLD = 25_000;
const AGENTS = { capped: 4, free: 2 };
/** Some that spend otherwise, too, and some that do nothing but pay. */
const PAYING = [3, 4, 5, 6];

/** An expectation costs more than a step. */
function nothing(found: readonly string[], step: number): void {
  if (found.length > 0) expect(found, `step ${step}`).toEqual([]);
}

async function runWorld(seed: number) {
  const chance = seededChance(seed);
  const world = new SimWorld(chance, AGENTS);
  const callers = new Callers(world, chance, AGENTS.capped);
  const payers = new Payers(world, chance, PAYING);
  for (let i = 0; i < 3; i++) world.start();
  for (let i = 0; i < STEPS_A_WORLD; i++) {
    if (chance.oneIn(2)) callers.act(chance.pick(world.nodes));
    if (chance.oneIn(8)) payers.act(chance.pick(world.nodes));
    if (chance.oneIn(12)) world.chain.mine(world.clock.now());
    if (chance.oneIn(120)) {
      world.crash(chance.pick(world.nodes));
      world.start();
    }
    if (chance.oneIn(60)) callers.reap(chance.pick(world.nodes));
    if (chance.oneIn(90)) callers.reap(chance.pick(world.nodes), chance.pick(world.nodes));
    if (chance.oneIn(150)) world.store.changeRules(1 + chance.below(AGENTS.capped), {});
    if (chance.oneIn(40)) world.policies.edit(world.clock.now());
    await world.step();
    nothing(world.wrong, i);
    nothing(payers.broken, i);
    if (i % 5 === 0) nothing(world.policies.violations(), i);
    if (i % 250 === 0) nothing(world.store.violations(), i);
  }
  await comeToRest(world, callers, payers);
  return { world, callers, payers };
}

/** Nothing fails any more: everything that was begun comes to its end. */
async function comeToRest(world: SimWorld, callers: Callers, payers: Payers): Promise<void> {
  world.calm = true;
  world.chain.settleDown();
  // What late payments have taken out of a wallet is missing where its agent is to be paid out.
  world.chain.deposit(payers.lateAgentId, 100_000n);
  const [reaper] = world.nodes;
  for (let i = 0; i < 60_000; i++) {
    await world.step();
    const waiting = world.nodes.some((node) => node.ledger.load().waiting > 0);
    if (waiting || world.busy) continue;
    for (const node of world.nodes) {
      callers.settleOne(node, 1n);
      callers.closeOne(node, 'done');
    }
    if (world.nodes.some((node) => node.ledger.load().waiting > 0)) continue;
    // A caller that was told to give up has left its work behind; its process would end it in time.
    if (world.store.holds.size === 0 && payers.isDone()) return;
    for (const holdId of world.store.holds.keys()) world.openedBy.delete(holdId);
    if (reaper === undefined) throw new Error('no process is left');
    callers.reap(reaper);
    payers.submitPayouts();
    world.chain.mine(world.clock.now());
    payers.begin(payers.reconcile(reaper));
  }
  throw new Error('the world did not come to rest');
}

/** A world may be a quiet one; all of them together are not. */
const totals = { worlds: 0, admitted: 0, suspended: 0, crashes: 0 };
/** Ends that payments came to, and what was paid out of wallets. */
const ends = new Map<string, number>();
const ENDS = ['settled', 'expired_unsettled', 'payment_rejected', 'released', 'corrected'];

describe('the ledger under a seeded roof', () => {
  afterAll(() => {
    if (totals.worlds < 4) return;
    expect(totals.admitted).toBeGreaterThan(400 * totals.worlds);
    expect(totals.suspended).toBeGreaterThan(totals.worlds / 4);
    expect(totals.crashes).toBeGreaterThan(20 * totals.worlds);
    for (const end of ENDS) expect(ends.get(end), end).toBeGreaterThan(5 * totals.worlds);
    for (const kind of ['close', 'sweep']) expect(ends.get(kind), kind).toBeGreaterThan(0);
  });

  it.each(seedsToRun(STEPS / STEPS_A_WORLD))(
    'the ledger keeps every promise and invariant under a seeded random load (SEED=%i)',
    async (seed) => {
      const { world, callers, payers } = await runWorld(seed);
      const { store } = world;
      expect(world.lost).toBeGreaterThan(10);
      expect(world.crashes).toBeGreaterThan(3);
      expect(store.postings.size).toBeGreaterThan(100);
      expect(store.violations()).toEqual([]);
      expect(world.policies.violations()).toEqual([]);
      expect(world.policies.admitted).toBeGreaterThan(100);
      expect(world.policies.edits).toBeGreaterThan(200);
      totals.worlds++;
      totals.admitted += world.policies.admitted;
      totals.suspended += world.policies.suspended;
      totals.crashes += world.crashes;
      expect(payers.violations()).toEqual([]);
      for (const [end, times] of world.payments.ends) ends.set(end, (ends.get(end) ?? 0) + times);
      const { held, refused, charged, credited } = callers.promised;
      for (const holdId of held.keys()) {
        expect(store.postings.has(`hold:${holdId}`), holdId).toBe(true);
        expect(store.postings.has(`resolve:${holdId}`), holdId).toBe(true);
      }
      for (const holdId of refused)
        expect(store.postings.has(`hold:${holdId}`), holdId).toBe(false);
      for (const [holdId, chargedRaw] of charged) {
        const entries = store.postings.get(`resolve:${holdId}`)?.posting.entries ?? [];
        const left = entries.filter((e) => e.debit.startsWith('agent:') && e.credit === 'gateway');
        expect(left.reduce((sum, e) => sum + e.amountRaw, 0n)).toBe(chargedRaw);
      }
      for (const [reference, amountRaw] of credited) {
        expect(store.postings.get(`credit:${reference}`)?.posting.askedRaw).toBe(amountRaw);
      }
      for (const [sessionId, session] of store.sessions) {
        expect(session.ended, sessionId).not.toBeNull();
        if (session.ended !== 'process_lost') continue;
        // Nothing was written to the journal after it was taken over.
        const settled = store.postings.get(`resolve:${sessionId}`)?.posting.askedRaw;
        expect(settled, sessionId).toBe(callers.journaled(sessionId));
      }
    },
  );
});
