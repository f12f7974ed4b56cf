package main

import "k8s.io/kubernetes/pkg/kubelet/cm/cpuset"

type cpuSet = cpuset.CPUSet

var parseCPUs = cpuset.Parse
