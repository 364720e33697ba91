"use strict";
// Finds the `prosa` to start. In: the setting, the folders that are open, the environment. Out: an absolute path with
// where it comes from, or a sentence that says where it was looked for. Nothing is started here.

const path = require("node:path");

/**
 * @typedef {object} Surroundings
 * @property {string} setting the setting `prosa.path`
 * @property {readonly string[]} folders paths of the folders that are open
 * @property {boolean} isTrusted whether what lies in these folders may be started
 * @property {NodeJS.ProcessEnv} env
 * @property {NodeJS.Platform} platform
 * @property {string} home
 * @property {(file: string) => boolean} isExecutable
 *
 * @typedef {{command: string, origin: "setting" | "folder" | "PATH"}} Found
 * @typedef {{problem: string}} Missing
 */

/**
 * The `prosa` of the setting, else of a virtual environment in an open folder, else of PATH. A setting that leads
 * nowhere is not replaced by something else.
 * @param {Surroundings} around
 * @returns {Found | Missing}
 */
function findProsa(around) {
  if (around.setting.trim()) return ofSetting(around);
  return ofFolders(around) ?? ofPath(around) ?? { problem: missing(around) };
}

/** @param {Surroundings} around @returns {Found | Missing} */
function ofSetting(around) {
  const { setting, folders, home, platform } = around;
  const { isAbsolute, join } = flavour(platform);
  const asked = setting.trim().replace(/^~(?=[\\/]|$)/, () => home);
  if (asked.includes("${workspaceFolder}") && folders.length === 0)
    return { problem: `the setting prosa.path is ${setting}, and no folder is open` };
  const candidates = asked.includes("${workspaceFolder}")
    ? folders.map((folder) => asked.replaceAll("${workspaceFolder}", () => folder))
    : isAbsolute(asked)
      ? [asked]
      : /[\\/]/.test(asked)
        ? folders.map((folder) => join(folder, asked))
        : onPath(asked, around);
  const command = candidates.find(around.isExecutable);
  if (command) return { command, origin: "setting" };
  const tried = candidates.length ? candidates.join(", ") : setting;
  return { problem: `the setting prosa.path leads to no program that can be started: ${tried}` };
}

/** @param {Surroundings} around @returns {Found | undefined} */
function ofFolders({ folders, isTrusted, platform, isExecutable }) {
  if (!isTrusted) return undefined;
  const { join } = flavour(platform);
  const inside = platform === "win32" ? ["Scripts", "prosa.exe"] : ["bin", "prosa"];
  const candidates = folders.flatMap((folder) => [".venv", "venv"].map((name) => join(folder, name, ...inside)));
  const command = candidates.find(isExecutable);
  return command ? { command, origin: "folder" } : undefined;
}

/** @param {Surroundings} around @returns {Found | undefined} */
function ofPath(around) {
  const command = onPath("prosa", around).find(around.isExecutable);
  return command ? { command, origin: "PATH" } : undefined;
}

/**
 * The files that a name may mean on PATH. An entry that is relative would mean a file of whatever folder is open.
 * @param {string} name
 * @param {Surroundings} around
 */
function onPath(name, { env, platform }) {
  const { delimiter, isAbsolute, join } = flavour(platform);
  const file = platform === "win32" && !/\.exe$/i.test(name) ? `${name}.exe` : name;
  const value = Object.entries(env).find(([key]) => key.toUpperCase() === "PATH")?.[1] ?? "";
  return value
    .split(delimiter)
    .filter((entry) => isAbsolute(entry))
    .map((entry) => join(entry, file));
}

/** @param {Surroundings} around */
function missing({ folders, isTrusted }) {
  const looked = folders.length && isTrusted ? ".venv and venv of the open folder, and PATH" : "PATH";
  const distrust = folders.length && !isTrusted ? "; what lies in a folder that is not trusted is not started" : "";
  return `no program prosa was found (looked in ${looked}${distrust})`;
}

/** @param {NodeJS.Platform} platform */
function flavour(platform) {
  return platform === "win32" ? path.win32 : path.posix;
}

module.exports = { findProsa };
