import type { Fetch, FetchStream } from '../../../platform/egress/fetch.ts';
import type { Carrier } from '../carrier.ts';
import { createTwilioApi, type TwilioAccount } from './api.ts';
import { createTwilioCallbacks } from './callbacks.ts';
import { createTwilioCalls } from './calls.ts';
import { hooksOf } from './hooks.ts';
import { createTwilioMediaCodec } from './media-codec.ts';
import { createTwilioNumbers } from './numbers.ts';
import { createTwilioRecordings } from './recordings.ts';
import { setUsageTrigger } from './usage-trigger.ts';

/** Creates Twilio as the carrier. All its callbacks go to paths of this server's public origin. */
export function createTwilio(
  deps: TwilioAccount & {
    readonly fetch: Fetch;
    readonly fetchStream: FetchStream;
    readonly publicUrl: string;
  },
): Carrier {
  const hooks = hooksOf(deps.publicUrl);
  const api = createTwilioApi(deps);
  return {
    name: 'twilio',
    numbers: createTwilioNumbers({ api, hooks }),
    calls: {
      ...createTwilioCalls({ api, hooks }),
      ...createTwilioRecordings({ ...deps, api, hooks }),
    },
    callbacks: createTwilioCallbacks({ authToken: deps.authToken, hooks }),
    openMedia: createTwilioMediaCodec,
    watchSpend: (thresholdUsd) => setUsageTrigger({ api, hooks }, thresholdUsd),
  };
}
