import { systemRandom } from '../../src/kernel/random.ts';
import type { PassthroughLine } from '../../src/payments/proxy/passthrough-store.ts';
import { createProxy, type ProxyCall, type ProxyDeps } from '../../src/payments/proxy/proxy.ts';
import { ProxyRequest } from '../../src/payments/proxy/proxy-request.ts';
import { refusePayment } from '../../src/payments/proxy/refuse-payment.ts';
import { VENDOR_TIMES } from '../../src/payments/proxy/vendor-call.ts';
import { createRememberedPrices } from '../../src/payments/quotes/remembered-prices.ts';
import { signHash } from '../../src/platform/chain/account.ts';
import type { BreakerVerdict } from '../../src/platform/chain/breaker.ts';
import {
  type Authorization,
  hashAuthorization,
  type TokenDomain,
  usdcDomain,
} from '../../src/x402/authorization.ts';
import { base64, entryV2, TERMS } from './challenges.ts';
import {
  type FakeAnswer,
  fakeAnswer,
  type ScriptedAnswer,
  type Sent,
  scriptedClient,
} from './fakes/scripted-client.ts';
import { logLines } from './log-lines.ts';
import { AGENT, PaymentBook, rest } from './payment-book.ts';
import { type StandingsWish, standingsReader, standingsWith } from './standings.ts';
import { testWallet } from './wallet.ts';

export const PAYER = testWallet('payer');

/** A demand of version 2 for one or more offers. */
export const demand = (...offers: readonly object[]): ScriptedAnswer => ({
  status: 402,
  headers: [
    ['payment-required', base64({ x402Version: 2, accepts: offers.map((each) => entryV2(each)) })],
  ],
  body: '{}',
});

const PAYMENTS = new Set(['x-payment', 'payment-signature']);

/** The payment that a request carries, as its vendor reads it. */
export function paymentIn({ request }: Sent) {
  const [found] = request.headers.filter(([name]) => PAYMENTS.has(name.toLowerCase()));
  return found && JSON.parse(Buffer.from(found[1], 'base64').toString('utf8'));
}

type Leg = ScriptedAnswer | Error | ((sent: Sent) => ScriptedAnswer | Promise<ScriptedAnswer>);

export type Vendor = {
  /** What it answers to a request without a payment, and to one with. */
  readonly unpaid?: Leg;
  readonly paid?: Leg;
};

/** The whole proxy before a vendor that does as it is told, over the real ledger in memory. */
export function proxyWorld({ unpaid = demand({}), paid = { body: 'bought' } }: Vendor = {}) {
  const book = new PaymentBook();
  const { log, lines } = logLines();
  const answers: FakeAnswer[] = [];
  const { client, opened, sent } = scriptedClient({
    async send(asked) {
      const stage = paymentIn(asked) === undefined ? unpaid : paid;
      if (stage instanceof Error) throw stage;
      const answer = fakeAnswer(typeof stage === 'function' ? await stage(asked) : stage);
      answers.push(answer);
      return answer;
    },
  });
  const steps: string[] = [];
  /** What calls were refused with, as the report of caps hears it. */
  const refusals: unknown[] = [];
  const passed: PassthroughLine[] = [];
  const signed: { reference: string; domain: TokenDomain; authorization: Authorization }[] = [];
  const state = {
    breaker: { kind: 'clear', reason: 0, reasonText: 'clear' } as BreakerVerdict,
    spendState: {
      rules: { walletAddress: PAYER.address },
      spendableRaw: 1_000_000n,
    } as StandingsWish,
    remembered: undefined as StandingsWish | undefined,
    advisory: undefined as string | undefined,
    signing: undefined as Error | undefined,
  };
  const deps: ProxyDeps = {
    ledger: book.ledger,
    reload: book.reload,
    client,
    clock: book.clock,
    log,
    random: systemRandom,
    times: VENDOR_TIMES,
    terms: TERMS,
    validBeforeSeconds: 90,
    domain: usdcDomain(TERMS.usdc),
    eventsOf: async () => [],
    refusalOfHold: refusePayment,
    breaker: { check: () => state.breaker },
    wallets: {
      async signTransfer(reference, domain, authorization) {
        if (state.signing !== undefined) throw state.signing;
        signed.push({ reference, domain, authorization });
        const privateKey = Buffer.from(PAYER.privateKey.slice(2), 'hex');
        return signHash(await hashAuthorization(domain, authorization), privateKey);
      },
    },
    spendState: {
      read: (id) => standingsReader(standingsWith(state.spendState)).read(id),
      recall: () => state.remembered && standingsWith(state.remembered),
    },
    budgets: { left: async () => ({ remainingRaw: 1n, advisory: state.advisory }) },
    passthroughs: { add: (line) => void passed.push(line), flush: async () => {} },
    reportCapHit: async (_, refusal) => void refusals.push(refusal),
    marketplace: undefined,
    callsPerMinute: 3_000,
    prices: createRememberedPrices(),
    judge: { wait: async () => ({ kind: 'undecided' }) },
    onStep: (step) => {
      steps.push(step);
      return undefined;
    },
  };
  const leaving = new AbortController();

  /** One call of the agent, whose client may leave. Resolves when the writes in the background are over, too. */
  const send = async (
    { workId, ...request }: Partial<ProxyRequest> & Pick<Partial<ProxyCall>, 'workId'> = {},
    change: Partial<ProxyDeps> = {},
  ) => {
    const answer = await createProxy({ ...deps, ...change }).send({
      spender: { agentId: AGENT, keyId: 1, keyRootId: 1 },
      request: ProxyRequest.parse({ url: 'https://vendor.test/paid', ...request }),
      workId,
      signal: leaving.signal,
    });
    await rest(book);
    return answer;
  };

  return {
    book,
    deps,
    state,
    lines,
    steps,
    passed,
    signed,
    opened,
    sent,
    answers,
    send,
    /** The client is gone. */
    leave: () => leaving.abort(),
    /** The one payment of this world. */
    row() {
      const [row, ...others] = book.rows(() => true);
      if (row === undefined || others.length > 0) throw new Error('there is not one payment');
      return row;
    },
  };
}
