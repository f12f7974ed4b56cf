package main

import "k8s.io/kubernetes/pkg/kubelet/sysctl"

var newAllowlist = sysctl.NewAllowlist
