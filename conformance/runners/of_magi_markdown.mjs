// A runner of the script of MAGI's own repository: `node conformance/runners/of_magi_markdown.mjs DIR`, where DIR holds
// `scripts/parse-document.ts` of https://github.com/sno-ai/magi-markdown at 8c70eea, compiled to `parse-document.mjs`.
// It never rejects a document: what it cannot read it leaves out.
import { createInterface } from 'node:readline';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const { parseMagiDocument } = await import(pathToFileURL(resolve(process.argv[2], 'parse-document.mjs')));

function answer({ id, format, op, input }) {
  if (format !== 'magi' || op !== 'read') return { id, error: 'unsupported' };
  const { frontMatter, scripts, relationships } = parseMagiDocument(input.text);
  const none = Object.keys(frontMatter).length === 2 && frontMatter['doc-id'] === '' && frontMatter.title === '';
  return { id, result: { front_matter: none ? null : frontMatter, scripts, relationships } };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + '\n');
}
