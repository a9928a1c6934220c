/** Flags of Salt's programs that these do not have yet: whoever types one is told so, not that it does not exist. */
const LATER = new Set(
  [
    '-a --auth --eauth --external-auth -T --make-token --username --password', // external authentication
    '-R --range -H --hosts -p --progress',
    '--state-output --state_output --state-verbose --state_verbose --output-diff', // states
    '--saltfile --hard-crash --jid --profiling-path --enable-profiling --priv --pub --user',
    '--return --pillar-root --states-dir --set-metadata --skip-grains --refresh-grains-cache --proxyid',
  ].flatMap((line) => line.split(' ')),
)

export const isLaterFlag = (flag: string): boolean => LATER.has(flag)
