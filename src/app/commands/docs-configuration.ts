import { writeFileSync } from 'node:fs';
import { configurationPage } from './docs/configuration-page.ts';

/** `npm run docs:configuration`: regenerates the page of all environment variables. */
writeFileSync('docs/configuration.md', configurationPage());
