import { wholeAnswer } from './stream-upstream.ts';
import { streamWorld } from './stream-world.ts';

/** Keys of callers that a gateway refuses, each for a reason of its own. */
export const READER = `svc_${'b'.repeat(64)}`;
export const SUSPENDED = `svc_${'c'.repeat(64)}`;
export const PENNILESS = `svc_${'d'.repeat(64)}`;
/** Has money, and no other test's requests count at its rate limit. */
export const FLOODING = `svc_${'e'.repeat(64)}`;
export const PER_MINUTE = 30;

/** A gateway that knows them, before an upstream that answers. */
export async function refusingWorld() {
  const world = await streamWorld({
    credits: new Map([
      [4, 1n],
      [5, 100_000_000n],
    ]),
    others: new Map([
      [READER, { agentId: 1, keyId: 2, permission: 'read' }],
      [SUSPENDED, { agentId: 3, keyId: 3, status: 'suspended' }],
      [PENNILESS, { agentId: 4, keyId: 4 }],
      [FLOODING, { agentId: 5, keyId: 5 }],
    ]),
    rateLimits: { gatewayPerMinute: PER_MINUTE },
  });
  world.upstream.play(wholeAnswer({ content: 'Good morning.' }));
  return world;
}
