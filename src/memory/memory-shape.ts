import { z } from 'zod';
import { isObject } from '../kernel/json.ts';
import { isStorable } from '../kernel/storable.ts';
import { documentsOf } from './app-knowledge.ts';
import { MEMORY_LIMITS } from './limits.ts';

const {
  documentBytes,
  fieldChars,
  idsPerRequest,
  perIngest: itemsPerIngest,
  metadataFields,
  metadataValueChars,
  textBytes,
  titleChars,
} = MEMORY_LIMITS.item;
const { offset: listOffset, page: listPage } = MEMORY_LIMITS.list;
const { bytes: queryBytes, results } = MEMORY_LIMITS.query;

/** Returns the schema of a text that PostgreSQL returns unchanged. Its length is bounded in bytes, as a caller sends it. */
const textOf = (bytes: number) =>
  z
    .string()
    .max(bytes, `has at most ${bytes} bytes`)
    .refine((text) => Buffer.byteLength(text) <= bytes, `has at most ${bytes} bytes`)
    .refine((text) => text.trim() !== '', 'is empty')
    .refine(isStorable, 'has NUL or half a character');

const line = (chars: number) =>
  z.string().min(1).max(chars).refine(isStorable, 'has NUL or half a character');

const SubTenant = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,64}$/, 'has 1 to 64 of A-Z a-z 0-9 _ . : -')
  .nullish();
const ItemType = z.enum(['memory', 'knowledge']);
const Ids = z.array(z.string().max(128)).min(1).max(idsPerRequest);

const Scalar = z.union([
  z.string().max(metadataValueChars).refine(isStorable, 'has NUL or half a character'),
  z.number(),
  z.boolean(),
]);
const FieldName = line(fieldChars);
/**
 * Returns the schema of an object with few members, whose names are storable text. The members are counted before any is
 * checked, and only the first invalid member is reported, so a fault costs no more than a hundred valid members.
 */
const fields = <V extends z.ZodType>(value: V) =>
  z
    .custom<z.input<z.ZodRecord<typeof FieldName, V>>>()
    .check(({ issues, value: members }) => {
      if (!isObject(members)) return;
      const fault = faultIn(members, value);
      if (fault !== undefined) issues.push({ code: 'custom', input: members, ...fault });
    })
    .pipe(z.record(FieldName, value));

function faultIn(members: Readonly<Record<string, unknown>>, value: z.ZodType) {
  const names = Object.keys(members);
  if (names.length > metadataFields) {
    return { path: [], message: `has at most ${metadataFields} fields` };
  }
  for (const name of names) {
    const { error } = FieldName.safeParse(name);
    const [issue] = (error ?? value.safeParse(members[name]).error)?.issues ?? [];
    if (issue !== undefined) return { path: [name], message: issue.message };
  }
  return undefined;
}

const Metadata = fields(Scalar);

const Memory = z.object({
  text: textOf(textBytes),
  /** True when the store extracts the facts of the text, so that each fact is found by itself. */
  infer: z.boolean().nullish(),
  metadata: Metadata.nullish(),
});

const Document = z
  .object({
    text: textOf(documentBytes).optional(),
    /** Another name of `text`. */
    content: textOf(documentBytes).optional(),
    title: line(titleChars).nullish(),
    id: z.union([line(titleChars), z.number()]).nullish(),
    metadata: Metadata.nullish(),
  })
  .refine(({ content, text }) => (content ?? text) !== undefined, 'has neither text nor content');

export const FIELD_TYPES = ['string', 'number', 'boolean'] as const;

/** Schema of each operation's body. Other members are dropped, such as a tenant id: the tenant is always the agent. */
export const BODIES = {
  query: z.object({
    query: textOf(queryBytes),
    type: ItemType.nullish(),
    /** Fields to search: `text` (the default), or declared fields of the metadata. */
    queryBy: z
      .union([line(fieldChars), z.array(line(fieldChars)).min(1).max(metadataFields)])
      .nullish(),
    mode: z.enum(['keyword', 'semantic', 'hybrid']).default('hybrid'),
    maxResults: z.int().min(1).max(results.most).default(results.usual),
    subTenantId: SubTenant,
    /** Values that the metadata must have. */
    filter: Metadata.nullish(),
  }),
  ingest: z.object({
    type: ItemType,
    memories: z.array(Memory).min(1).max(itemsPerIngest).optional(),
    /** Knowledge to store: a document, a list of documents, or an object of documents by their ids. */
    appKnowledge: z
      .preprocess(documentsOf, z.array(Document).min(1).max(itemsPerIngest))
      .optional(),
    subTenantId: SubTenant,
  }),
  status: z.object({ ids: Ids, subTenantId: SubTenant }),
  list: z.object({
    type: ItemType.nullish(),
    subTenantId: SubTenant,
    limit: z.int().min(1).max(listPage.most).default(listPage.usual),
    offset: z.int().min(0).max(listOffset).default(0),
  }),
  delete: z.object({ ids: Ids, type: ItemType.nullish(), subTenantId: SubTenant }),
  'tenant/create': z.object({
    tenantMetadataSchema: fields(z.enum(FIELD_TYPES)).nullish(),
    subTenantId: SubTenant,
  }),
  'tenant/status': z.object({}),
  'tenant/delete': z.object({
    confirm: z.literal(true, 'must be true: all memories of this agent are deleted'),
  }),
} as const;

export type Bodies = { readonly [Op in keyof typeof BODIES]: z.output<(typeof BODIES)[Op]> };
export type ItemType = z.output<typeof ItemType>;
export type Metadata = Readonly<Record<string, string | number | boolean>>;
export type MetadataSchema = Readonly<Record<string, (typeof FIELD_TYPES)[number]>>;
export type Document = z.output<typeof Document>;
