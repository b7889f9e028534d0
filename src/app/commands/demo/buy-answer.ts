import { formatUsdc } from '../../../kernel/amount.ts';
import { type Clock, sleep } from '../../../kernel/clock.ts';
import type { PaymentStep } from '../../../payments/proxy/payment-steps.ts';
import { type Api, bearer } from './api.ts';
import type { Market } from './market.ts';

/** A step of a payment, and the time at which the server reached it. */
export type PassedStep = { readonly step: PaymentStep; readonly atMs: number };

export type Buyer = {
  readonly clock: Clock;
  readonly api: Api;
  readonly agentKey: string;
  readonly market: Market;
  /** Steps of the current payment so far. The list grows during the payment. */
  readonly passed: readonly PassedStep[];
  said(line: string): void;
};

type WalletBalance = {
  readonly address: string;
  readonly spendableRaw: bigint;
  /** Balance of the wallet on the chain. */
  readonly walletRaw: bigint;
};

type Reservation = {
  readonly nonce: string;
  readonly state: string;
  readonly terminal: boolean;
  readonly paymentAmountRaw: string;
  readonly txHash: string | null;
};

const DEPOSIT_RAW = 1_000_000n;
const WITHIN_MS = 10_000;
const POLL_MS = 20;
const ANSWER_CHARS = 30;

/** Steps of a payment, each with the state that its reservation then has, and a text for people. */
const LIFE: readonly (readonly [PaymentStep, string, string])[] = [
  ['reserved', 'reserved', 'held and signed; nothing of it has left'],
  ['sending', 'sent', 'the same request again, with the payment'],
  ['booked', 'pending_settlement', 'the vendor has answered; the chain has the last word'],
];

/**
 * Funds the agent's wallet on the chain, buys one answer from a vendor there, and prints each state of the payment until the
 * chain has settled it. Throws when price, balance and wallet do not agree to the raw unit.
 */
export async function buyAnswer(buyer: Buyer): Promise<void> {
  const { clock, api, agentKey, market, said } = buyer;
  await using stall = await market.openStall();
  said(`vendor:   ${stall.url}   [@x402/express]`);
  const before = await deposit(buyer);
  const askedMs = clock.monotonicMs();
  const print = (atMs: number, state: string, what: string) =>
    said(`${String(Math.round(atMs - askedMs)).padStart(6)} ms   ${state.padEnd(18)}   ${what}`);

  const answer = await api.call<object>('POST', '/v1/proxy/fetch', {
    headers: bearer(agentKey),
    body: { url: stall.url },
  });
  for (const [step, state, what] of LIFE) {
    // The vendor's answer may arrive before the server has recorded the state.
    const passed = await until(buyer, `the payment was never ${state}`, async () =>
      buyer.passed.find((each) => each.step === step),
    );
    print(passed.atMs, state, what);
  }
  const paid = await settled(buyer);
  print(clock.monotonicMs(), paid.state, `transaction ${short(paid.txHash ?? '')}`);

  const after = await walletBalanceOf(buyer);
  const amountRaw = BigInt(paid.paymentAmountRaw);
  said(`answered: ${JSON.stringify(answer).slice(0, ANSWER_CHARS)} …`);
  said(`paid:     ${formatUsdc(amountRaw)} USDC under nonce ${short(paid.nonce)}`);
  said(`balance:  ${formatUsdc(before.spendableRaw)} -> ${formatUsdc(after.spendableRaw)} USDC`);
  said(`wallet:   ${formatUsdc(before.walletRaw)} -> ${formatUsdc(after.walletRaw)} USDC on chain`);
  const fell = [before.spendableRaw - after.spendableRaw, before.walletRaw - after.walletRaw];
  if (fell.some((raw) => raw !== amountRaw)) {
    throw new Error('price, balance and wallet do not agree');
  }
}

/** Sends USDC to the wallet and waits until the server has credited the deposit. */
async function deposit(buyer: Buyer): Promise<WalletBalance> {
  const { market, said } = buyer;
  const { address, spendableRaw } = await walletBalanceOf(buyer);
  await market.fund(address, DEPOSIT_RAW);
  const funded = await until(buyer, 'the deposit was not credited', async () => {
    const balance = await walletBalanceOf(buyer);
    return balance.spendableRaw === spendableRaw + DEPOSIT_RAW ? balance : undefined;
  });
  said(`deposit:  ${formatUsdc(DEPOSIT_RAW)} USDC into the agent's wallet ${short(address)}`);
  return funded;
}

/**
 * Waits until the chain has decided the agent's one payment, and returns its reservation. Throws when the payment ended without
 * settlement.
 */
function settled(buyer: Buyer): Promise<Reservation> {
  const { api, agentKey } = buyer;
  const ask = <T>(path: string) => api.call<T>('GET', path, { headers: bearer(agentKey) });
  return until(buyer, 'the payment did not settle', async () => {
    const { transactions } = await ask<{ transactions: { nonce: string | null }[] }>(
      '/v1/agents/transactions?limit=1',
    );
    const nonce = transactions[0]?.nonce;
    const found = await ask<Reservation>(`/v1/agents/reservations/${nonce}`);
    if (found.terminal && found.state !== 'settled') throw new Error(`it is ${found.state}`);
    return found.terminal ? found : undefined;
  });
}

async function walletBalanceOf({ api, agentKey, market }: Buyer): Promise<WalletBalance> {
  const { managedWalletAddress: address, spendableRaw } = await api.call<{
    managedWalletAddress: string;
    spendableRaw: string;
  }>('GET', '/v1/agents/balance', { headers: bearer(agentKey) });
  return {
    address,
    spendableRaw: BigInt(spendableRaw),
    walletRaw: await market.walletRaw(address),
  };
}

async function until<T>(
  { clock }: Buyer,
  otherwise: string,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const endMs = clock.monotonicMs() + WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (clock.monotonicMs() > endMs) throw new Error(otherwise);
    await sleep(clock, POLL_MS);
  }
}

/** Shortens a hash or an address to its two ends, as block explorers do. */
const short = (hex: string): string => `${hex.slice(0, 8)}…${hex.slice(-4)}`;
