import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MemoryOp } from '../../../src/memory/memory.ts';
import { type Asked, memoryWorld } from '../../support/memory-world.ts';

const NAMESPACES = [undefined, 'a', 'b'] as const;
/** Ways in which a request may try to be of another tenant. */
const INJECTED = ['tenantId', 'tenant_id', 'agentId', 'agent_id', 'owner', 'subTenant', 'spaceId'];

/** What a namespace has, and its place in the names of its memories. */
type Place = { readonly agent: number; readonly space: (typeof NAMESPACES)[number] };
const mark = ({ agent, space }: Place) => `agent${agent}space${space ?? 'none'}`;

const place = fc.record({
  agent: fc.constantFrom(0, 1),
  space: fc.constantFrom(...NAMESPACES),
}) as fc.Arbitrary<Place>;
const step = fc.record({
  place,
  victim: place,
  op: fc.constantFrom<MemoryOp>('query', 'status', 'list', 'delete', 'ingest'),
  mode: fc.constantFrom('keyword', 'semantic', 'hybrid'),
  inject: fc.constantFrom(...INJECTED),
  claims: fc.constantFrom<'id' | 'text' | 'object'>('id', 'text', 'object'),
});

describe('the store of an agent', () => {
  it('an agent’s memory store and each namespace in it see and change nothing of another, whatever a request says', async () => {
    await using w = await memoryWorld();
    const ids = new Map<string, string[]>();
    const places = [0, 1].flatMap((agent) => NAMESPACES.map((space) => ({ agent, space })));
    const agentOf = ({ agent }: Place) => w.agents[agent] ?? 0;
    const ingest = async (at: Place, injected: object = {}) => {
      const body = {
        type: 'memory',
        memories: [{ text: `shared words and ${mark(at)}`, metadata: { mark: mark(at) } }],
        ...injected,
        ...(at.space === undefined ? {} : { subTenantId: at.space }),
      };
      const answer = await w.ask(agentOf(at), 'ingest', body);
      await w.indexer.idle();
      const [{ id }] = answer.body.result.data.results;
      ids.set(mark(at), [...(ids.get(mark(at)) ?? []), id]);
    };
    for (const at of places) await ingest(at);

    const everywhere = () => [...ids.values()].flat();
    const ownIds = (at: Place) => ids.get(mark(at)) ?? [];
    const check = {
      query({ body }: Asked, at: Place) {
        for (const chunk of body.result.data.chunks) {
          expect(chunk.chunk_content).toContain(mark(at));
          expect(ownIds(at)).toContain(chunk.id);
        }
      },
      list({ body }: Asked, at: Place) {
        const listed = body.result.data.items.map(({ id }: { id: string }) => id);
        expect(listed.sort()).toEqual([...ownIds(at)].sort());
        expect(body.result.data.total).toBe(ownIds(at).length);
      },
      status({ body }: Asked, at: Place) {
        for (const { id, status } of body.result.data.statuses) {
          expect(status === 'not_found').toBe(!ownIds(at).includes(id));
        }
      },
    };

    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        for (const { claims, inject, mode, op, place: at, victim } of steps) {
          const agentId = agentOf(victim);
          const claimed = { id: agentId, text: String(agentId), object: { $eq: agentId } }[claims];
          const injected = { [inject]: claimed };
          if (op === 'ingest') {
            await ingest(at, injected);
            continue;
          }
          const bodies = {
            query: { query: `shared words ${mark(victim)}`, mode, maxResults: 50 },
            status: { ids: everywhere().slice(-100) },
            list: { limit: 100 },
            // What is the victim's, which is another's unless the two are the same.
            delete: { ids: mark(victim) === mark(at) ? ['mem_x'] : ownIds(victim).slice(-100) },
          };
          const answer = await w.ask(agentOf(at), op, {
            ...bodies[op as keyof typeof bodies],
            ...injected,
            ...(at.space === undefined ? {} : { subTenantId: at.space }),
          });
          expect(answer.status).toBe(200);
          if (op === 'delete') expect(answer.body.result.data.deleted).toEqual([]);
          else check[op as keyof typeof check](answer, at);
        }
      }),
      { numRuns: 40 },
    );
    // Nothing was deleted by another, and a filter reaches no further than the rest of a query.
    for (const at of places) {
      const own = at.space === undefined ? {} : { subTenantId: at.space };
      check.list(await w.ask(agentOf(at), 'list', { limit: 100, ...own }), at);
      for (const victim of places) {
        const filter = { mark: mark(victim) };
        const query = { query: 'shared words', maxResults: 50, filter, ...own };
        const { body } = await w.ask(agentOf(at), 'query', query);
        const isOwn = mark(victim) === mark(at);
        expect(body.result.data.chunks.length > 0).toBe(isOwn);
      }
    }
    // Nor with the whole store of the other.
    await w.ask(w.agentId, 'tenant/delete', { confirm: true, tenantId: w.otherId });
    expect((await w.ask(w.agentId, 'list', {})).body.result.data.items).toEqual([]);
    const left = await w.ask(w.otherId, 'tenant/status', { tenantId: w.agentId });
    const counted = NAMESPACES.flatMap((space) => ownIds({ agent: 1, space })).length;
    expect(left.body.result.data).toEqual({ status: 'ready', memories: counted, knowledge: 0 });
  });
});
