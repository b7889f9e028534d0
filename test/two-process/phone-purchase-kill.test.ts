import { expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { carrierProcesses, fundAt } from '../support/carrier-processes.ts';
import type { RestRequest } from '../support/carrier-sim/rest.ts';
import { startHeldServer } from '../support/held-server.ts';
import { ask, settledMoney } from '../support/whole-world.ts';

const MONTH_RAW = 2_000_000n;
/** What each purchase is for, and its line of history whichever process writes that. */
const TAGS = {
  'x-svc-task-id': 'errand',
  'x-svc-action-id': 'rent',
  'x-svc-customer-id': 'client',
};
const MONTH = {
  cost_raw: MONTH_RAW,
  task_id: 'errand',
  action_id: 'rent',
  customer_id: 'client',
  has_key: true,
};
const never = new Promise<never>(() => {});

/** Where a purchase or a release stands when its process is killed, and whether the number is then bought. */
const STATES = {
  'the carrier is searched': false,
  'the row is written, the month not held': false,
  'the month is held, the carrier asked and deaf': false,
  'the carrier is asked, and sells the number late': false,
  'the carrier has sold the number and not said so': true,
  'the sale is in the row, the month not charged': true,
  'the month is charged, the number not active': true,
  'the number is active': true,
  'the number is released, the carrier asked to take it back': false,
  'the number is back at the carrier, which has not said so': false,
} as const;
type State = keyof typeof STATES;

const NAMES = Object.keys(STATES) as State[];
/** Each purchase has an area code of its own, by which the carrier's requests are told apart. */
const AREAS = ['212', '415', '310', '312', '404', '512', '602', '702', '713', '808'];
const areaOf = (state: State): string => AREAS[NAMES.indexOf(state)] ?? '';
const numberOf = (state: State): string => `+1${areaOf(state)}5550100`;

/** A row that stays locked until `free`: whoever wants it waits. */
async function lockRow(sql: Sql, lock: (sql: Sql) => Promise<unknown>): Promise<() => void> {
  let free = () => {};
  const freed = new Promise<void>((resolve) => {
    free = resolve;
  });
  await new Promise<void>((locked, failed) => {
    sql
      .begin(async (tx) => {
        await tx`set local idle_in_transaction_session_timeout = 0`;
        await lock(tx as unknown as Sql);
        locked();
        await freed;
      })
      .catch(failed);
  });
  return free;
}

/** The numbers by their area code, each as its row and its hold have it. */
async function standing(sql: Sql): Promise<Record<string, object>> {
  const rows = await sql<{ area: string }[]>`
    select n.area_code as area, n.status, n.carrier_number_id is not null as is_sold,
      h.id is not null as is_held, n.paid_months as months
    from phone_numbers n left join holds h on h.id = n.purchase_id`;
  return Object.fromEntries(rows.map(({ area, ...stands }) => [area, stands]));
}

const lockFunds = (tx: Sql, agentId: number) =>
  tx`select 1 from agent_funds where agent_id = ${agentId} for update`;
/** What writes a charge does not wait for it, what makes a number active does. */
const lockAgent = (tx: Sql, agentId: number) =>
  tx`select 1 from agents where id = ${agentId} for no key update`;

it('the other process ends a purchase or release whose process was killed, and the carrier has exactly the paid numbers', async () => {
  /** States that the doomed process has come to. */
  const reached = new Set<State>();
  const agents = new Map<State, Awaited<ReturnType<typeof fundAt>>>();
  const free: (() => void)[] = [];
  let isDead = false;
  let sellLate = () => {};
  const late = new Promise<void>((resolve) => {
    sellLate = resolve;
  });

  /** Numbers by their ids at the carrier, also once they are back there. */
  const soldAs = new Map<string, string>();
  async function onRequest(step: 'asked' | 'done', request: RestRequest): Promise<void> {
    if (isDead) return;
    const { form, method, path, query } = request;
    const [resource, sid = ''] = path.split('/');
    for (const { phoneNumber, sid: id } of sim.owned) soldAs.set(id, phoneNumber);
    const number = form.get('PhoneNumber') ?? soldAs.get(sid);
    const area = query.get('AreaCode') ?? number?.slice(2, 5);
    const state = NAMES.find((name) => areaOf(name) === area);
    const agentId = (state && agents.get(state)?.agentId) ?? 0;
    switch (`${method} ${resource} ${step}: ${state}`) {
      case 'GET AvailablePhoneNumbers asked: the carrier is searched':
      case 'POST IncomingPhoneNumbers asked: the month is held, the carrier asked and deaf':
      case 'POST IncomingPhoneNumbers done: the carrier has sold the number and not said so':
      case 'DELETE IncomingPhoneNumbers asked: the number is released, the carrier asked to take it back':
      case 'DELETE IncomingPhoneNumbers done: the number is back at the carrier, which has not said so':
        reached.add(state as State);
        return never;
      case 'POST IncomingPhoneNumbers asked: the carrier is asked, and sells the number late':
        reached.add(state as State);
        return late;
      case 'POST IncomingPhoneNumbers done: the sale is in the row, the month not charged':
        free.push(await lockRow(sql, (tx) => lockFunds(tx, agentId)));
        return;
      case 'POST IncomingPhoneNumbers done: the month is charged, the number not active':
        free.push(await lockRow(sql, (tx) => lockAgent(tx, agentId)));
        return;
      default:
    }
  }
  await using processes = await carrierProcesses({ numbers: NAMES.map(numberOf), onRequest }, 10);
  const { environment, sim, sql, target } = processes;
  await using kept = await startHeldServer(environment, target);
  await using doomed = await startHeldServer(environment, target);

  const buy = (url: string, state: State) =>
    ask(`${url}/v1/numbers`, {
      headers: { ...agents.get(state)?.headers, ...TAGS },
      body: { areaCode: areaOf(state) },
    }).catch(() => undefined);
  const row = async (state: State): Promise<Record<string, unknown> | undefined> => {
    const rows = await sql`select * from phone_numbers
      where agent_id = ${agents.get(state)?.agentId ?? 0} order by id desc limit 1`;
    return rows[0];
  };
  const charges = (state: State) => sql`
    select cost_raw, task_id, action_id, customer_id, key_id is not null as has_key from charges
    where agent_id = ${agents.get(state)?.agentId ?? 0}`;
  const release = async (state: State) => {
    const agent = agents.get(state);
    const path = `/v1/developer/agents/${agent?.agentId}/numbers/${(await row(state))?.id}`;
    const headers = { authorization: `Bearer ${agent?.developerKey}` };
    await ask(`${doomed.url}${path}`, { method: 'DELETE', headers }).catch(() => undefined);
  };
  const soon = <T>(look: () => Promise<T> | T) =>
    expect.poll(look, { timeout: 60_000, interval: 100 });

  for (const state of NAMES)
    agents.set(state, await fundAt(kept, `buyer in ${areaOf(state)}`, 5_000_000n));

  // A purchase that waits for its agent's balance takes a connection of the ledger with it: those come last.
  const [unheld, uncharged, inactive] = [
    'the row is written, the month not held',
    'the sale is in the row, the month not charged',
    'the month is charged, the number not active',
  ] as const;
  const held = [
    'the carrier is searched',
    'the month is held, the carrier asked and deaf',
    'the carrier is asked, and sells the number late',
    'the carrier has sold the number and not said so',
  ] as const;
  const returning = [
    'the number is released, the carrier asked to take it back',
    'the number is back at the carrier, which has not said so',
  ] as const;
  void buy(doomed.url, inactive);
  await soon(() => charges(inactive)).toHaveLength(1);
  for (const state of ['the number is active', ...returning] as const) {
    expect((await buy(doomed.url, state))?.status).toBe(201);
  }
  for (const state of held) void buy(doomed.url, state);
  for (const state of returning) void release(state);
  await soon(() => [...reached].sort()).toEqual([...held, ...returning].sort());
  void buy(doomed.url, uncharged);
  await soon(() => row(uncharged)).toMatchObject({ carrier_number_id: expect.any(String) });
  const { agentId } = agents.get(unheld) ?? { agentId: 0 };
  free.push(await lockRow(sql, (tx) => lockFunds(tx, agentId)));
  void buy(doomed.url, unheld);
  await soon(() => row(unheld)).toMatchObject({ status: 'buying' });
  const buying = { status: 'buying', is_sold: false, is_held: true, months: 0 };
  expect(await standing(sql)).toEqual({
    '415': { ...buying, is_held: false },
    '310': buying,
    '312': buying,
    '404': buying,
    '512': { ...buying, is_sold: true },
    '602': { ...buying, is_sold: true, is_held: false },
    '702': { status: 'active', is_sold: true, is_held: false, months: 1 },
    '713': { status: 'released', is_sold: true, is_held: false, months: 1 },
    '808': { status: 'released', is_sold: true, is_held: false, months: 1 },
  });
  await doomed.kill();
  isDead = true;
  for (const letGo of free) letGo();

  // What is due in a minute is due now: a worker of the other process takes it up.
  const hurry = () => sql`update phone_numbers set due_at = now()
    where status in ('buying', 'failed', 'released') and due_at > now()`;
  await soon(async () => {
    await hurry();
    return (await sql`select 1 from phone_numbers where status = 'buying'`).length;
  }).toBe(0);
  // The carrier carries out what the dead process has asked for.
  sellLate();
  await soon(() => sim.owned.some(({ phoneNumber }) => phoneNumber === numberOf(held[2]))).toBe(
    true,
  );
  const paid = () => sql`select phone_number from phone_numbers where status = 'active'`;
  await soon(async () => {
    await hurry();
    return sim.owned.map(({ phoneNumber }) => phoneNumber).sort();
  }).toEqual((await paid()).map(({ phone_number }) => String(phone_number)).sort());

  for (const state of NAMES) {
    const now = await row(state);
    expect(now?.status === 'active', state).toBe(STATES[state]);
    const wasReleased = now?.status === 'released';
    const months = STATES[state] || wasReleased ? 1 : 0;
    expect(await charges(state), state).toEqual(Array(months).fill(MONTH));
    const money = await settledMoney(sql, agents.get(state)?.agentId ?? 0);
    expect(money, state).toMatchObject({ held: 0n, charged: BigInt(months) * MONTH_RAW });
    expect(money.spendable).toBe(money.credited - money.charged);
  }
  // An agent whose purchase came to nothing may buy the same number.
  const again = await buy(kept.url, 'the month is held, the carrier asked and deaf');
  expect(again?.status).toBe(201);
  expect(sim.owned.length).toBe((await paid()).length);
  expect(await checkInvariants(sql)).toEqual([]);
}, 240_000);
