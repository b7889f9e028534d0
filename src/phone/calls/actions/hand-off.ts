import { within } from '../../../kernel/clock.ts';
import type { Call } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import type { CallMoney } from '../call-money.ts';
import { noteHandoff } from './action-store.ts';

/** Milliseconds that the end of a call waits for its handoff data to be written. */
const KEEP_MS = 2_000;

/** Stores the handoff data that the responder leaves for the developer, for the call and its `call.ended`. Never rejects. */
export async function handOff(
  { clock, log, sql }: Pick<CallDeps, 'clock' | 'log' | 'sql'>,
  { callId }: Pick<Call, 'callId'>,
  money: Pick<CallMoney, 'handedOff'>,
  data: string,
): Promise<void> {
  money.handedOff(data);
  const failed = (err?: unknown) =>
    log.warn({ err, callId }, 'the handoff data of a call was not kept');
  await within(clock, KEEP_MS, noteHandoff(sql, callId, data).catch(failed), failed);
}
