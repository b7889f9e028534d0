import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ConfigError } from '../../config/config-error.ts';

/** The files of a certificate, with the chain above it, and of its private key; both PEM. */
export type CertificateFiles = { readonly certFile: string; readonly keyFile: string };

/**
 * Reads both files once before the socket library does, which would end the process without a message. Throws ConfigError,
 * which names the variable and the fault of its file.
 */
export async function checkCertificate({ certFile, keyFile }: CertificateFiles): Promise<void> {
  const certificate = await load('TLS_CERT_FILE', certFile, (pem) => new X509Certificate(pem));
  const key = await load('TLS_KEY_FILE', keyFile, (pem) => createPrivateKey(pem));
  if (certificate.checkPrivateKey(key)) return;
  throw new ConfigError(`TLS_KEY_FILE ${keyFile}: is not the key of the certificate ${certFile}`);
}

async function load<T>(variable: string, path: string, parse: (pem: Buffer) => T): Promise<T> {
  try {
    return parse(await readFile(path));
  } catch (error) {
    throw new ConfigError(`${variable} ${path}: ${(error as Error).message}`);
  }
}
