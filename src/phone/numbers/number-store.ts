import type { NumberStatus } from '../../../machines/phone-number.ts';
import type { AgentStatus } from '../../accounts/agents/agent.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { SpendFacts } from '../../policy/policy.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { PhoneNumber, PurchaseTags } from './number.ts';

/** Columns of a number in a query of `phone_numbers n`. */
export const numberColumns = (sql: Queryable) => sql`
  n.id, n.agent_id as "agentId", n.account_id as "accountId",
  (select a.wallet_address from agents a where a.id = n.agent_id) as "agentWallet",
  n.carrier, n.carrier_number_id as "carrierNumberId", n.phone_number as "phoneNumber",
  n.area_code as "areaCode", n.status, n.monthly_rental_raw as "monthlyRentalRaw",
  n.purchase_id as "purchaseId", n.key_id as "keyId", n.task_id as "taskId",
  n.action_id as "actionId", n.customer_id as "customerId", n.paid_months as "paidMonths",
  n.next_renewal_at as "nextRenewalAt", n.grace_until as "graceUntil",
  n.released_at as "releasedAt", n.release_reason as "releaseReason", n.created_at as "createdAt"`;

/** Returns the agent's one number, which may still be in purchase. */
export async function findLiving(
  sql: Queryable,
  agentId: number,
): Promise<PhoneNumber | undefined> {
  const [row] = await sql<PhoneNumber[]>`
    select ${numberColumns(sql)} from phone_numbers n
    where n.agent_id = ${agentId} and n.status in ('buying', 'active', 'grace')`;
  return row;
}

/** Returns the agent's one number, as `findLiving` does, and locks its row until the sql transaction ends. */
export async function lockLiving(tx: Queryable, agentId: number): Promise<PhoneNumber | undefined> {
  const [row] = await tx<PhoneNumber[]>`
    select ${numberColumns(tx)} from phone_numbers n
    where n.agent_id = ${agentId} and n.status in ('buying', 'active', 'grace')
    for update of n`;
  return row;
}

/** Returns a number that the agent has bought. */
export async function findNumber(
  sql: Queryable,
  ref: { readonly agentId: number; readonly id: number },
): Promise<PhoneNumber | undefined> {
  const [row] = await sql<PhoneNumber[]>`
    select ${numberColumns(sql)} from phone_numbers n
    where n.id = ${ref.id} and n.agent_id = ${ref.agentId}
      and n.status in ('active', 'grace', 'released')`;
  return row;
}

/** Returns a number by its id alone, and locks its row until the sql transaction ends. */
export async function lockNumber(tx: Queryable, id: number): Promise<PhoneNumber | undefined> {
  const [row] = await tx<PhoneNumber[]>`
    select ${numberColumns(tx)} from phone_numbers n where n.id = ${id} for update of n`;
  return row;
}

/** Returns true while a number waits for the payment of the month after its `paidMonths`. */
export async function isRented(
  sql: Queryable,
  { id, paidMonths }: Pick<PhoneNumber, 'id' | 'paidMonths'>,
): Promise<boolean> {
  const rows = await sql`
    select 1 from phone_numbers
    where id = ${id} and paid_months = ${paidMonths} and status in ('active', 'grace')`;
  return rows.length > 0;
}

/** Returns all numbers that an agent has bought, newest first. */
export async function findNumbers(sql: Queryable, agentId: number): Promise<PhoneNumber[]> {
  return sql<PhoneNumber[]>`
    select ${numberColumns(sql)} from phone_numbers n
    where n.agent_id = ${agentId} and n.status in ('active', 'grace', 'released')
    order by n.id desc limit ${PHONE_LIMITS.number.listed}`;
}

export type NewPurchase = Pick<
  PhoneNumber,
  | 'agentId'
  | 'accountId'
  | 'carrier'
  | 'phoneNumber'
  | 'areaCode'
  | 'monthlyRentalRaw'
  | 'purchaseId'
  | 'createdAt'
  | keyof PurchaseTags
> & { readonly dueAt: Date };

/** Begins a purchase. Undefined when the agent has a number, or another agent has this number: the unique indexes decide. */
export async function insertBuying(
  sql: Queryable,
  wanted: NewPurchase,
): Promise<PhoneNumber | undefined> {
  const [row] = await sql<PhoneNumber[]>`
    insert into phone_numbers as n (agent_id, account_id, carrier, phone_number, area_code, status,
      monthly_rental_raw, purchase_id, key_id, task_id, action_id, customer_id, due_at, created_at)
    values (${wanted.agentId}, ${wanted.accountId}, ${wanted.carrier}, ${wanted.phoneNumber},
      ${wanted.areaCode}, 'buying', ${wanted.monthlyRentalRaw.toString()}::bigint,
      ${wanted.purchaseId}, ${wanted.keyId}, ${wanted.taskId}, ${wanted.actionId},
      ${wanted.customerId}, ${wanted.dueAt}, ${wanted.createdAt})
    on conflict do nothing
    returning ${numberColumns(sql)}`;
  return row;
}

/** Deletes a purchase whose first month was never held: no request was sent to its carrier. */
export async function deleteBuying(sql: Queryable, id: number): Promise<void> {
  await sql`delete from phone_numbers where id = ${id} and status = 'buying'`;
}

/** Stores the carrier's id of a purchased number. Returns false when the purchase was given up meanwhile. */
export async function saveSold(
  sql: Queryable,
  id: number,
  carrierNumberId: string,
  dueAt: Date,
): Promise<boolean> {
  const rows = await sql`
    update phone_numbers set carrier_number_id = ${carrierNumberId}, due_at = ${dueAt}
    where id = ${id} and status = 'buying' returning 1 as one`;
  return rows.length > 0;
}

/** Gives up a purchase without a number id of the carrier. Returns false when the carrier has sold the number meanwhile. */
export async function saveUnsold(sql: Queryable, id: number, dueAt: Date): Promise<boolean> {
  const rows = await sql`
    update phone_numbers set status = 'failed', due_at = ${dueAt}
    where id = ${id} and status = 'buying' and carrier_number_id is null returning 1 as one`;
  return rows.length > 0;
}

/** Columns that a change of status also writes. Absent columns keep their values. */
export type NumberChange = Partial<
  Pick<PhoneNumber, 'paidMonths' | 'nextRenewalAt' | 'graceUntil' | 'releasedAt' | 'releaseReason'>
> & { readonly dueAt: Date | null };

/** Changes the status of a number. Undefined when the number has changed since it was read. */
export async function saveMove(
  tx: Queryable,
  read: PhoneNumber,
  to: NumberStatus,
  change: NumberChange,
): Promise<PhoneNumber | undefined> {
  const next = { ...read, ...change };
  const [row] = await tx<PhoneNumber[]>`
    update phone_numbers n
    set status = ${to}, paid_months = ${next.paidMonths}, next_renewal_at = ${next.nextRenewalAt},
      grace_until = ${next.graceUntil}, released_at = ${next.releasedAt},
      release_reason = ${next.releaseReason}, due_at = ${change.dueAt}
    where n.id = ${read.id} and n.status = ${read.status} and n.paid_months = ${read.paidMonths}
    returning ${numberColumns(tx)}`;
  return row;
}

/** Stores the time at which a worker handles a number next. Null: never again. */
export async function saveDue(
  sql: Queryable,
  { id, status }: Pick<PhoneNumber, 'id' | 'status'>,
  dueAt: Date | null,
): Promise<void> {
  await sql`update phone_numbers set due_at = ${dueAt} where id = ${id} and status = ${status}`;
}

/** Marks a number as returned to the carrier. */
export async function saveReturned(
  sql: Queryable,
  id: number,
  carrierNumberId: string | null,
  at: Date,
): Promise<void> {
  await sql`
    update phone_numbers
    set carrier_number_id = ${carrierNumberId}, returned_at = ${at}, due_at = null
    where id = ${id} and status in ('released', 'failed')`;
}

/**
 * Returns the status of an agent, and locks it until the sql transaction ends. The lock is taken before the number's lock, as a
 * close does.
 */
export async function shareAgentStatus(tx: Queryable, agentId: number): Promise<AgentStatus> {
  const [row] = await tx<{ status: AgentStatus }[]>`
    select status from agents where id = ${agentId} for share`;
  return row?.status ?? 'closed';
}

/** Reads the facts by which caps match an open hold; undefined: the hold is resolved, or was never opened. */
export async function findHoldFacts(
  sql: Queryable,
  holdId: string,
): Promise<SpendFacts | undefined> {
  const [row] = await sql<SpendFacts[]>`
    select key_root_id as "keyRootId", task_id as "taskId", host, payee from holds
    where id = ${holdId}`;
  return row;
}

/** Returns the given numbers that agents rent now or are buying. */
export async function findRented(
  sql: Queryable,
  phoneNumbers: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ phone_number: string }[]>`
    select phone_number from phone_numbers
    where phone_number = any (${phoneNumbers as string[]}::text[])
      and status in ('buying', 'active', 'grace')`;
  return rows.map((row) => row.phone_number);
}

/** Returns the status of the present purchase or rental of a number. Undefined when no agent rents or buys the number. */
export async function findLivingStatus(
  sql: Queryable,
  phoneNumber: string,
): Promise<NumberStatus | undefined> {
  const [row] = await sql<{ status: NumberStatus }[]>`
    select status from phone_numbers
    where phone_number = ${phoneNumber} and status in ('buying', 'active', 'grace')`;
  return row?.status;
}
