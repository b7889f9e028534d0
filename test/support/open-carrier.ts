import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import type { Carrier } from '../../src/phone/carriers/carrier.ts';
import { createTelnyx } from '../../src/phone/carriers/telnyx/telnyx.ts';
import { createTwilio } from '../../src/phone/carriers/twilio/twilio.ts';
import { createFetch } from '../../src/platform/egress/fetch.ts';
import { PUBLIC_URL, startCarrierEdge } from './carrier-edge.ts';
import type { CarrierSimOptions } from './carrier-sim/options.ts';
import type { SimCarrier } from './carrier-sim/serve-sim.ts';
import { type CarrierSim, startCarrierSim } from './carrier-sim/start-carrier-sim.ts';
import { startTelnyxSim, type TelnyxSim } from './carrier-sim/telnyx/start-telnyx-sim.ts';

export const OURS = '+14155550100';
export const THEIRS = '+14155550199';
const TELNYX_WEBHOOK = `${PUBLIC_URL}/v1/telephony/telnyx/voice`;
const DIAL = {
  callId: 'CAours',
  from: OURS,
  to: THEIRS,
  ringSeconds: 30,
  longestSeconds: 600,
  detectsMachine: false,
  awaitsGreetingEnd: false,
};

type Outbound = ReturnType<typeof createFetch>;

/** The client of a simulated Twilio. */
export const twilioOf = (sim: CarrierSim, { fetch, fetchStream }: Outbound): Carrier =>
  createTwilio({ ...sim, publicUrl: PUBLIC_URL, fetch, fetchStream });

/** The client of a simulated Telnyx. */
export const telnyxOf = (sim: TelnyxSim, { fetch, fetchStream }: Outbound): Carrier =>
  createTelnyx({ ...sim, publicUrl: PUBLIC_URL, fetch, fetchStream, clock: systemClock });

export const openTwilio = (options: CarrierSimOptions = {}) =>
  openCarrier((shared) => startCarrierSim({ ...shared, ...options }), twilioOf);

export const openTelnyx = (options: CarrierSimOptions & { readonly isLate?: boolean } = {}) =>
  openCarrier(
    (shared) => startTelnyxSim({ ...shared, webhookUrl: TELNYX_WEBHOOK, ...options }),
    telnyxOf,
  );

/** A simulated carrier, the server that it calls, and a number that this server has bought; until the test is over. */
async function openCarrier<Sim extends SimCarrier<{ readonly sid: string }, unknown>>(
  start: (shared: CarrierSimOptions) => Promise<Sim>,
  clientOf: (sim: Sim, outbound: Outbound) => Carrier,
) {
  const outbound = createFetch();
  const parts: { carrier?: Carrier } = {};
  const edge = await startCarrierEdge(() => parts.carrier as Carrier);
  const sim = await start({
    numbers: [OURS, '+14155550101', '+12125550100'],
    speed: 20,
    reach: edge.reach,
  });
  const carrier = clientOf(sim, outbound);
  parts.carrier = carrier;
  onTestFinished(async () => {
    await sim[Symbol.asyncDispose]();
    await edge[Symbol.asyncDispose]();
    await outbound.abort();
  });
  const calls: readonly Sim['calls'][number][] = sim.calls;
  const bought = await carrier.numbers.buy({ phoneNumber: OURS, purchaseId: 'purchase-1' });
  const placed = async (change: Partial<typeof DIAL> = {}) => {
    const { carrierCallId } = await carrier.calls.dial({ ...DIAL, ...change });
    const call = calls.find(({ sid }) => sid === carrierCallId);
    if (call === undefined) throw new Error('the carrier has no such call');
    return call;
  };
  const statuses = () =>
    edge.events.flatMap((event) => (event.kind === 'status' ? [event.status] : []));
  /** Sound of the far side, as the first stream brought it. */
  const heardHere = () =>
    (edge.streams[0]?.events ?? []).flatMap((e) => (e.kind === 'media' ? [e] : []));
  return { edge, sim, carrier, bought, outbound, placed, statuses, heardHere };
}
