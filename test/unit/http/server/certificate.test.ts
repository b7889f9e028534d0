import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../../src/config/config-error.ts';
import { checkCertificate } from '../../../../src/http/server/certificate.ts';
import { selfSigned } from '../../../support/self-signed.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-certificate-'));
afterAll(() => rmSync(directory, { recursive: true }));

const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};

const { cert, key } = selfSigned(['a.test']);
const certFile = file('cert.pem', cert + selfSigned(['chain.test']).cert);
const keyFile = file('key.pem', key);

describe('the files of a certificate', () => {
  it('certificate files are accepted where the key fits the first certificate, whatever certificates follow', async () => {
    await expect(checkCertificate({ certFile, keyFile })).resolves.toBeUndefined();
  });

  it.each([
    ['TLS_CERT_FILE', { certFile: '/nowhere', keyFile }],
    ['TLS_CERT_FILE', { certFile: keyFile, keyFile }],
    ['TLS_KEY_FILE', { certFile, keyFile: '/nowhere' }],
    ['TLS_KEY_FILE', { certFile, keyFile: certFile }],
    ['TLS_KEY_FILE', { certFile, keyFile: file('other.pem', selfSigned(['a.test']).key) }],
  ])('certificate files are refused by the name of the variable: %s', async (variable, files) => {
    const error = await checkCertificate(files).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as Error).message).toMatch(new RegExp(`^${variable} /`));
    expect((error as Error).message).not.toContain('PRIVATE KEY');
  });
});
