import { describe, expect, it } from 'vitest';
import { documentBlock } from '../../../../../src/models/providers/anthropic/document-block.ts';

const data = Buffer.from('%PDF-1.7 …').toString('base64');
const source = { type: 'base64', media_type: 'application/pdf', data };
const blockOf = (file: unknown) => documentBlock(file, 'messages[0].content[0].file');

describe('a file that a user shows', () => {
  it('a user’s PDF file becomes an Anthropic document, as a data URL or as plain base64', () => {
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

  it('a user’s file with a PDF’s first bytes becomes an Anthropic document, whatever type it states', () => {
    expect(blockOf({ file_data: 'data:text/plain;base64,JVBERi0=' })).toMatchObject({
      source: { media_type: 'application/pdf', data: 'JVBERi0=' },
    });
  });

  it('a user’s file that is no inline PDF is refused with its place and without its content', () => {
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
      expect(() => blockOf(file)).toThrow(expect.objectContaining({ name: 'UnfitRequest' }));
      expect(() => blockOf(file)).toThrow(/^messages\[0\]\.content\[0\]\.file\.file_data must be/);
      expect(() => blockOf(file)).not.toThrow(/secret/);
    }
  });
});
