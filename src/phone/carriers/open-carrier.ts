import { assert, unreachable } from '../../kernel/assert.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Fetch, FetchStream } from '../../platform/egress/fetch.ts';
import type { Carrier, CarrierName } from './carrier.ts';
import { createTelnyx } from './telnyx/telnyx.ts';
import { createTwilio } from './twilio/twilio.ts';

/** Settings of the carrier, from `config.phone`. */
export type CarrierSettings = {
  readonly carrier: CarrierName | 'none';
  readonly twilio:
    | { readonly accountSid: string; readonly authToken: string; readonly baseUrl: string }
    | undefined;
  readonly telnyx:
    | {
        readonly apiKey: string;
        readonly publicKey: string;
        readonly connectionId: string;
        readonly baseUrl: string;
      }
    | undefined;
};

/** Opens the carrier that the settings name. Returns undefined when there is no phone service. */
export function openCarrier(
  settings: CarrierSettings,
  deps: {
    readonly fetch: Fetch;
    readonly fetchStream: FetchStream;
    readonly clock: Clock;
    /** Public origin at which carriers call this server. */
    readonly publicUrl: string | undefined;
    /** Creates the simulated carrier inside this process. */
    readonly loopback?: (() => Carrier) | undefined;
  },
): Carrier | undefined {
  const { carrier, twilio, telnyx } = settings;
  const { fetch, fetchStream, clock, publicUrl } = deps;
  switch (carrier) {
    case 'none':
      return undefined;
    case 'loopback':
      return deps.loopback?.();
    case 'twilio':
      assert(twilio !== undefined && publicUrl !== undefined, 'the settings were checked');
      return createTwilio({ ...twilio, fetch, fetchStream, publicUrl });
    case 'telnyx':
      assert(telnyx !== undefined && publicUrl !== undefined, 'the settings were checked');
      return createTelnyx({ ...telnyx, fetch, fetchStream, clock, publicUrl });
    default:
      return unreachable(carrier);
  }
}
