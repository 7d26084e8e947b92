/**
 * Shell completion: a script that completes every command and its flags; anything else is completed as a file name.
 *
 *   source <(outrider completion bash)                             in ~/.bashrc
 *   source <(outrider completion zsh)                              in ~/.zshrc, after compinit
 *   outrider completion fish > ~/.config/fish/completions/outrider.fish
 */
import { type Flag, UsageError } from "./flags.ts";

/** A command with the fields that a shell needs. */
interface Completable {
  readonly name: string;
  readonly text: string;
  readonly flags: readonly Flag[];
}

const SCRIPTS = Object.freeze({ bash: bashScript, zsh: zshScript, fish: fishScript });

/** The names of SCRIPTS, for help and errors. */
export const SHELLS = Object.keys(SCRIPTS).join("|");

/** The script for a shell. Throws UsageError for an unknown shell. */
export function completionScript(shell: string, commands: readonly Completable[]): string {
  if (!Object.hasOwn(SCRIPTS, shell)) {
    throw new UsageError(`shell: ${shell || "none"} (expected: ${SHELLS})`);
  }
  return SCRIPTS[shell as keyof typeof SCRIPTS](commands);
}

function bashScript(commands: readonly Completable[]): string {
  const cases = commands.map(
    ({ name, flags }) =>
      `    ${name}) words="${flags.map((flag) => `--${flag.name}`).join(" ")}" ;;\n`,
  );
  return `_outrider() {
  local words="${commands.map(({ name }) => name).join(" ")}"
  [ "$COMP_CWORD" -gt 1 ] && case "\${COMP_WORDS[1]}" in
${cases.join("")}    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _outrider outrider
`;
}

function zshScript(commands: readonly Completable[]): string {
  const entry = (name: string, text: string): string => quoted(`${name}:${text}`);
  const cases = commands.map(({ name, flags }) => {
    const entries = flags.map((flag) => entry(`--${flag.name}`, flag.text));
    return `    ${name}) found=(${entries.join(" ")}) ;;\n`;
  });
  return `#compdef outrider
_outrider() {
  local -a found
  if (( CURRENT == 2 )); then
    found=(${commands.map(({ name, text }) => entry(name, text)).join(" ")})
    _describe command found
    return
  fi
  case "$words[2]" in
${cases.join("")}  esac
  _describe flag found
  _files
}
compdef _outrider outrider
`;
}

function fishScript(commands: readonly Completable[]): string {
  const lines = commands.flatMap(({ name, text, flags }) => [
    `complete -c outrider -n __fish_use_subcommand -f -a ${name} -d ${quoted(text)}`,
    ...flags.map((flag) => {
      const value = flag.value === undefined ? "" : " -r";
      const when = `-n '__fish_seen_subcommand_from ${name}'`;
      return `complete -c outrider ${when} -l ${flag.name}${value} -d ${quoted(flag.text)}`;
    }),
  ]);
  return `${lines.join("\n")}\n`;
}

/** Quotes a text as one word for any of the shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
