/** What shells read once to complete our programs: each asks `salt-ts __complete` at every Tab. */

/** `timeout` of coreutils makes sure that a prompt waits no longer, whatever holds the process up. */
const ASK = 'SALT_TS_COMPLETION_SECONDS="$limit" $guard salt-ts __complete'

const bash = (
  programs: readonly string[],
) => `# Completion of salt-ts for bash: eval "$(salt-ts completion bash)"
_salt_ts() {
  local limit="\${SALT_TS_COMPLETION_SECONDS:-0.1}" guard="" line="\${COMP_LINE:0:COMP_POINT}" word about
  command -v timeout >/dev/null && guard="timeout $limit"
  local current="\${line##*[[:space:]]}"
  current="\${current#[\\'\\"]}"
  local broken="\${current%"\${current##*[=:]}"}"
  COMPREPLY=()
  while IFS=$'\\t' read -r word about; do
    COMPREPLY+=("\${word#"$broken"}")
  done < <(${ASK} "$line" 2>/dev/null)
  [[ \${#COMPREPLY[@]} -eq 1 && "\${COMPREPLY[0]}" == *[=:] ]] && compopt -o nospace
  return 0
}
complete -o default -F _salt_ts ${programs.join(' ')}
`

const zsh = (programs: readonly string[]) => `#compdef ${programs.join(' ')}
# Completion of salt-ts for zsh: eval "$(salt-ts completion zsh)", after compinit.
_salt_ts() {
  local limit="\${SALT_TS_COMPLETION_SECONDS:-0.1}" line="\${(j: :)words[1,CURRENT]}" row
  local -a guard described open
  (( \${+commands[timeout]} )) && guard=(timeout $limit)
  while IFS= read -r row; do
    local word="\${row%%$'\\t'*}" about="\${row#*$'\\t'}"
    if [[ "$word" == *[=:] ]]; then open+=("$word"); else described+=("\${word//:/\\\\:}:$about"); fi
  done < <(${ASK.replace('$guard', '$guard[@]')} "$line" 2>/dev/null)
  (( $#described + $#open )) || { _files; return }
  (( $#open )) && compadd -S '' -- $open
  (( $#described )) && _describe 'salt' described
}
compdef _salt_ts ${programs.join(' ')}
`

const fish = (
  programs: readonly string[],
) => `# Completion of salt-ts for fish: salt-ts completion fish | source
function __salt_ts
    set -l limit 0.1
    set -q SALT_TS_COMPLETION_SECONDS; and set limit $SALT_TS_COMPLETION_SECONDS
    set -l guard
    command -q timeout; and set guard timeout $limit
    env SALT_TS_COMPLETION_SECONDS=$limit $guard salt-ts __complete (commandline -cp) 2>/dev/null
end
${programs.map((program) => `complete -c ${program} -a '(__salt_ts)'`).join('\n')}
`

export const shells: Readonly<Record<string, (programs: readonly string[]) => string>> = { bash, zsh, fish }
