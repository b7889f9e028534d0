/**
 * The server as an operator has it, in a process that stops where it is told to, on the database of its argument if it
 * has one. What others find out by waiting for a lease they find out sooner, and one developer may have many agents.
 */

import type { PaymentStep } from '../../src/payments/proxy/payment-steps.ts';
import type { DatabaseTarget } from '../../src/platform/postgres/sql.ts';
import type { SessionStep } from '../../src/voice/live/session-steps.ts';

export type Step = PaymentStep | SessionStep;

export type ChildOrder =
  /** Calls or sessions stay at this step; the last of them ends the process on the spot, or says that they all stand there. */
  | {
      readonly kind: 'hold';
      readonly step: Step;
      readonly count: number;
      readonly last: 'dies' | 'tells';
      /** Where those wait that come by here first, or meanwhile. */
      readonly meanwhile?: Step;
      /** How many of those that stand somewhere by now go on, in the order in which they came; all by default. */
      readonly letting?: number;
    }
  | { readonly kind: 'go' };

export type ChildWord =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'held' };

/** A vendor that says nothing is given up before a test is. */
const VENDOR_TIMES = { unpaidMs: 10_000, paidMs: 10_000, idleMs: 10_000 };

const { ACCOUNT_LIMITS } = await import('../../src/accounts/limits.ts');
const { LEDGER_LIMITS } = await import('../../src/ledger/engine/limits.ts');
const { PHONE_LIMITS } = await import('../../src/phone/limits.ts');
const { RATE_LIMITS } = await import('../../src/rate-limit/limits.ts');
Object.assign(LEDGER_LIMITS.lease, { lifeMs: 2_000, renewMs: 500, answerMs: 400 });
Object.assign(ACCOUNT_LIMITS.agent, { perDeveloper: 1_000 });
Object.assign(RATE_LIMITS.usual, { developerKeyPerMinute: 100_000 });
Object.assign(PHONE_LIMITS.number, { renewEveryMs: 500, carrierMs: 60_000 });
Object.assign(PHONE_LIMITS.carrier, { timeoutMs: 60_000 });
Object.assign(PHONE_LIMITS.batch, { lostMs: 2_000, claimMs: 1_000 });
const { readConfig, readSecret } = await import('../../src/config/config.ts');
const { systemClock: clock } = await import('../../src/kernel/clock.ts');
const { createLog } = await import('../../src/kernel/log.ts');
const { systemRandom: random } = await import('../../src/kernel/random.ts');
const { completeSettings } = await import('../../src/app/local-secrets.ts');
const { startServer } = await import('../../src/app/server.ts');

let order: Extract<ChildOrder, { kind: 'hold' }> | undefined;
let arrived = 0;
const held: (() => void)[] = [];
const say = (word: ChildWord) => process.send?.(word);

function onStep(step: Step): Promise<void> | undefined {
  if (order?.meanwhile === step) return stay();
  if (order?.step !== step) return undefined;
  arrived++;
  if (arrived === order.count) {
    if (order.last === 'dies') process.kill(process.pid, 'SIGKILL');
    say({ kind: 'held' });
  }
  return stay();
}

const stay = () => new Promise<void>((resolve) => held.push(resolve));

process.on('message', (given: ChildOrder) => {
  order = given.kind === 'hold' ? given : undefined;
  arrived = 0;
  for (const letGo of held.splice(0, order?.letting ?? held.length)) letGo();
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const [, , place] = process.argv;
const config = readConfig();
const { settings } = completeSettings(config, random);
const log = createLog(config.logLevel);
const server = await startServer({
  settings,
  clock,
  random,
  log,
  secret: readSecret,
  port: 0,
  onPaymentStep: onStep,
  onSessionStep: onStep,
  vendorTimes: VENDOR_TIMES,
  ...(place !== undefined && { database: JSON.parse(place) as DatabaseTarget }),
});
// What the public reaches under another name is reached here by its port.
const url = settings.publicUrl === undefined ? server.url : `http://127.0.0.1:${server.port}`;
say({ kind: 'listening', url });
