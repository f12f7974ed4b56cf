package main

import (
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
)

var (
	evictionHardByDefault = eviction.DefaultEvictionHard
	newTopologyOptions    = topologymanager.NewPolicyOptions
)
