import type { OutboundRequest } from '../../src/payments/proxy/outbound-request.ts';
import { type PaidAnswer, type PayDeps, payVendor } from '../../src/payments/proxy/pay-vendor.ts';
import type { Reserved } from '../../src/payments/proxy/reserve-payment.ts';
import { VENDOR_TIMES } from '../../src/payments/proxy/vendor-call.ts';
import type { ChainVerdict } from '../../src/payments/reconcile/judge-by-chain.ts';
import {
  type FakeAnswer,
  fakeAnswer,
  placeOf,
  type ScriptedAnswer,
  scriptedClient,
} from './fakes/scripted-client.ts';
import { logLines } from './log-lines.ts';
import { AGENT, PaymentBook, rest } from './payment-book.ts';
import { reservationOf } from './payments.ts';

const PLACE = placeOf('https://vendor.test/paid');
const REQUEST: OutboundRequest = {
  method: 'POST',
  headers: [['accept', 'text/plain']],
  body: '{"q":1}',
};
const HEADER = { name: 'X-PAYMENT', value: 'c2lnbmVk' };

/** A payment that is held, a vendor that takes its time and answers or fails, and a chain with one opinion. */
export function payWorld(
  script: ScriptedAnswer | Error = {},
  {
    verdict = { kind: 'undecided' },
    takesMs = 0,
  }: { verdict?: ChainVerdict; takesMs?: number } = {},
) {
  const book = new PaymentBook();
  const { log, lines } = logLines();
  const steps: string[] = [];
  const waits: number[] = [];
  const answers: FakeAnswer[] = [];
  const { client, sent } = scriptedClient({
    send() {
      book.clock.advance(takesMs);
      if (script instanceof Error) throw script;
      const answer = fakeAnswer(script);
      answers.push(answer);
      return answer;
    },
  });
  const deps: PayDeps = {
    ledger: book.ledger,
    reload: book.reload,
    client,
    clock: book.clock,
    log,
    times: VENDOR_TIMES,
    eventsOf: async () => [],
    judge: {
      wait: async (_, withinMs) => {
        waits.push(withinMs);
        return verdict;
      },
    },
    onStep: (step) => {
      steps.push(step);
      return undefined;
    },
  };

  /** Holds a payment that is good for 90 s by the clock. */
  async function reserve(valueRaw = 10_000n): Promise<Reserved> {
    const validBefore = Math.floor(book.clock.now() / 1_000) + 90;
    const reservation = reservationOf('p', { validBefore });
    const { targetHost: host, payee } = reservation;
    const spender = { agentId: AGENT, keyId: 1 };
    const held = await book.ledger.hold({
      spender,
      holdId: 'p',
      amountRaw: valueRaw,
      reservation,
      destination: { host, payee },
    });
    if (held.kind !== 'held') throw new Error('it was not held');
    return { row: book.row('p'), header: HEADER, held };
  }

  /** Resolves when the writes in the background are over, too. */
  async function pay(change: Partial<PayDeps> = {}): Promise<PaidAnswer> {
    const paid = await payVendor({ ...deps, ...change }, PLACE, REQUEST, await reserve());
    await rest(book);
    return paid;
  }

  return { book, lines, steps, waits, sent, answers, pay, header: HEADER };
}
