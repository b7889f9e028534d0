import { BRAND } from '../../kernel/ids.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import { SPEND_LIMITS } from '../../spend/limits.ts';
import { readAttribution } from './attribution.ts';

const TASK_VALUE = `${BRAND.headerPrefix}task-value`;

type SpendingCaller = Pick<Required<Spender>, 'agentId' | 'accountId' | 'keyId' | 'keyRootId'> & {
  readonly spender?: Spender;
};

/** Reads the spender of a call: the caller, and the tags of its headers. */
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

/**
 * Reads the value of the task in basis points: 10000 is the usual value. Anything but a whole number in bounds reads as absent.
 */
function readTaskValue(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,6}$/.test(text)) return undefined;
  const value = Number(text);
  const { min, max } = SPEND_LIMITS.tag.valueBps;
  return value >= min && value <= max ? value : undefined;
}
