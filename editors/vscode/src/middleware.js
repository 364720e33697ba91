"use strict";
// What stands between the editor and the server: settings that the server asks for, and what the Markdown support of
// VS Code shows already.

const vscode = require("vscode");
const { isOrdinary } = require("./links.js");
const { forServer } = require("./settings.js");

/** @returns {import("vscode-languageclient/node").Middleware} */
function middleware() {
  return {
    workspace: {
      configuration: async (params, token, next) => {
        const found = await next(params, token);
        if (!Array.isArray(found)) return found;
        return found.map((each, at) => (params.items[at].section === "prosa" && each ? forServer(each) : each));
      },
    },
    provideDocumentSymbols: (document, token, next) =>
      isLeft("symbols", document.languageId) ? undefined : next(document, token),
    provideFoldingRanges: (document, context, token, next) =>
      isLeft("folding", document.languageId) ? undefined : next(document, context, token),
    provideDefinition: async (document, position, token, next) => {
      const found = await next(document, position, token);
      if (!Array.isArray(found) || !isLeft("definitions", document.languageId)) return found;
      return /** @type {vscode.DefinitionLink[]} */ (found).filter((each) => !isOrdinaryLink(document, each));
    },
    provideWorkspaceSymbols: async (query, token, next) => {
      const found = await next(query, token);
      return found?.filter((each) => !isLeft("symbols", "markdown") || !isHeadingOfMarkdown(each));
    },
  };
}

/** Whether a feature is left to the Markdown support of VS Code. @param {string} feature @param {string} language */
function isLeft(feature, language) {
  const left = vscode.workspace.getConfiguration("prosa").get("leaveToMarkdown");
  return language === "markdown" && Array.isArray(left) && left.includes(feature);
}

/**
 * Whether a definition is that of a link that every Markdown tool knows: not a wikilink, not a footnote, no field.
 * @param {vscode.TextDocument} document
 * @param {vscode.DefinitionLink} definition
 */
function isOrdinaryLink(document, { originSelectionRange: origin }) {
  if (!origin) return false;
  const before = document.lineAt(origin.start.line).text.slice(0, origin.start.character);
  return isOrdinary(before, document.getText(origin));
}

/** @param {vscode.SymbolInformation} symbol */
function isHeadingOfMarkdown({ kind, location }) {
  return kind === vscode.SymbolKind.String && /\.(md|markdown|mda|mdc)$/i.test(location.uri.path);
}

module.exports = { middleware };
