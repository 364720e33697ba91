"use strict";
// Which links every Markdown tool knows. In: the text of a link, or of its target, and what stands before it.

/**
 * Whether a text is an ordinary link or image, its label or its target; wikilinks and footnotes are not.
 * @param {string} before what stands before it in its line
 * @param {string} text
 */
function isOrdinary(before, text) {
  return /^!?\[(?![[^])/.test(text) || /\](?:\(|\[|:)\s*<?$/.test(before);
}

module.exports = { isOrdinary };
