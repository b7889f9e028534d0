import { type Random, randomHex } from '../../../kernel/random.ts';
import type { CallParties } from '../call-parties.ts';

export type RelayCall = CallParties & {
  readonly agentId: number;
  /** Address of the application: `wss:`, or `ws:` for hosts that the guard permits for plain HTTP. */
  readonly url: string;
};

/** Returns the first message to an application: the facts of the call under Twilio's names. */
export function relaySetup(
  { callId, direction, from, to, variables = {} }: RelayCall,
  random: Random,
): object {
  return {
    type: 'setup',
    sessionId: `VX${randomHex(random, 16)}`,
    accountSid: '',
    parentCallSid: '',
    callSid: callId,
    from,
    to,
    forwardedFrom: '',
    callType: 'PSTN',
    callerName: '',
    direction: direction === 'inbound' ? 'inbound' : 'outbound-api',
    callStatus: 'IN-PROGRESS',
    customParameters: Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, String(value)]),
    ),
  };
}
