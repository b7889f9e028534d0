/**
 * The simulated carrier as a program: `node --import tsx test/support/carrier-sim-child.ts '{"numbers":["+14155550100"]}'`
 * prints where its API is, as one line of JSON, and runs until it is stopped. `/sim/…` steers it. With
 * `"carrier":"telnyx"` and the `webhookUrl` of its application it speaks as Telnyx, otherwise as Twilio.
 */
import { type CarrierSimOptions, SIM_ACCOUNT } from './carrier-sim/options.ts';
import { startCarrierSim } from './carrier-sim/start-carrier-sim.ts';
import { startTelnyxSim } from './carrier-sim/telnyx/start-telnyx-sim.ts';

type Options = CarrierSimOptions & { readonly carrier?: string; readonly webhookUrl?: string };

const options = JSON.parse(process.argv[2] ?? '{}') as Options;
const sim = options.carrier === 'telnyx' ? await telnyx() : await twilio();
process.stdout.write(`${JSON.stringify(sim.told)}\n`);
process.on('SIGTERM', () => {
  void sim.carrier[Symbol.asyncDispose]().then(() => process.exit(0));
});

async function twilio() {
  const carrier = await startCarrierSim(options);
  return { carrier, told: { ...SIM_ACCOUNT, ...options, baseUrl: carrier.baseUrl } };
}

async function telnyx() {
  const carrier = await startTelnyxSim({ webhookUrl: '', ...options });
  const { apiKey, baseUrl, connectionId, publicKey } = carrier;
  return { carrier, told: { ...options, apiKey, baseUrl, connectionId, publicKey } };
}
