import { bursts } from './bursts.ts'
import { clocks } from './clocks.ts'
import { disks } from './disks.ts'
import { freezes } from './freezes.ts'
import { kills } from './kills.ts'
import { namespaces } from './namespaces.ts'
import { networks } from './networks.ts'
import { restarts } from './restarts.ts'
import type { Scenario } from './scenario.ts'
import { stores } from './stores.ts'

/** In this order those that can share a fleet follow each other. */
export const scenarios: readonly Scenario[] = [
  ...kills,
  ...freezes,
  ...restarts,
  ...stores,
  ...bursts,
  ...networks,
  ...disks,
  ...clocks,
  ...namespaces,
]
