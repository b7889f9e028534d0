import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts';
import { slowness } from '../support/thread-cpu.ts';
import { webhookWorld } from '../support/webhook-world.ts';

/** Of the battery of receivers, each kind as often as it stands here; the others are well. */
const KINDS = {
  silent: 10,
  flaky: 10,
  redirecting: 5,
  endless: 5,
  rebinding: 2,
  resetting: 1,
  well: 17,
};
type Kind = keyof typeof KINDS;

const ACCOUNTS = 5;
const WEBHOOKS = 50;
/** Well above what a busy machine takes for an answer. */
const ATTEMPT_MS = 2_000;
/** A burst to receivers that are well takes less than this, even on a busy machine. */
const MOST_WELL_MS = 5_000;
/** Events of all accounts together, and how many of them happen at once. */
const EVENTS = Number(process.env.WEBHOOK_EVENTS ?? 100);
const AT_ONCE = 50;

/** Resets each connection in the middle of the answer's head. */
async function startResetting() {
  let requests = 0;
  const server: Server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      requests++;
      socket.write('HTTP/1.1 200 OK\r\ncontent-le', () => socket.resetAndDestroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    requests: () => requests,
    close: () => server.close(),
  };
}

type World = Awaited<ReturnType<typeof webhookWorld>>;

async function openAccounts(world: World, prefix: string): Promise<string[]> {
  const accounts: string[] = [];
  for (let n = 0; n < ACCOUNTS; n++) accounts.push(await world.account(`${prefix}_${n}`));
  return accounts;
}

/** So many events at once of all accounts together. */
async function burst(world: World, accounts: readonly string[]): Promise<void> {
  for (const account of accounts) await world.happened(account, AT_ONCE / ACCOUNTS);
  await Promise.all(world.deliverers.map((deliverer) => deliverer.tick()));
}

/** From an event to its receipt, in milliseconds, of 99 of a hundred. */
function delayP99(received: readonly Received[]): number {
  const delays = received
    .map(({ atMs, event }) => atMs - Date.parse(String(event.firedAt)))
    .sort((a, b) => a - b);
  return delays[Math.floor(delays.length * 0.99)] ?? Number.NaN;
}

/** How long a burst takes on this machine where only the receivers that are well get it. */
async function delayAllWell(world: World, receiver: Receiver): Promise<number> {
  const accounts = await openAccounts(world, 'well');
  for (let n = 0; n < KINDS.well; n++) {
    const url = `${receiver.url}/all-well/${n}`;
    await world.webhooks.create(accounts[n % ACCOUNTS] as string, { url, events: ['agent.*'] });
  }
  const received = () => receiver.received.filter(({ path }) => path.startsWith('/all-well/'));
  await burst(world, accounts);
  const expected = (AT_ONCE / ACCOUNTS) * KINDS.well;
  await expect.poll(() => received().length, { timeout: 30_000, interval: 5 }).toBe(expected);
  return delayP99(received());
}

/** Answers by the kind that the path names, and by how often the delivery has come. */
function answerKinds(receiver: Receiver) {
  const seen = new Map<string, number>();
  receiver.answers(({ headers, path }: Received, response) => {
    const id = `${headers['webhook-id']}`;
    const times = (seen.get(id) ?? 0) + 1;
    seen.set(id, times);
    switch (path.split('/')[1] as Kind) {
      case 'silent':
        return;
      case 'flaky':
        response.writeHead(times <= 2 ? 500 : 200).end();
        return;
      case 'redirecting':
        response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
        return;
      case 'endless': {
        response.writeHead(200);
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(16_384)));
        };
        response.on('drain', more).on('error', () => {});
        more();
        return;
      }
      default:
        response.writeHead(200).end();
    }
  });
  return seen;
}

test(`${EVENTS} webhook events reach 50 receivers of every kind, or have failed after exactly three attempts`, async () => {
  await using world = await webhookWorld({ attemptMs: ATTEMPT_MS, processes: 2 });
  await using receiver = await startReceiver();
  const seen = answerKinds(receiver);
  const resetting = await startResetting();
  let isRebound = false;
  const kindOf = new Map<number, Kind>();
  const { port } = new URL(receiver.url);
  const allWellMs = await delayAllWell(world, receiver);
  expect(allWellMs).toBeLessThan(MOST_WELL_MS);
  const accounts = await openAccounts(world, 'acct');
  let registered = 0;
  for (const [kind, count] of Object.entries(KINDS) as [Kind, number][]) {
    for (let n = 0; n < count; n++) {
      const host = kind === 'rebinding' ? `rebinding-${n}.example` : '127.0.0.1';
      if (kind === 'rebinding') {
        world.hosts.set(host, () => [isRebound ? '169.254.169.254' : '127.0.0.1']);
      }
      const url =
        kind === 'resetting' ? resetting.url : `http://${host}:${port}/${kind}/${registered}`;
      const accountId = accounts[registered % ACCOUNTS] as string;
      const { webhook } = await world.webhooks.create(accountId, { url, events: ['agent.*'] });
      kindOf.set(webhook.id, kind);
      registered++;
    }
  }
  expect(registered).toBe(WEBHOOKS);

  const wellReceived = () =>
    receiver.received.filter(({ path }) => path.startsWith('/well/')).length;
  let happened = 0;
  // The first half finds every name where it was; then two of them lead inside.
  for (const half of [0, 1]) {
    isRebound = half === 1;
    world.pass(10_000);
    for (let n = 0; n < EVENTS / 2; n += AT_ONCE) {
      await burst(world, accounts);
      happened += AT_ONCE;
      const expected = (happened / ACCOUNTS) * KINDS.well;
      await expect.poll(wellReceived, { timeout: 30_000, interval: 5 }).toBe(expected);
    }
    await world.tick();
  }
  for (const ms of [61_000, 301_000, 86_400_000]) {
    world.pass(ms);
    await world.tick();
  }

  const rows = await world.sql<
    {
      webhookId: number;
      deliveryId: string;
      status: string;
      attempt: number;
      error: string | null;
      half: number;
    }[]
  >`select webhook_id as "webhookId", delivery_id as "deliveryId", status, attempt, error,
      (row_number() over (partition by webhook_id order by id) > ${EVENTS / ACCOUNTS / 2})::int as half
    from webhook_deliveries where webhook_id = any(${[...kindOf.keys()]})`;
  expect(rows).toHaveLength(EVENTS * 10);
  const outcomes = new Map<string, Set<string>>();
  for (const { attempt, deliveryId, error, half, status, webhookId } of rows) {
    const kind = kindOf.get(webhookId) as Kind;
    const name = kind === 'rebinding' ? `${kind} ${half}` : kind;
    const outcome = `${status} ${attempt} ${error ?? ''}`.trim();
    outcomes.set(name, (outcomes.get(name) ?? new Set()).add(outcome));
    // No receiver got a delivery more often than it was tried, and none after an answer that counts.
    if (kind !== 'resetting' && !(kind === 'rebinding' && half === 1)) {
      expect(seen.get(deliveryId), `${name} ${deliveryId}`).toBe(attempt);
    }
  }
  expect(Object.fromEntries([...outcomes].map(([name, set]) => [name, [...set]]))).toEqual({
    silent: [`failed 3 Timed out after ${ATTEMPT_MS / 1_000}s`],
    flaky: ['success 3'],
    redirecting: ['failed 3 HTTP 302'],
    endless: ['success 1'],
    'rebinding 0': ['success 1'],
    'rebinding 1': [
      'failed 3 blocked_destination: the host name resolves to an address that is not public',
    ],
    resetting: ['failed 3 The connection ended before the answer'],
    well: ['success 1'],
  });
  expect(resetting.requests()).toBe((EVENTS / ACCOUNTS) * 3);
  // None of those that fail has delayed one that is well by a second.
  const well = receiver.received.filter(({ path }) => path.startsWith('/well/'));
  expect(delayP99(well) - allWellMs).toBeLessThan(1_000 * slowness());
  resetting.close();
}, 600_000);
