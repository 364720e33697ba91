"use strict";
// What the server is told of the settings. In: the section `prosa` of the settings. Out: what `prosa lsp` takes; it
// refuses what it does not know, so settings of the extension alone are left out.

/** Settings that only the extension reads. */
const OWN = Object.freeze(["path", "leaveToMarkdown", "trace"]);

/**
 * The settings as the server takes them.
 * @param {Readonly<Record<string, unknown>>} section
 * @returns {Record<string, unknown>}
 */
function forServer(section) {
  return Object.fromEntries(Object.entries(section).filter(([key]) => !OWN.includes(key)));
}

/** Settings that count only when a server starts. */
const AT_START = Object.freeze(["prosa.path", "prosa.features"]);

module.exports = { AT_START, OWN, forServer };
