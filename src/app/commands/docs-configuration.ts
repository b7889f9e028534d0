import { writeFileSync } from 'node:fs';
import { configurationPage } from './docs/configuration-page.ts';

/** `npm run docs:configuration`: writes the page of all variables anew. */
writeFileSync('docs/configuration.md', configurationPage());
