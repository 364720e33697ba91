// Builds dist/prosa-VERSION.vsix: one script, the texts, and the licences of what the script contains. Asks no network.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const folder = join(here, "dist", "extension");
const manifest = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));

rmSync(join(here, "dist"), { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const { metafile } = await build({
  entryPoints: [join(here, "src", "extension.js")],
  outfile: join(folder, "extension.js"),
  absWorkingDir: here,
  bundle: true,
  minify: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  legalComments: "none",
  metafile: true,
});

const packages = new Set(
  Object.keys(metafile.inputs).flatMap((each) => each.match(/^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/) ?? []),
);
const licences = [...packages].sort().map((each) => {
  const { name, version, license } = JSON.parse(readFileSync(join(here, each, "package.json"), "utf8"));
  const file = readdirSync(join(here, each)).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${each} has no licence to pass on`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(here, each, file), "utf8").trim()}\n`;
});
writeFileSync(join(folder, "THIRD-PARTY-LICENSES.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));

const { devDependencies, scripts, ...shipped } = manifest;
writeFileSync(join(folder, "package.json"), `${JSON.stringify({ ...shipped, files: ["**"] }, null, 2)}\n`);
for (const name of ["README.md", "language-configuration.json", "ymj.tmLanguage.json"]) {
  cpSync(join(here, name), join(folder, name));
}
cpSync(join(here, "..", "..", "build", manifest.icon), join(folder, manifest.icon)); // `tools.packaging.icon` has drawn it
for (const { url } of manifest.contributes.jsonValidation) {
  cpSync(join(here, "..", "..", "build", url), join(folder, url)); // `tools.schemas` has written them
}
cpSync(join(here, "..", "..", "LICENSE"), join(folder, "LICENSE"));

// The changelog is that of Prosa: its links are from the root of the repository, and are words while there is no address.
const changelog = readFileSync(join(here, "..", "..", "CHANGELOG.md"), "utf8");
const home = manifest.repository?.url.replace(/\.git$/, "");
const absolute = (_, words, path) => (home ? `[${words}](${home}/blob/main/${path})` : words);
writeFileSync(join(folder, "CHANGELOG.md"), changelog.replace(/\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)/g, absolute));

const vsce = join(here, "node_modules", "@vscode", "vsce", "vsce");
const target = join(here, "dist", `${manifest.name}-${manifest.version}.vsix`);
const nowhere = manifest.repository ? [] : ["--allow-missing-repository"];
const flags = ["--no-dependencies", ...nowhere, "--out", target];
execFileSync(process.execPath, [vsce, "package", ...flags], { cwd: folder, stdio: "inherit" });
