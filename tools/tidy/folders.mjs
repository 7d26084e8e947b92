/**
 * Folders of src/ and assembly/ (CONTRIBUTING.md, Rooms and doors): about fifteen files at most, and one of them begins with the folder's
 * comment: what is decided there and what it may touch.
 */

/** Most files of a folder. */
const FILES_MAX = 15;
/** A folder of more files than this has a comment. */
const FILES_FEW = 2;

const SCRIPT = /^((?:src\/|assembly\b)[\w/-]*)\/[\w.-]+\.c?ts$/;
const COMMENT = /^\/\*\*\n \* Room `([^`]+)`: /;

export function checkFolders(files, reportFor) {
  const folders = new Map();
  for (const { path, text } of files) {
    const folder = SCRIPT.exec(path)?.[1];
    if (folder === undefined) continue;
    const named = COMMENT.exec(text)?.[1];
    if (named !== undefined && named !== folder)
      reportFor(path)("folder-comment", 2, `this is ${folder}, not ${named}`);
    const own = folders.get(folder) ?? { first: path, count: 0, comments: 0 };
    own.count += 1;
    if (named === folder) own.comments += 1;
    folders.set(folder, own);
  }
  for (const [folder, own] of folders) checkFolder(folder, own, reportFor(own.first));
}

function checkFolder(folder, { count, comments }, report) {
  if (count > FILES_MAX)
    report("folder-files", 1, `${count} files in ${folder} (at most ${FILES_MAX})`);
  if (comments > 1 || (comments === 0 && count > FILES_FEW))
    report(
      "folder-comment",
      1,
      `${comments} files begin with "Room \`${folder}\`:" (expected: one)`,
    );
}
