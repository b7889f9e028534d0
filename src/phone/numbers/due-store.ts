import type { Queryable } from '../../platform/postgres/sql.ts';
import type { CarrierName } from '../carriers/carrier.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { PhoneNumber } from './number.ts';
import { numberColumns } from './number-store.ts';

export type NumberClaim = {
  readonly carrier: CarrierName;
  readonly now: Date;
  /** End of the claim: no other process takes the number before then, and any may after, should this process die. */
  readonly leasedUntil: Date;
};

/** Claims numbers whose work at a carrier is due, the longest due first, up to `PHONE_LIMITS.worker.duePerPass`. */
export async function claimDue(sql: Queryable, claim: NumberClaim): Promise<PhoneNumber[]> {
  return sql<PhoneNumber[]>`
    with due as (
      select id from phone_numbers
      where due_at <= ${claim.now} and carrier = ${claim.carrier}
      order by due_at limit ${PHONE_LIMITS.worker.duePerPass}
      for update skip locked)
    update phone_numbers n set due_at = ${claim.leasedUntil}
    from due where n.id = due.id
    returning ${numberColumns(sql)}`;
}

/**
 * Claims numbers with an overdue rental whose active agent has enough money now, because money came in, a cap has an amount
 * left again, or the agent was resumed. Reads only numbers that are due within the retry interval, as every overdue number is.
 */
export async function claimPayable(sql: Queryable, claim: NumberClaim): Promise<PhoneNumber[]> {
  const retryBy = new Date(claim.now.getTime() + PHONE_LIMITS.number.rentalRetryMs);
  return sql<PhoneNumber[]>`
    with payable as (
      select n.id from phone_numbers n
      join agents a on a.id = n.agent_id
      join agent_funds f on f.agent_id = n.agent_id
      where n.due_at > ${claim.leasedUntil} and n.due_at <= ${retryBy}
        and n.carrier = ${claim.carrier} and n.status in ('active', 'grace')
        and n.next_renewal_at <= ${claim.now}
        and a.status = 'active' and f.spendable_raw >= n.monthly_rental_raw
      order by n.due_at limit ${PHONE_LIMITS.worker.duePerPass}
      for update of n skip locked)
    update phone_numbers n set due_at = ${claim.leasedUntil}
    from payable where n.id = payable.id
    returning ${numberColumns(sql)}`;
}
