import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JobPoint } from '../../../src/marketplace/documents/job-deps.ts';
import {
  COMPLETED,
  expectEnded,
  HELD,
  PRICE,
  readJobOf,
  resultOf,
  START,
} from '../../support/vendors/document-checks.ts';
import { asUsual } from '../../support/vendors/document-peer.ts';
import { type DocumentWorld, startDocumentWorld } from '../../support/vendors/document-world.ts';

let world: DocumentWorld;
beforeAll(async () => {
  world = await startDocumentWorld();
});
afterEach(() => asUsual(world.peer));
afterAll(() => world[Symbol.asyncDispose]());

describe('a process that dies', () => {
  const SUBMITTING: readonly JobPoint[] = ['written', 'held', 'created', 'uploaded'];
  const WORKING: readonly JobPoint[] = [
    ...(['claimed', 'start written', 'started', 'looked', 'fetched'] as const),
    ...(['decided', 'settled', 'finished'] as const),
  ];

  it.each(SUBMITTING)(
    'a process that dies at "%s" of a document job has not answered its caller, and no hold is left',
    async (point) => {
      const agent = await world.agent();
      const before = world.peer.jobs.length;
      const dying = await world.aProcess(point);
      void world.submitAt(dying, agent);
      await dying.died;
      await world.finish();
      expect(world.peer.jobs.slice(before).map(({ starts }) => starts)).not.toContain(1);
      await expectEnded(world, agent, 0n, ['failed']);
    },
  );

  it('an accepted document job survives its process, even when the lease is over and orphaned holds are reaped', async () => {
    const agent = await world.agent();
    const dying = await world.aProcess('queued');
    void world.submitAt(dying, agent);
    await dying.died;
    await world.sql`
      update leases set expires_at = now() - interval '1 hour' where node_id = ${dying.node.nodeId}`;
    await world.main.atOnce.tick();
    expect(await world.money(agent)).toMatchObject({ held: HELD });
    await world.finish();
    await expectEnded(world, agent, PRICE[3], ['completed']);
  });

  it('a process that dies while it withdraws an unaccepted document job leaves no hold', async () => {
    const agent = await world.agent();
    const dying = await world.aProcess('withdrawn');
    world.peer.faults.push({ step: 'upload', kind: 'status', status: 500 });
    void world.submitAt(dying, agent);
    await dying.died;
    expect(await world.money(agent)).toMatchObject({ held: HELD });
    await world.finish();
    await expectEnded(world, agent, 0n, ['failed']);
  });

  it.each(WORKING)(
    'a document job whose process dies at "%s" continues in another: started at most once, paid once, reported once',
    async (point) => {
      const agent = await world.agent();
      const { jobId } = resultOf(await world.submit(agent));
      const dying = await world.aProcess(point);
      for (let steps = 0; steps < 6; steps++) {
        const isDead = await Promise.race([
          dying.died.then(() => true),
          dying.step().then(() => false),
        ]);
        if (isDead) break;
      }
      await dying.died;
      const made = world.peer.jobs.at(-1);
      if (point === 'start written') {
        await world.sql`update marketplace_jobs set started_at = started_at - interval '3 minutes'`;
      }
      await world.finish();
      // Whether it was begun could not be told, so that it is not begun.
      const isUndecided = point === 'start written';
      expect(made?.starts).toBe(isUndecided ? 0 : 1);
      await expectEnded(world, agent, isUndecided ? 0n : PRICE[3], [
        isUndecided ? 'failed' : 'completed',
      ]);
      expect((await readJobOf(world, agent, jobId)).costRaw).toBe(isUndecided ? '0' : '18976');
    },
  );
});

describe('a reply of the database that is lost', () => {
  it.each([
    ['before anybody works on the job', async () => {}],
    ['while the vendor begins', () => world.main.step()],
    ['after the job has ended', () => world.finish()],
  ])(
    'a lost database reply %s does not free the hold of an accepted document job',
    async (_, meanwhile) => {
      const agent = await world.agent();
      const process = await world.aProcess(undefined, { behind: "set step = 'queued'", meanwhile });
      const answer = await world.submitAt(process, agent);
      expect(answer.status).toBe(202);
      await world.finish();
      await expectEnded(world, agent, PRICE[3], ['completed']);
      const done = await readJobOf(world, agent, resultOf(answer).jobId);
      expect([done.costRaw, done.text]).toEqual(['18976', expect.stringContaining('A document')]);
    },
  );

  it('a database reply lost while a document job is withdrawn leaves its hold to the next process', async () => {
    const agent = await world.agent();
    const process = await world.aProcess(undefined, { behind: "set step = 'ending'" });
    world.peer.faults.push({ step: 'upload', kind: 'status', status: 500 });
    await expect(world.submitAt(process, agent)).rejects.toThrow('CONNECTION_CLOSED');
    await world.finish();
    await expectEnded(world, agent, 0n, ['failed']);
  });

  it('a database reply lost while a document’s money is held leaves the hold to the next process', async () => {
    const agent = await world.agent();
    const process = await world.aProcess(undefined, { isHoldLost: true });
    await expect(world.submitAt(process, agent)).rejects.toThrow('CONNECTION_CLOSED');
    expect(await world.money(agent)).toMatchObject({ held: HELD });
    await world.finish();
    await expectEnded(world, agent, 0n, ['failed']);
  });

  it('a process whose lost reply let another process give up the document job refuses with 503', async () => {
    const agent = await world.agent();
    const process = await world.aProcess(undefined, {
      before: "set step = 'queued'",
      meanwhile: () => world.finish(),
    });
    await expect(world.submitAt(process, agent)).rejects.toMatchObject({ status: 503 });
    await expectEnded(world, agent, 0n, ['failed']);
  });
});

describe('several processes', () => {
  it('several processes share the document jobs: each job is started once, paid once and reported once', async () => {
    const others = await Promise.all([world.aProcess(), world.aProcess(), world.aProcess()]);
    const agents = await Promise.all(Array.from({ length: 6 }, () => world.agent()));
    const before = world.peer.jobs.length;
    for (const agent of agents) {
      for (let jobs = 0; jobs < 2; jobs++) await world.submit(agent);
    }
    for (let rounds = 0; rounds < 8; rounds++) {
      await Promise.all([world.main, ...others].map(({ step }) => step()));
    }
    await world.finish();
    expect(world.peer.jobs.slice(before).map(({ starts }) => starts)).toEqual(Array(12).fill(1));
    for (const agent of agents) {
      expect(await world.money(agent)).toEqual({ spendable: START - 2n * PRICE[3], held: 0n });
      const { charges, events, lines } = await world.traces(agent);
      expect([charges.length, lines.length]).toEqual([2, 2]);
      expect(events.filter(({ name }) => name === COMPLETED)).toHaveLength(2);
    }
    expect(await world.faults()).toEqual([]);
  });
});
