import { z } from 'zod';
import { type AnyRoute, route } from '../../http/route/route.ts';
import { parseObject } from '../../kernel/json/parse-json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { abortSignalOf } from '../../kernel/stop-signal.ts';
import { present, type Tool, tool } from '../tool.ts';
import { toolResult } from '../tool-result.ts';

/** As much of the memory of agents as the tools ask for. */
export interface MemoryDoor {
  run(
    op: 'ingest' | 'query',
    caller: { readonly agentId: number },
    body: unknown,
    signal: AbortSignal,
  ): Promise<{
    readonly status: number;
    readonly body: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  }>;
}

const { memoriesPerCall, memoryQueryChars, memoryTextChars, recalled } = LIMITS.mcp;

const namespace = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,64}$/)
  .optional()
  .describe('Keeps memories apart; without one, those without one');

/** What an agent keeps, and finds again by what it means. Free. */
export function createMemoryTools(memory: MemoryDoor): readonly Tool[] {
  const ingest = memoryRoute(memory, 'ingest');
  const query = memoryRoute(memory, 'query');
  return [
    tool({
      name: 'remember',
      title: 'Remember',
      description:
        'Keeps texts in the memory of this agent, which no other agent can read. They can be recalled a moment later. Free.',
      isReadOnly: false,
      input: z.object({
        texts: z.array(z.string().min(1).max(memoryTextChars)).min(1).max(memoriesPerCall),
        infer: z.boolean().optional().describe('Keep the facts of a text, without its filler'),
        namespace,
      }),
      async call({ texts, infer, namespace: subTenantId }, ask) {
        const memories = texts.map((text) => present({ text, infer }));
        const body = present({ type: 'memory', memories, subTenantId });
        return toolResult(parseObject((await ask(ingest, { body })).bytes));
      },
    }),
    tool({
      name: 'recall',
      title: 'Recall',
      description:
        'Finds what this agent remembers about a question: the best match first, the text in `chunk_content`. Free.',
      isReadOnly: true,
      input: z.object({
        query: z.string().min(1).max(memoryQueryChars),
        maxResults: z.number().int().min(1).max(recalled.most).default(recalled.usual),
        mode: z.enum(['hybrid', 'semantic', 'keyword']).optional(),
        namespace,
      }),
      async call({ namespace: subTenantId, ...rest }, ask) {
        const body = present({ ...rest, type: 'memory', subTenantId });
        return toolResult(parseObject((await ask(query, { body })).bytes));
      },
    }),
  ];
}

const memoryRoute = (memory: MemoryDoor, op: 'ingest' | 'query'): AnyRoute =>
  route()({
    method: 'POST',
    path: `/v1/db/vectordb/${op}`,
    credential: 'agent',
    summary: `The memory's ${op}`,
    permission: op === 'query' ? 'read' : 'read_write',
    idempotent: op === 'ingest',
    body: z.unknown(),

    async handle({ body, caller, signal }) {
      const { agentId } = caller;
      const answer = await memory.run(op, { agentId }, body, abortSignalOf(signal));
      return { headers: {}, ...answer };
    },
  });
