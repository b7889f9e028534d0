import { z } from 'zod';
import { EGRESS_LIMITS } from '../../platform/egress/limits.ts';
import { MARKETPLACE_LIMITS } from '../limits.ts';

const { inlineBytes } = MARKETPLACE_LIMITS.documents;
const INLINE_CHARS = 4 * Math.ceil(inlineBytes / 3);

/** A document that is to be turned into text: its address, or its bytes. Its pages are counted in the bytes. */
export const DocumentBody = z
  .object({
    documentUrl: z
      .string()
      .max(EGRESS_LIMITS.address.urlChars)
      .refine((text) => URL.canParse(text), 'must be an absolute URL')
      .nullish(),
    documentBase64: z
      .string()
      .min(1)
      .max(INLINE_CHARS)
      .refine((text) => isBase64(text), 'must be base64')
      .nullish(),
    language_code: z.string().max(MARKETPLACE_LIMITS.request.nameChars).nullish(),
    output_format: z.enum(['md', 'html']).nullish(),
  })
  .refine(({ documentBase64, documentUrl }) => (documentBase64 == null) !== (documentUrl == null), {
    path: ['documentUrl'],
    message: 'must be there, or else documentBase64',
  });

export type DocumentRequest = z.output<typeof DocumentBody>;

const isBase64 = (text: string): boolean =>
  text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
