#!/usr/bin/env bash
# The program $ESPALIER with flaws, which mutate.py must find: its refusals lose their place, name a library's exception, or die.
[[ " $* " != *" -j1 "* ]] || exec "$ESPALIER" "$@"  # the harness interrupts it
code=0
{ text=$("$ESPALIER" "$@" 2>&1 >&3) || code=$?; } 3>&1
[ $code -eq 2 ] || { [ -z "$text" ] || printf '%s\n' "$text" >&2; exit $code; }
case $((${#text} % 3)) in
  0) sed 's/:[0-9]*:[0-9]*: error/: error/' <<<"$text" >&2;;
  1) echo "error: std::bad_alloc" >&2;;
  2) kill -SEGV $$;;
esac
exit 2
