import { onTestFinished } from 'vitest';
import type { Carrier } from '../../src/phone/carriers/carrier.ts';
import { createTwilio } from '../../src/phone/carriers/twilio/twilio.ts';
import { createFetch } from '../../src/platform/egress/fetch.ts';
import { PUBLIC_URL, startCarrierEdge } from './carrier-edge.ts';
import type { CarrierSimOptions } from './carrier-sim/options.ts';
import { startCarrierSim } from './carrier-sim/start-carrier-sim.ts';

export const OURS = '+14155550100';
export const THEIRS = '+14155550199';
export const DIAL = {
  callId: 'CAours',
  from: OURS,
  to: THEIRS,
  ringSeconds: 30,
  longestSeconds: 600,
  detectsMachine: false,
  awaitsGreetingEnd: false,
};

/** A simulated carrier, the server that it calls, and a number that this server has bought; until the test is over. */
export async function openCarrier(options: CarrierSimOptions = {}) {
  const outbound = createFetch();
  const parts: { carrier?: Carrier } = {};
  const edge = await startCarrierEdge(() => parts.carrier as Carrier);
  const sim = await startCarrierSim({
    numbers: [OURS, '+14155550101', '+12125550100'],
    speed: 20,
    reach: edge.reach,
    ...options,
  });
  const carrier = createTwilio({
    accountSid: sim.accountSid,
    authToken: sim.authToken,
    baseUrl: sim.baseUrl,
    publicUrl: PUBLIC_URL,
    ...outbound,
  });
  parts.carrier = carrier;
  onTestFinished(async () => {
    await sim[Symbol.asyncDispose]();
    await edge[Symbol.asyncDispose]();
    await outbound.abort();
  });
  const bought = await carrier.numbers.buy({ phoneNumber: OURS, purchaseId: 'purchase-1' });
  const placed = async (change: Partial<typeof DIAL> = {}) => {
    const { carrierCallId } = await carrier.calls.dial({ ...DIAL, ...change });
    const call = sim.calls.find(({ sid }) => sid === carrierCallId);
    if (call === undefined) throw new Error('the carrier has no such call');
    return call;
  };
  const statuses = () =>
    edge.events.flatMap((event) => (event.kind === 'status' ? [event.status] : []));
  return { edge, sim, carrier, bought, outbound, placed, statuses };
}
