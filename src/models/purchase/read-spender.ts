import { BRAND } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import { readAttribution } from './attribution.ts';

const TASK_VALUE = `${BRAND.headerPrefix}task-value`;

type SpendingCaller = Pick<Required<Spender>, 'agentId' | 'accountId' | 'keyId' | 'keyRootId'> & {
  readonly spender?: Spender;
};

/** Who spends with a call: the caller, and what its headers say that the call is for. */
export function readSpender(caller: SpendingCaller, headers: ReadonlyMap<string, string>): Spender {
  if (caller.spender !== undefined) return caller.spender;
  const { accountId, agentId, keyId, keyRootId } = caller;
  const taskValueBps = readTaskValue(headers.get(TASK_VALUE));
  return {
    agentId,
    accountId,
    keyId,
    keyRootId,
    ...(taskValueBps !== undefined && { taskValueBps }),
    ...readAttribution(headers),
  };
}

/** What the task is worth, 10000 being once. Anything but a whole number in bounds reads as absent. */
function readTaskValue(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,6}$/.test(text)) return undefined;
  const value = Number(text);
  const { min, max } = LIMITS.taskValueBps;
  return value >= min && value <= max ? value : undefined;
}
