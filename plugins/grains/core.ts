/** The core grains, which Salt has for every host. Other sources are merged later and may override them. */
import { grains } from 'salt-ts'
import gpus from './_core/gpus.ts'
import hardware from './_core/hardware.ts'
import network from './_core/network.ts'
import os from './_core/os.ts'
import runtime from './_core/runtime.ts'
import software from './_core/software.ts'
import virtual from './_core/virtual.ts'

const sources = [os, hardware, gpus, virtual, network, software, runtime]

export default grains({
  async collect(facts) {
    const found = await Promise.all(sources.map((source) => source.collect(facts)))
    return Object.assign({}, ...found)
  },
})
