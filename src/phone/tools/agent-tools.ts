import { z } from 'zod';
import { parseAmountRaw } from '../../kernel/amount.ts';
import { isStorable } from '../../kernel/storable.ts';
import { phoneErrors } from '../errors.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { CALL_ACTIONS } from '../voice/call-actions.ts';
import { requireWebhookUrl, type WebhookUrlDeps } from '../voice/webhook-url.ts';
import { PLAIN_SERVICES } from './service-tools.ts';

const { tools: BOUNDS } = PHONE_LIMITS;

const text = (mostChars: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(mostChars)
    .refine(isStorable, { message: 'must hold no NUL and no half characters' });

const Name = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
  .refine((name) => !CALL_ACTIONS.has(name), 'is the name of an action that every call has');

const Parameters = z
  .object({ type: z.literal('object') })
  .catchall(z.any())
  .refine((schema) => JSON.stringify(schema).length <= BOUNDS.schemaChars, {
    message: `must have at most ${BOUNDS.schemaChars} characters as JSON`,
  })
  .refine((schema) => isStorable(JSON.stringify(schema)), {
    message: 'must hold no half characters',
  });

/** Text that is said while a tool takes long; empty: none. */
const filler = z.string().max(BOUNDS.fillerChars).refine(isStorable).optional();

const timeoutMs = z.int().min(BOUNDS.timeoutMs.least).max(BOUNDS.timeoutMs.most).optional();

/** A function of the developer, which is called at its address. */
const FunctionTool = z.strictObject({
  type: z.literal('function'),
  name: Name,
  description: text(BOUNDS.descriptionChars),
  /** A JSON schema of the arguments. */
  parameters: Parameters.default({ type: 'object', properties: {} }),
  url: z.string().max(PHONE_LIMITS.agent.webhookUrlChars),
  timeoutMs,
  filler,
});

const service = { type: z.literal('service'), timeoutMs, filler };

/** A service of this server, as its tool of the Model Context Protocol. */
const PlainService = z.strictObject({ ...service, name: z.enum(PLAIN_SERVICES) });

/** The most that one tool call may buy. */
const maxCostRaw = z
  .string()
  .refine((text) => (parseAmountRaw(text) ?? 0n) > 0n, 'must be a whole number above 0, as text');

const ThinkService = z.strictObject({
  ...service,
  name: z.literal('think'),
  maxCostRaw: maxCostRaw.optional(),
});

const PLAIN_HOST = /^[a-z0-9.-]+$/;

/** A host as URLs have it: lower case, without a port. */
const Host = z
  .string()
  .max(BOUNDS.hostChars)
  .transform((text, context) => {
    const url = `https://${text.toLowerCase()}/`;
    const host = URL.canParse(url) ? new URL(url) : undefined;
    const isPlain = host !== undefined && host.href === `https://${host.hostname}/`;
    if (isPlain && PLAIN_HOST.test(host.hostname)) return host.hostname;
    context.addIssue({ code: 'custom', message: 'must be the name of a host, as api.example.com' });
    return z.NEVER;
  });

const VendorService = z.strictObject({
  ...service,
  name: z.literal('call_vendor'),
  /** The only hosts that the model may call. */
  hosts: z.array(Host).min(1).max(BOUNDS.hosts),
  maxCostRaw,
});

const ServiceTool = z.discriminatedUnion('name', [PlainService, ThinkService, VendorService]);

export const AgentTool = z.discriminatedUnion('type', [FunctionTool, ServiceTool]);
export type AgentTool = Readonly<z.output<typeof AgentTool>>;
export type FunctionTool = Extract<AgentTool, { type: 'function' }>;
export type ServiceTool = Extract<AgentTool, { type: 'service' }>;

const AgentTools = z
  .array(AgentTool)
  .max(BOUNDS.most)
  .refine((tools) => new Set(tools.map(({ name }) => name)).size === tools.length, {
    message: 'must have different names',
  });

/** Reads the tools of an agent, and checks that their addresses may be called. Throws when a tool is invalid. */
export async function readTools(deps: WebhookUrlDeps, wanted: unknown): Promise<AgentTool[]> {
  if (wanted === null || wanted === '') return [];
  const read = AgentTools.safeParse(wanted);
  if (!read.success) throw phoneErrors.invalidVoice(problemOf(read.error));
  return Promise.all(
    read.data.map(async (tool) => {
      if (tool.type !== 'function') return tool;
      if (!/^https?:/i.test(tool.url)) {
        throw phoneErrors.invalidWebhookUrl(`of the tool ${tool.name} must begin with https://`);
      }
      return { ...tool, url: await requireWebhookUrl(deps, tool.url) };
    }),
  );
}

function problemOf({ issues: [issue] }: z.ZodError): string {
  const place = (issue?.path ?? []).map((part) =>
    typeof part === 'number' ? `[${part}]` : `.${String(part)}`,
  );
  return `tools${place.join('')}: ${issue?.message ?? 'do not fit'}.`;
}
