import { z } from 'zod';
import { parseRate, UNITS } from '../../kernel/price.ts';
import { MODEL_LIMITS } from '../limits.ts';
import { CHAT_MEMBERS } from '../providers/chat-members.ts';
import { EFFORTS } from '../providers/efforts.ts';
import { CALL_ID_FORMS, type CallIdFormName } from '../providers/fit/call-ids.ts';
import { SAMPLINGS } from '../providers/sampling.ts';
import { missingRates } from './billed-units.ts';
import type { ModelEntry, ProviderEntry } from './builtin/builtin-model.ts';
import { CERTAINTIES, MODALITIES, type Modality, RAILS } from './catalogue.ts';
import { dayMs } from './retirement.ts';

/** Thrown for an invalid catalogue file. The message names the mistake and its place in the file. */
export class CatalogueFileError extends Error {
  override readonly name = 'CatalogueFileError';
}

const name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be a short lower-case name');
const modelId = z
  .string()
  .max(MODEL_LIMITS.idChars)
  .regex(/^[a-z0-9][a-z0-9._-]*\/[\w.:-]+$/i, 'must read <maker>/<name>');
const rate = z
  .string()
  .refine((text) => parseRate(text) !== undefined, 'must be USD per million units, such as "2.5"');
const tokens = z.number().int().positive().max(MODEL_LIMITS.tokens.mostOutput);
const tokenCount = tokens.nullable().optional();

const day = z
  .string()
  .refine((text) => dayMs(text) !== undefined, 'must be a day such as "2027-01-14"');
const percent = z.number().int().min(0).max(10_000);

const ProviderShape = z.strictObject({
  baseUrl: z.url({ protocol: /^(https?|wss?)$/ }),
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'must name an environment variable')
    .optional(),
  dialect: z.enum(['openai', 'anthropic', 'deepgram', 'openai-realtime', 'openai-live']),
  capMember: z.literal('max_completion_tokens').optional(),
  chatMembers: z.array(z.enum(CHAT_MEMBERS)).max(CHAT_MEMBERS.length).optional(),
  speaksResponses: z.boolean().optional(),
  thoughts: z.enum(['taken', 'demanded']).optional(),
  signsCalls: z.boolean().optional(),
  strictOrder: z.boolean().optional(),
  callIds: z.enum(Object.keys(CALL_ID_FORMS) as [CallIdFormName, ...CallIdFormName[]]).optional(),
  vendor: name.optional(),
});

const SourceShape = z
  .strictObject({
    rail: z.enum(RAILS),
    provider: name,
    upstreamModel: z.string().min(1).max(256),
    rates: z.partialRecord(z.enum(UNITS), rate).default({}),
    marginBps: z.number().int().min(0).max(10_000).optional(),
    longPrompt: z
      .strictObject({ above: tokens, inputPercent: percent, outputPercent: percent })
      .optional(),
    cacheWritePercent: percent.optional(),
    cacheLeastTokens: tokens.optional(),
    imageTokens: tokens.optional(),
    thinkingSwitch: z.boolean().optional(),
    efforts: z.array(z.enum(EFFORTS)).min(1).max(EFFORTS.length).optional(),
    sampling: z.enum(SAMPLINGS).optional(),
    price: z
      .strictObject({
        source: z.string().min(1).max(256),
        readOn: day,
        certainty: z.enum(CERTAINTIES),
      })
      .optional(),
  })
  .superRefine(({ rail, rates }, context) => {
    const priced = Object.values(rates).some((text) => parseRate(text) !== 0n);
    const message = 'must be empty or zero on the free rail';
    if (rail === 'free' && priced) context.addIssue({ code: 'custom', path: ['rates'], message });
  });

/** Default transcriber and synthesizer of a cascade: engines that run on this machine. */
export const LOCAL_CASCADE = { stt: 'local/pocketsphinx', tts: 'local/flite' } as const;

const CascadeShape = z.strictObject({
  stt: modelId.default(LOCAL_CASCADE.stt),
  llm: modelId,
  tts: modelId.default(LOCAL_CASCADE.tts),
});

const ModelShape = z
  .strictObject({
    id: modelId,
    displayName: z.string().min(1).max(MODEL_LIMITS.idChars).optional(),
    modality: z.enum(MODALITIES),
    isOpenWeight: z.boolean().optional(),
    contextWindow: tokenCount,
    maxOutputTokens: tokenCount,
    shutdownDate: day.nullable().optional(),
    successor: modelId.nullable().optional(),
    cascade: CascadeShape.optional(),
    sources: z.array(SourceShape).max(MODEL_LIMITS.catalogue.sourcesPerModel).default([]),
  })
  .superRefine(({ cascade, modality, sources }, context) => {
    const complain = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (cascade === undefined && sources.length === 0)
      complain('sources', 'must name one at least');
    if (cascade !== undefined && modality !== 'realtime') {
      complain('cascade', 'is for models of modality realtime');
    }
    if (cascade !== undefined && sources.length > 0) {
      complain('sources', 'a cascade has none: the models that it is made of have');
    }
    // A unit without a price must not be free.
    for (const [at, source] of sources.entries()) {
      const units = missingRates(modality, source);
      if (units.length === 0) continue;
      const message = `a ${modality} model also bills ${units.join(', ')}`;
      context.addIssue({ code: 'custom', path: ['sources', at, 'rates'], message });
    }
  });

const FileShape = z.strictObject({
  providers: z.record(name, ProviderShape).default({}),
  models: z.array(ModelShape).max(MODEL_LIMITS.catalogue.models).default([]),
});

export type CatalogueFile = {
  readonly providers: Readonly<Record<string, ProviderEntry>>;
  readonly models: readonly ModelEntry[];
};

/**
 * Parses the text of a catalogue file. Its sources may name providers in `builtin` and its cascades models in `models`, besides
 * those of the file. Throws CatalogueFileError with the place of the mistake.
 */
export function parseCatalogueFile(
  text: string,
  builtin: ReadonlySet<string>,
  models: ReadonlyMap<string, { readonly modality: Modality }> = new Map(),
): CatalogueFile {
  const parsed = FileShape.safeParse(parseJson(text));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new CatalogueFileError(`${pathText(issue?.path ?? [])}: ${issue?.message}`);
  }
  const file = parsed.data;
  checkProviders(file, builtin);
  checkCascades(file, models);
  checkSuccessors(file, models);
  return file;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CatalogueFileError(`not JSON: ${(error as Error).message}`);
  }
}

/** Formats a path: `['models', 0, 'sources', 1, 'rates']` becomes `models[0].sources[1].rates`. */
function pathText(path: readonly PropertyKey[]): string {
  const text = path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('');
  return text.replace(/^\./, '') || 'top level';
}

/**
 * Returns true when sources of the rail `x402-router` may use the provider: it speaks OpenAI's dialect and has no API key,
 * because each call is paid.
 */
const canBeRouter = (provider: ProviderEntry | undefined): boolean =>
  provider?.dialect === 'openai' && provider.apiKeyEnv === undefined;

function checkProviders(file: CatalogueFile, builtin: ReadonlySet<string>): void {
  const names = Object.keys(file.providers);
  if (names.length > MODEL_LIMITS.catalogue.providers) {
    throw new CatalogueFileError(`providers: at most ${MODEL_LIMITS.catalogue.providers}`);
  }
  if (names.includes('local')) {
    throw new CatalogueFileError('providers.local: the engines of this server cannot be replaced');
  }
  for (const id of names) {
    const { vendor } = file.providers[id] ?? {};
    if (vendor === undefined || builtin.has(vendor) || names.includes(vendor)) continue;
    throw new CatalogueFileError(`providers.${id}.vendor: there is no provider "${vendor}"`);
  }
  const seen = new Set<string>();
  for (const [index, model] of file.models.entries()) {
    if (seen.has(model.id)) {
      throw new CatalogueFileError(`models[${index}].id: "${model.id}" stands here twice`);
    }
    seen.add(model.id);
    for (const [at, { rail, provider }] of model.sources.entries()) {
      const place = `models[${index}].sources[${at}].provider`;
      if (!builtin.has(provider) && !names.includes(provider)) {
        throw new CatalogueFileError(`${place}: there is no provider "${provider}"`);
      }
      if (rail === 'x402-router' && !canBeRouter(file.providers[provider])) {
        throw new CatalogueFileError(
          `${place}: a router speaks the openai dialect and has no apiKeyEnv`,
        );
      }
    }
  }
}

/**
 * Throws CatalogueFileError when a model's successor is missing: a client that follows the link of a retiring model must find
 * its successor.
 */
function checkSuccessors(file: CatalogueFile, builtin: ReadonlyMap<string, unknown>): void {
  const own = new Set(file.models.map(({ id }) => id));
  for (const [index, { successor }] of file.models.entries()) {
    if (!successor || own.has(successor) || builtin.has(successor)) continue;
    throw new CatalogueFileError(`models[${index}].successor: there is no model "${successor}"`);
  }
}

const LEG_MODALITIES = [
  ['stt', 'stt'],
  ['llm', 'text'],
  ['tts', 'tts'],
] as const;

function checkCascades(
  file: CatalogueFile,
  builtin: ReadonlyMap<string, { readonly modality: Modality }>,
): void {
  const own = new Map(file.models.map((model) => [model.id, model]));
  for (const [index, { cascade }] of file.models.entries()) {
    if (cascade === undefined) continue;
    for (const [leg, modality] of LEG_MODALITIES) {
      const id = cascade[leg];
      const model = own.get(id) ?? builtin.get(id);
      if (model?.modality === modality) continue;
      throw new CatalogueFileError(
        `models[${index}].cascade.${leg}: there is no ${modality} model "${id}"`,
      );
    }
  }
}
