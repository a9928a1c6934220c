#!/bin/sh
# Prints the completions of a command line: complete.sh LINE. Shells run it at each Tab (core/cli/completion).
#
# Words that depend on a configuration come from the user's cache, which `salt-ts __words` writes with the user's
# rights. A cache that is older than its sources is written again in the background. The prompt waits for that only
# if there is no cache (1 s at most), or if a key was added or removed (0.1 s at most). SALT_TS_COMPLETION_SECONDS
# sets another time for both.
set -f
here=${0%/*}

config=${SALT_CONFIG_DIR:-/etc/salt}
before=
for word in $1; do
  case $before in -c | --config-dir) config=$word ;; esac
  case $word in --config-dir=*) config=${word#*=} ;; esac
  before=$word
done
case $config in
  '~'/*) config=$HOME/${config#??} ;;
  /*) ;;
  *) config=$PWD/$config ;;
esac

known=${XDG_CACHE_HOME:-$HOME/.cache}/salt-ts/completion$config
made=$known/made-of # rows of the kind of a path, and the path
old= changed= readable=1
if [ -O "$made" ]; then
  while IFS='	' read -r kind path; do
    if [ "$path" -nt "$made" ]; then
      old=1
      [ "$kind" = keys ] && changed=$path
    fi
    [ "$kind" = keys ] && [ ! -r "$path" ] && old=1 readable=
  done <"$made"
else
  old=1
fi

if [ -n "$old" ]; then
  "$here/salt-ts" __words "$config" </dev/null >/dev/null 2>&1 &
  writer=$! patience=0.1
  [ -O "$made" ] || patience=1
  if [ -n "$changed" ] || [ ! -O "$made" ]; then
    timeout "${SALT_TS_COMPLETION_SECONDS:-$patience}" sh -c \
      'while { [ ! -O "$1" ] || [ "$2" -nt "$1" ]; } && kill -0 "$3"; do sleep 0.01; done' \
      sh "$made" "$changed" "$writer" 2>/dev/null
  fi
fi
[ -n "$readable" ] && [ -O "$made" ] || known=

LINE=$1 OWN=$here/../dist/cli/completion KNOWN=$known exec awk -f "$here/complete.awk"
