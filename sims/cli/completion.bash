_espalier() {
  local words
  words=$("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=($words)
  [[ $words == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _espalier espalier
