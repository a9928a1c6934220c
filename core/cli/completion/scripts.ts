/** Completion scripts for shells. They call `bin/complete.sh` at every Tab, and once at the start to fill its cache. */

/** Return the script. `helper` is the path of `bin/complete.sh`. */
type Script = (programs: readonly string[], helper: string) => string

const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`

const bash: Script = (
  programs,
  helper,
) => `# Completion of salt-ts for bash: eval "$(salt-ts completion bash)"
_salt_ts() {
  local line="\${COMP_LINE:0:COMP_POINT}" word about
  local current="\${line##*[[:space:]]}"
  current="\${current#[\\'\\"]}"
  local broken="\${current%"\${current##*[=:]}"}"
  COMPREPLY=()
  while IFS=$'\\t' read -r word about; do
    COMPREPLY+=("\${word#"$broken"}")
  done < <(sh ${quoted(helper)} "$line" 2>/dev/null)
  [[ \${#COMPREPLY[@]} -eq 1 && "\${COMPREPLY[0]}" == *[=:] ]] && compopt -o nospace
  return 0
}
complete -o default -F _salt_ts ${programs.join(' ')}
(sh ${quoted(helper)} '' >/dev/null 2>&1 &)
`

const zsh: Script = (programs, helper) => `#compdef ${programs.join(' ')}
# Completion of salt-ts for zsh: eval "$(salt-ts completion zsh)", after compinit.
_salt_ts() {
  local line="\${(j: :)words[1,CURRENT]}" row
  local -a described open
  while IFS= read -r row; do
    local word="\${row%%$'\\t'*}" about="\${row#*$'\\t'}"
    if [[ "$word" == *[=:] ]]; then open+=("$word"); else described+=("\${word//:/\\\\:}:$about"); fi
  done < <(sh ${quoted(helper)} "$line" 2>/dev/null)
  (( $#described + $#open )) || { _files; return }
  (( $#open )) && compadd -S '' -- $open
  (( $#described )) && _describe 'salt' described
}
compdef _salt_ts ${programs.join(' ')}
(sh ${quoted(helper)} '' >/dev/null 2>&1 &)
`

const fish: Script = (programs, helper) => `# Completion of salt-ts for fish: salt-ts completion fish | source
function __salt_ts
    sh ${quoted(helper)} (commandline -cp) 2>/dev/null
end
${programs.map((program) => `complete -c ${program} -a '(__salt_ts)'`).join('\n')}
sh ${quoted(helper)} '' >/dev/null 2>&1 &
`

export const shells: Readonly<Record<string, Script>> = { bash, zsh, fish }
