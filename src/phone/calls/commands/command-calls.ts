import type { Worker } from '../../../kernel/schedule.ts';
import { E164 } from '../../e164.ts';
import { phoneErrors } from '../../errors.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { type Call, hasOwnResponder } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import { addCommand, takeCommands } from './command-store.ts';
import type { LiveCommand } from './live-command.ts';

const { perCall, pollMs } = PHONE_LIMITS.commands;

/**
 * Has a live call carry a command out, at whichever process it is. Throws the refusal of a command that cannot be, before
 * anything is written. It is carried out once at most: a call that ends before leaves it undone.
 */
export async function commandCall(
  deps: CallDeps,
  call: Call,
  { command, workId }: { readonly command: LiveCommand; readonly workId: string | undefined },
): Promise<void> {
  const { callId, options, status } = call;
  if (status === 'pending' && !call.terminal) throw phoneErrors.callNotAnswered();
  if (status !== 'in_progress') throw phoneErrors.callOver();
  if (command.kind === 'inject' && hasOwnResponder(options.voice)) {
    throw phoneErrors.injectUnavailable();
  }
  if (command.kind === 'transfer') await requireTarget(deps, call, command.to);
  if (!(await addCommand(deps.sql, callId, { command, most: perCall, workId }))) {
    throw phoneErrors.commandLimit(perCall);
  }
  if (deps.live.has(callId)) await obeyCommands(deps, [callId]);
}

async function requireTarget(
  deps: Pick<CallDeps, 'refusalOf'>,
  { accountId }: Call,
  to: string,
): Promise<void> {
  if (!E164.test(to))
    throw phoneErrors.invalidTransfer('must be a number with its country, such as +14155550100');
  const refusal = await deps.refusalOf(to, accountId);
  if (refusal !== undefined) throw phoneErrors.invalidTransfer(refusal.message);
}

/** Carries out the waiting commands of these calls of this process. */
async function obeyCommands(
  { live, log, sql }: Pick<CallDeps, 'live' | 'log' | 'sql'>,
  callIds: readonly string[],
): Promise<void> {
  for (const { callId, command } of await takeCommands(sql, callIds)) {
    try {
      live.get(callId)?.commands.obey(command);
    } catch (err) {
      log.error({ err, callId, command: command.kind }, 'a command of a call failed');
    }
  }
}

/** Looks for commands that came to other processes. */
export const createCommandTaker = (deps: Pick<CallDeps, 'live' | 'log' | 'sql'>): Worker => ({
  name: 'take-call-commands',
  everyMs: pollMs,
  async tick() {
    if (deps.live.size > 0) await obeyCommands(deps, [...deps.live.keys()]);
  },
});
