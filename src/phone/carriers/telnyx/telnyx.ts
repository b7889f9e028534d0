import type { Clock } from '../../../kernel/clock.ts';
import type { Fetch, FetchStream } from '../../../platform/egress/fetch.ts';
import type { Carrier } from '../carrier.ts';
import { createTelnyxApi, type TelnyxAccount } from './api.ts';
import { createTelnyxCallbacks } from './callbacks.ts';
import { createTelnyxCalls } from './calls.ts';
import { hooksOf } from './hooks.ts';
import { createTelnyxMediaCodec } from './media-codec.ts';
import { createTelnyxNumbers } from './numbers.ts';
import { createTelnyxRecordings } from './recordings.ts';
import { telnyxPublicKey } from './signature.ts';

/**
 * Creates Telnyx as the carrier, with its Call Control API. Throws when the public key is invalid. Incoming calls need
 * `…/v1/telephony/telnyx/voice` as the webhook of the application `connectionId`.
 */
export function createTelnyx(
  deps: TelnyxAccount & {
    /** Public key of the signatures of callbacks, in base64. */
    readonly publicKey: string;
    readonly connectionId: string;
    readonly fetch: Fetch;
    readonly fetchStream: FetchStream;
    readonly clock: Clock;
    readonly publicUrl: string;
  },
): Carrier {
  const { clock, connectionId } = deps;
  const hooks = hooksOf(deps);
  const api = createTelnyxApi(deps);
  const publicKey = telnyxPublicKey(deps.publicKey);
  return {
    name: 'telnyx',
    numbers: createTelnyxNumbers({ api, clock, connectionId }),
    calls: {
      ...createTelnyxCalls({ api, hooks, connectionId }),
      ...createTelnyxRecordings({ ...deps, api }),
    },
    callbacks: createTelnyxCallbacks({ api, hooks, publicKey, clock }),
    openMedia: createTelnyxMediaCodec,
  };
}
