package main

import "k8s.io/kubernetes/pkg/kubelet/sysctl"

// By its name of then.
var newAllowlist = sysctl.NewWhitelist
