# To be sourced by journeys, with the program as argument: goes to an empty folder, which is removed at the end, and defines
#   ask CODE WORD... -- PHRASE...   the command ends with CODE, and prints each phrase; "!PHRASE" must not be printed
#   end_of_questions                fails if an answer was wrong
program=$(realpath "${1:?usage: $(basename "$0") ESPALIER}")
cd "$(dirname "$0")/../.."
configs=$PWD/configs
export PYTHONPATH=$PWD/python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

ask() {
  local code=$1 words=() actual=0
  shift
  while [ "$1" != -- ]; do words+=("$1"); shift; done
  shift
  "$program" "${words[@]}" >printed 2>&1 || actual=$?
  [ "$actual" -eq "$code" ] || complain "exit code $actual"
  for phrase; do
    if [ "${phrase:0:1}" = '!' ]; then
      ! grep -qF -- "${phrase:1}" printed || complain "prints: ${phrase:1}"
    else
      grep -qF -- "$phrase" printed || complain "does not print: $phrase"
    fi
  done
}
complain() {
  echo "espalier ${words[*]}: $1"
  head -12 printed | cut -c1-160
  failures=$((failures + 1))
}
end_of_questions() {
  echo "$failures failures"
  [ "$failures" -eq 0 ]
}
