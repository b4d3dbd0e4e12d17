# How the scripts of this folder ask the program. They source it: . ask.sh ESPALIER. It leaves them in an empty folder, with the
# configurations of the repository in $configs and its Python package on the path.
program=$(realpath "${1:?usage: $0 ESPALIER}")
configs=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../configs")
docs=$configs/../docs
export PYTHONPATH=$configs/../python PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

complain() {
  echo "espalier ${words[*]}: $1"
  head -12 printed | cut -c1-160
  failures=$((failures + 1))
}

# ask CODE WORD... -- PHRASE...: the command ends with CODE, and prints each phrase; "!PHRASE" must not be printed.
ask() {
  local code=$1 actual=0
  words=()
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

# expect EXPRESSION FILE...: of Python, true of the results in the JSON files. a, b, c: the results of the first, second, third file.
expect() {
  python3 - "$@" <<'PYTHON' || failures=$((failures + 1))
import json, sys
expression, *files = sys.argv[1:]
try:
    names = dict(zip("abc", [json.load(open(file))["results"] for file in files]))
    good = eval(expression, names)
except Exception as error:
    good = expression = f"{expression}: {error!r}"
    good = False
if not good:
    sys.exit(f"not so: {expression}")
PYTHON
}

finish() {
  echo "$failures failures"
  exit $((failures != 0))
}
