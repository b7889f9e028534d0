import { requireAgent } from '../../accounts/agents/require-agent.ts';
import { phoneErrors } from '../errors.ts';
import { type BuyNumberDeps, buyNumber, type NumberBuyer } from './buy-number.ts';
import { numberRecord, type PhoneNumber } from './number.ts';
import type { NumberCarrier } from './number-deps.ts';
import { findNumber, findNumbers } from './number-store.ts';
import { readCalls } from './read-calls.ts';
import { readFleet, readUsage, requireDays } from './read-usage.ts';
import { releaseByDeveloper } from './release-number.ts';
import { requireAreaCode } from './requested-number.ts';
import { searchNumbers } from './search-numbers.ts';

export type NumbersDeps = Omit<BuyNumberDeps, 'seller'> & {
  /** Carrier that rents the numbers out. Undefined: no carrier is configured, and every method throws 503. */
  readonly seller: NumberCarrier | undefined;
};

/** A developer's agent, and a number of that agent. An agent of another developer reads as absent. */
export type OwnedAgent = { readonly accountId: string; readonly agentId: number };
export type NumberRef = OwnedAgent & { readonly numberId: number };

export type Numbers = ReturnType<typeof createNumbers>;

/** Creates the phone numbers of agents: purchase, release and usage. */
export function createNumbers(given: NumbersDeps) {
  const { sql, now } = given;

  function open(): BuyNumberDeps {
    const { seller } = given;
    if (seller === undefined) throw phoneErrors.telephonyUnavailable();
    return { ...given, seller };
  }

  async function requireOwn(ref: OwnedAgent): Promise<void> {
    open();
    await requireAgent(sql, ref);
  }

  async function requireNumber(ref: NumberRef): Promise<PhoneNumber> {
    await requireOwn(ref);
    const number = await findNumber(sql, { agentId: ref.agentId, id: ref.numberId });
    if (number === undefined) throw phoneErrors.numberNotFound();
    return number;
  }

  return {
    /** Buys a number, and returns it with the charge of its first month. */
    async buy(buyer: NumberBuyer, body: Readonly<Record<string, unknown>>) {
      const { number, chargedRaw } = await buyNumber(open(), buyer, body);
      return { number: numberRecord(number), chargedRaw };
    },

    /** Returns all numbers that the agent has bought, newest first, and the monthly price of another number. */
    async list(ref: OwnedAgent) {
      await requireOwn(ref);
      const numbers = await findNumbers(sql, ref.agentId);
      return {
        numbers: numbers.map(numberRecord),
        rentalRaw: given.rateCard.rentalRaw.toString(),
      };
    },

    /** Returns numbers that are for sale now, in one area code or anywhere. Nothing is reserved. */
    async search(ref: OwnedAgent, areaCode: string | undefined) {
      await requireOwn(ref);
      const code = areaCode ? requireAreaCode(areaCode) : undefined;
      return searchNumbers(open(), { areaCode: code });
    },

    read: async (ref: NumberRef) => numberRecord(await requireNumber(ref)),

    async release(ref: NumberRef) {
      await requireNumber(ref);
      const released = { agentId: ref.agentId, id: ref.numberId };
      return numberRecord(await releaseByDeveloper(open(), released));
    },

    /** Returns the latest calls of a number, latest first. */
    calls: async (ref: NumberRef) => readCalls(sql, (await requireNumber(ref)).id),

    async usage(ref: NumberRef, daysText: string | undefined) {
      const number = await requireNumber(ref);
      return readUsage(sql, number, { days: requireDays(daysText), nowMs: now() });
    },

    /** Returns the numbers that all agents of an account rent now. */
    async fleet(accountId: string) {
      open();
      return readFleet(sql, accountId, now());
    },
  };
}
