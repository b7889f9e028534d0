import type { Agent } from '../../accounts/agents/agent.ts';
import { requireAgent } from '../../accounts/agents/require-agent.ts';
import { ApiError } from '../../kernel/api-error.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { Span } from '../../platform/tracing/span.ts';
import { findSuspension } from '../calls/account-store.ts';
import { CarrierFailed, type CarrierNumber, type OfferedNumber } from '../carriers/carrier.ts';
import { phoneErrors } from '../errors.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { RateCard } from '../rate-card.ts';
import { askCarrier } from './ask-carrier.ts';
import { finishPurchase, type PurchasedNumber } from './finish-purchase.ts';
import { giveUpPurchase } from './give-up-purchase.ts';
import { numberRecord, type PhoneNumber } from './number.ts';
import type { NumberDeps } from './number-deps.ts';
import { deleteBuying, findLiving, insertBuying } from './number-store.ts';
import { refusePurchase } from './refuse-purchase.ts';
import { RENTAL_DESTINATION } from './rental-charge.ts';
import {
  areaCodeOf,
  parseRequestedNumber,
  type RequestedNumber,
  requireCountry,
} from './requested-number.ts';
import { searchNumbers } from './search-numbers.ts';

export type BuyNumberDeps = NumberDeps & {
  readonly random: Random;
  readonly rateCard: Pick<RateCard, 'rentalRaw'>;
  /** Two-letter codes of the countries whose numbers may be rented, besides the United States. */
  readonly countries: readonly string[];
};

/** The buyer of a number: an agent with its key, or its developer, who is named by the account. */
export type NumberBuyer = {
  readonly spender: Spender;
  readonly accountId: string;
  /** Span of the request's trace. Undefined: the request is not traced. */
  readonly span?: Span | undefined;
};

/**
 * Buys a number for an agent and charges its first month: both or neither. Throws the refusals of a purchase in the order of
 * the specification. A worker finishes a purchase whose outcome is not known.
 */
export async function buyNumber(
  deps: BuyNumberDeps,
  buyer: NumberBuyer,
  body: Readonly<Record<string, unknown>>,
): Promise<PurchasedNumber> {
  const carrier = deps.seller.name;
  const span = buyer.span?.child(`number ${carrier}`, {
    kind: 'client',
    attributes: { 'svc.carrier': carrier, 'svc.agent.id': buyer.spender.agentId },
  });
  try {
    const bought = await buyOnce(deps, { ...buyer, span }, body);
    span?.end({ attributes: { 'svc.cost_raw': Number(bought.chargedRaw) } });
    return bought;
  } catch (error) {
    span?.end({ error: error instanceof ApiError ? error.error : 'bug' });
    throw error;
  }
}

async function buyOnce(
  deps: BuyNumberDeps,
  buyer: NumberBuyer,
  body: Readonly<Record<string, unknown>>,
): Promise<PurchasedNumber> {
  const { sql } = deps;
  const { accountId, spender } = buyer;
  const agent = await requireAgent(sql, { agentId: spender.agentId, accountId });
  await requirePlace(deps, agent.id);
  const wanted = parseRequestedNumber(body);
  const country = await requireCountry(wanted, deps.countries);
  requireReady(agent);
  if ((await findSuspension(sql, accountId)) !== undefined) throw phoneErrors.telephonySuspended();
  const { buying, sold } = await buyOffered(
    deps,
    agent,
    buyer,
    await offersFor(deps, wanted, country),
  );
  const bought = await finishPurchase(deps, buying, sold);
  if (bought === undefined) throw phoneErrors.provisioningFailed();
  return bought;
}

/**
 * Rents the first offered number that is still available. Each number that another customer of the carrier has taken is a
 * purchase of its own, which fails and releases its hold.
 */
async function buyOffered(
  deps: BuyNumberDeps,
  agent: Agent,
  { span, spender }: NumberBuyer,
  offers: readonly OfferedNumber[],
): Promise<{ readonly buying: PhoneNumber; readonly sold: CarrierNumber }> {
  let left = offers;
  for (let tries = PHONE_LIMITS.number.purchaseTries; ; tries--) {
    const buying = await takePlace(deps, agent, spender, left);
    span?.set({ 'svc.hold.id': buying.purchaseId });
    await holdFirstMonth(deps, buying, spender);
    const sold = await buyAtCarrier(deps, buying);
    if (sold !== undefined) return { buying, sold };
    const { phoneNumber } = buying;
    left = left.slice(left.findIndex((offer) => offer.phoneNumber === phoneNumber) + 1);
    if (tries > 1 && left.length > 0) continue;
    throw phoneErrors.noNumbersAvailable(`${phoneNumber} was sold to another customer just now.`);
  }
}

/** Throws when the agent has a number or is buying one: an agent has one number. */
async function requirePlace({ sql }: BuyNumberDeps, agentId: number): Promise<void> {
  const living = await findLiving(sql, agentId);
  if (living === undefined) return;
  if (living.status === 'buying') throw phoneErrors.numberBeingBought();
  throw phoneErrors.numberExists(numberRecord(living));
}

function requireReady({ status, walletAddress }: Agent): void {
  if (status === 'suspended' || status === 'closed') throw phoneErrors.agentUnavailable();
  if (status === 'pending_delegation' || walletAddress === null) throw phoneErrors.agentNotReady();
}

/**
 * Returns the numbers that the search offers. Only offered numbers are bought: a number that requires an address on file is
 * never offered.
 */
async function offersFor(
  deps: BuyNumberDeps,
  wanted: RequestedNumber,
  country: string,
): Promise<readonly OfferedNumber[]> {
  const offers = await searchNumbers(
    deps,
    wanted.kind === 'exact'
      ? { phoneNumber: wanted.phoneNumber, country }
      : { areaCode: wanted.areaCode },
  );
  if (offers.length > 0) return offers;
  throw phoneErrors.noNumbersAvailable(
    wanted.kind === 'exact'
      ? `${wanted.phoneNumber} is not for sale.`
      : `There is no number for sale in area code ${wanted.areaCode}.`,
  );
}

/** Reserves the agent's one number slot with the first offered number that no other agent has. */
async function takePlace(
  deps: BuyNumberDeps,
  agent: Agent,
  spender: Spender,
  offers: readonly OfferedNumber[],
): Promise<PhoneNumber> {
  const { sql, seller, random, rateCard, now } = deps;
  const purchaseId = newId(random, 'num_');
  for (const { phoneNumber } of offers) {
    const taken = await insertBuying(sql, {
      agentId: agent.id,
      accountId: agent.accountId,
      carrier: seller.name,
      phoneNumber,
      areaCode: areaCodeOf(phoneNumber),
      monthlyRentalRaw: rateCard.rentalRaw,
      purchaseId,
      keyId: spender.keyId ?? null,
      taskId: spender.taskId ?? null,
      actionId: spender.actionId ?? null,
      customerId: spender.customerId ?? null,
      createdAt: new Date(now()),
      dueAt: new Date(now() + PHONE_LIMITS.number.unfinishedMs),
    });
    if (taken !== undefined) return taken;
    await requirePlace(deps, agent.id);
  }
  throw phoneErrors.noNumbersAvailable('Every number that is for sale there is being bought.');
}

async function holdFirstMonth(
  { sql, ledger }: BuyNumberDeps,
  buying: PhoneNumber,
  spender: Spender,
): Promise<void> {
  const verdict = await ledger.hold({
    spender,
    holdId: buying.purchaseId,
    amountRaw: buying.monthlyRentalRaw,
    destination: RENTAL_DESTINATION,
  });
  if (verdict.kind === 'held') return;
  await deleteBuying(sql, buying.id);
  throw refusePurchase(verdict.refusal);
}

/**
 * Rents the number of a purchase at the carrier. Undefined when another customer has taken the number; the purchase is then
 * given up.
 */
async function buyAtCarrier(
  deps: BuyNumberDeps,
  buying: PhoneNumber,
): Promise<CarrierNumber | undefined> {
  const { seller, clock, log } = deps;
  const { id: numberId, phoneNumber, purchaseId } = buying;
  try {
    return await askCarrier(clock, seller.numbers.buy({ phoneNumber, purchaseId }));
  } catch (err) {
    if (!(err instanceof CarrierFailed)) throw err;
    log.warn({ err, numberId, kind: err.kind }, 'the carrier did not sell a number');
    if (err.kind === 'away') return requireSold(deps, buying);
    await giveUpPurchase(deps, buying, 'refused');
    if (err.kind === 'taken') return undefined;
    throw phoneErrors.provisioningFailed();
  }
}

/**
 * Returns the number of a purchase whose answer was lost. Throws when the carrier does not know the purchase yet; a worker
 * looks for it later.
 */
async function requireSold(
  { seller, clock, log }: BuyNumberDeps,
  { id: numberId, purchaseId }: PhoneNumber,
): Promise<CarrierNumber> {
  const look = askCarrier(clock, seller.numbers.findPurchase(purchaseId));
  const sold = await look.catch((err: unknown) => {
    if (!(err instanceof CarrierFailed)) throw err;
    log.warn({ err, numberId }, 'the carrier does not say whether it sold a number');
    return undefined;
  });
  if (sold === undefined) throw phoneErrors.provisioningUndecided();
  return sold;
}
