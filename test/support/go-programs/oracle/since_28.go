package main

import "k8s.io/utils/cpuset"

type cpuSet = cpuset.CPUSet

var parseCPUs = cpuset.Parse
