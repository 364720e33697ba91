"use strict";
// The extension: it finds `prosa`, starts `prosa lsp`, and says what is wrong where that fails. Everything about
// documents is the server's.

const { accessSync, constants, statSync } = require("node:fs");
const { homedir } = require("node:os");
const vscode = require("vscode");
const { LanguageClient, State } = require("vscode-languageclient/node");
const { findProsa } = require("./find.js");
const { middleware } = require("./middleware.js");
const { ServerProcess, versionOf } = require("./server.js");
const { AT_START, forServer } = require("./settings.js");

const DOCUMENTS = [
  { scheme: "file", language: "markdown" },
  { scheme: "file", pattern: "**/*.{md,markdown,mda,ymj,mdx,mdc}" },
  { scheme: "file", pattern: "**/{evals.json,trigger-eval.json,triggers.json,eval_set.json,prosa.toml}" },
];

/** A client that writes what goes wrong into the output; `onGone` hears of what its user has to know. */
class QuietClient extends LanguageClient {
  /** @type {((words: string) => void) | undefined} */
  onGone = undefined;

  /** @param {string} message @param {any} data @param {boolean | "force"} show */
  error(message, data, show = true) {
    super.error(message, data, false);
    if (show === "force") this.onGone?.(message);
  }
}

/** The one server of a window, and what its user was told. */
class Session {
  /** @param {vscode.ExtensionContext} context */
  constructor(context) {
    this.expected = String(context.extension.packageJSON.version);
    this.output = vscode.window.createOutputChannel("Prosa", { log: true });
    /** @type {LanguageClient | undefined} */
    this.client = undefined;
    /** @type {Promise<void>} */
    this.turn = Promise.resolve();
    /** @type {Set<string>} */
    this.said = new Set();
  }

  /** Ends the server that there is and starts another; one call after the other. */
  restart() {
    this.turn = this.turn.then(async () => {
      await this.stop();
      await this.start();
    });
    return this.turn;
  }

  async stop() {
    const { client } = this;
    this.client = undefined;
    if (client && client.state !== State.Stopped) await client.dispose().catch(() => undefined);
  }

  async start() {
    const found = findProsa(surroundings());
    if ("problem" in found) return this.complain(found.problem, INSTALL, SETTINGS);
    this.output.info(`${found.command} (found by ${found.origin})`);
    try {
      this.compare(await versionOf(found.command), found.command);
    } catch (error) {
      return this.complain(wordsOf(error), SETTINGS, OUTPUT);
    }
    return this.serve(found.command);
  }

  /** @param {string} version @param {string} command */
  compare(version, command) {
    if (version === this.expected || this.said.has(command + version)) return;
    this.said.add(command + version);
    const words = `${command} is version ${version}; this extension was made for ${this.expected}. `;
    this.offer("warning", `${words}What one of them lacks does not work.`, UPDATE, SETTINGS);
  }

  /** @param {string} command */
  async serve(command) {
    /** @type {ServerProcess | undefined} */
    let server;
    const start = () => {
      server = new ServerProcess(command, vscode.workspace.workspaceFolders?.[0]?.uri.fsPath);
      return server.started();
    };
    const client = new QuietClient("prosa", "Prosa", start, {
      documentSelector: DOCUMENTS,
      initializationOptions: () => forServer(section()),
      outputChannel: this.output,
      initializationFailedHandler: () => false,
      middleware: middleware(),
    });
    this.client = client;
    try {
      await client.start();
      client.onGone = (words) => this.complain(words, OUTPUT);
    } catch (error) {
      this.client = undefined;
      const words = (await server?.firstWords()) || wordsOf(error);
      await client.dispose().catch(() => undefined);
      await this.complain(`${command} lsp did not start: ${words}`, INSTALL, OUTPUT);
    }
  }

  /** @param {vscode.ConfigurationChangeEvent} event */
  async changed(event) {
    if (!event.affectsConfiguration("prosa")) return;
    if (!this.client || AT_START.some((each) => event.affectsConfiguration(each))) return this.restart();
    await this.client.sendNotification("workspace/didChangeConfiguration", { settings: forServer(section()) });
  }

  /** @param {string} problem @param {Button[]} buttons */
  async complain(problem, ...buttons) {
    this.output.error(problem);
    this.offer("error", `Prosa: ${problem}`, ...buttons, RESTART);
  }

  /**
   * Shows a sentence with buttons, and does what is chosen; it is not waited for.
   * @param {"error" | "warning"} kind
   * @param {string} words
   * @param {Button[]} buttons
   */
  offer(kind, words, ...buttons) {
    const show = kind === "error" ? vscode.window.showErrorMessage : vscode.window.showWarningMessage;
    const titles = buttons.map(([title]) => title);
    void show(words, ...titles).then((title) => buttons.find((each) => each[0] === title)?.[1](this));
  }
}

/** @typedef {readonly [title: string, act: (session: Session) => unknown]} Button */

/** @type {Button} */
const SETTINGS = ["Open Settings", () => vscode.commands.executeCommand("workbench.action.openSettings", "prosa.path")];
/** @type {Button} */
const OUTPUT = ["Show Output", (session) => session.output.show()];
/** @type {Button} */
const RESTART = ["Try Again", (session) => session.restart()];
/** Whether a package index has Prosa; `tools.packaging.owner` writes it. Until then a checkout is installed, which the user names. */
const PUBLISHED = false;
const SOURCE = PUBLISHED ? '"prosa[lsp]"' : '"FOLDER-OF-YOUR-CHECKOUT[lsp]"';
/** @type {Button} */
const INSTALL = ["Install…", () => write(`pip install ${SOURCE}`)];
/** @type {Button} */
const UPDATE = ["Update…", () => write(`pip install --upgrade ${SOURCE}`)];

/** Writes a command into a terminal, where the user starts it or does not. @param {string} command */
function write(command) {
  const terminal = vscode.window.createTerminal("Prosa");
  terminal.show();
  terminal.sendText(command, false);
}

/** The section `prosa` of the settings. @returns {Record<string, any>} */
function section() {
  return JSON.parse(JSON.stringify(vscode.workspace.getConfiguration().get("prosa") ?? {}));
}

/** @returns {import("./find.js").Surroundings} */
function surroundings() {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter((each) => each.uri.scheme === "file");
  return {
    setting: section().path ?? "",
    folders: folders.map((each) => each.uri.fsPath),
    isTrusted: vscode.workspace.isTrusted,
    env: process.env,
    platform: process.platform,
    home: homedir(),
    isExecutable,
  };
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** @param {unknown} error */
function wordsOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @type {Session | undefined} */
let session;

/** @param {vscode.ExtensionContext} context */
async function activate(context) {
  const made = (session = new Session(context));
  context.subscriptions.push(
    made.output,
    vscode.commands.registerCommand("prosa.restart", () => made.restart()),
    vscode.commands.registerCommand("prosa.showOutput", () => made.output.show()),
    vscode.workspace.onDidChangeConfiguration((event) => made.changed(event)),
    vscode.workspace.onDidGrantWorkspaceTrust(() => made.restart()),
  );
  await made.restart();
}

async function deactivate() {
  await session?.stop();
}

module.exports = { activate, deactivate };
