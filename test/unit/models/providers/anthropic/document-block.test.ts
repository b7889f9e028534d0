import { describe, expect, it } from 'vitest';
import { documentBlock } from '../../../../../src/models/providers/anthropic/document-block.ts';
import { UnfitRequest } from '../../../../../src/models/providers/anthropic/unfit-request.ts';

const data = Buffer.from('%PDF-1.7 …').toString('base64');
const source = { type: 'base64', media_type: 'application/pdf', data };
const blockOf = (file: unknown) => documentBlock(file, 'messages[0].content[0].file');

describe('a file that a user shows', () => {
  it('is a document where it is a PDF, in either way to send one', () => {
    const document = { type: 'document', source };
    const url = `data:application/pdf;base64,${data}`;
    expect(blockOf({ file_data: url })).toEqual(document);
    expect(blockOf({ file_data: url.replace('application/pdf', 'Application/PDF') })).toEqual(
      document,
    );
    expect(blockOf({ file_data: data, filename: 'a.pdf' })).toEqual({
      ...document,
      title: 'a.pdf',
    });
  });

  it('is a PDF where its first bytes are those of one, whatever it is said to be', () => {
    expect(blockOf({ file_data: 'data:text/plain;base64,JVBERi0=' })).toMatchObject({
      source: { media_type: 'application/pdf', data: 'JVBERi0=' },
    });
  });

  it('is refused by its place where it is another, or lies at a vendor', () => {
    const refused = [
      { file_id: 'file-1' },
      undefined,
      'x',
      { file_data: 7 },
      { file_data: '' },
      { file_data: 'data:text/plain;base64,AAAA' },
      { file_data: 'data:application/pdf,secret' },
      { file_data: 'https://secret.example/a.pdf' },
      { file_data: Buffer.from('secret').toString('base64'), filename: 'a.pdf' },
    ];
    for (const file of refused) {
      expect(() => blockOf(file)).toThrow(UnfitRequest);
      expect(() => blockOf(file)).toThrow(/^messages\[0\]\.content\[0\]\.file\.file_data must be/);
      expect(() => blockOf(file)).not.toThrow(/secret/);
    }
  });
});
