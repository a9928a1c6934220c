/** The core grains, which Salt has for every host. Other sources are merged later and may override them. */
import { grains } from 'salt-ts'
import cloud from './_core/cloud.ts'
import gpus from './_core/gpus.ts'
import hardware from './_core/hardware.ts'
import network from './_core/network.ts'
import os from './_core/os.ts'
import runtime from './_core/runtime.ts'
import storage from './_core/storage.ts'
import virtual from './_core/virtual.ts'
import { gather } from './_facts/gather.ts'
import { Host } from './_facts/host.ts'

const sources = [os, hardware, gpus, virtual, network, storage, cloud, runtime]

export default grains({
  collect: (facts) => {
    const host = new Host()
    return gather(facts.log, Object.assign({}, ...sources.map((source) => source(host, facts))))
  },
})
