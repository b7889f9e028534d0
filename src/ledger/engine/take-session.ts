import type { Sql } from '../../platform/postgres/sql.ts';
import type { Node } from '../rules/node.ts';
import type { TakenSession } from '../rules/requests.ts';
import { claimSession, findHold, readJournal } from '../store/orphan-store.ts';

/**
 * Takes over an open session that another process may still run, and returns it. The session gets a new epoch, so the ledger
 * refuses every later write of the other process. Undefined when the session has ended or does not exist.
 */
export type TakeSession = (sessionId: string) => Promise<TakenSession | undefined>;

/** Returns the usage in a session's journal. The session's process may still add to it. */
export const usageOfSession = async (
  sql: Sql,
  sessionId: string,
): Promise<Readonly<Record<string, number>>> => (await readJournal(sql, sessionId)).usage;

export const createTakeSession =
  ({ sql, node }: { readonly sql: Sql; readonly node: Node }): TakeSession =>
  async (sessionId) => {
    const claimed = await claimSession(sql, node, sessionId);
    if (claimed === undefined) return undefined;
    const { epoch, key_id: keyId } = claimed;
    const hold = await findHold(sql, sessionId);
    if (hold === undefined) return undefined;
    // The journal is read after the claim, because from then on the former process cannot append to it.
    const { costRaw, usage, seq } = await readJournal(sql, sessionId);
    const claim = { sessionId, epoch, hold, ...(keyId !== null && { keyId }) };
    return { claim, spentRaw: costRaw, usage, seq };
  };
