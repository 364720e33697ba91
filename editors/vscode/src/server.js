"use strict";
// A `prosa` as a process. In: the path of the program. Out: its version, or the process that serves, whose first words
// are kept for the case that it ends at once.

const { execFile, spawn } = require("node:child_process");
const { once } = require("node:events");
const { setTimeout: sleep } = require("node:timers/promises");

const SECONDS = 20;
const KEPT = 4000;
const PATIENCE = 3000;

/**
 * The version that `prosa --version` prints. Rejects with a sentence.
 * @param {string} command
 * @returns {Promise<string>}
 */
function versionOf(command) {
  return new Promise((resolve, reject) => {
    execFile(command, ["--version"], { timeout: SECONDS * 1000, windowsHide: true }, (error, stdout, stderr) => {
      const version = /^prosa (\S+)\s*$/.exec(stdout)?.[1];
      if (version) resolve(version);
      else reject(new Error(`${command} --version gave no version: ${firstLine(stderr || stdout || error?.message)}`));
    });
  });
}

/** A server that was started, and what it wrote to standard error. */
class ServerProcess {
  /** @param {string} command @param {string | undefined} cwd */
  constructor(command, cwd) {
    this.words = "";
    this.child = spawn(command, ["lsp", "--stdio"], { cwd, windowsHide: true });
    this.child.stderr.setEncoding("utf8").on("data", (text) => {
      this.words = (this.words + text).slice(0, KEPT);
    });
    this.isClosed = false;
    this.child.once("close", () => (this.isClosed = true));
  }

  /** Resolves when the process is there. @returns {Promise<import("node:child_process").ChildProcess>} */
  started() {
    return new Promise((resolve, reject) => {
      this.child.once("spawn", () => resolve(this.child));
      this.child.once("error", reject);
    });
  }

  /** What a process that ends wrote first, as soon as all of it has come. @returns {Promise<string>} */
  async firstWords() {
    if (!this.isClosed) {
      const deadline = new AbortController();
      const late = sleep(PATIENCE, undefined, { signal: deadline.signal }).catch(() => undefined);
      await Promise.race([once(this.child, "close"), late]);
      deadline.abort();
    }
    return firstLine(this.words);
  }
}

/** @param {string | undefined} text */
function firstLine(text) {
  return (text ?? "").trim().split(/\r?\n/, 1)[0];
}

module.exports = { ServerProcess, versionOf };
