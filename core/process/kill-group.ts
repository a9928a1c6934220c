/** Kill all processes of a group, which has the pid of its leader: a child that was started detached, and what it started. */
export function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL')
  } catch {
    // no process of the group is left
  }
}
