package main

import (
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	metricsfeatures "k8s.io/component-base/metrics/features"
)

// The kubelet's server registers them, before any init; what is judged here starts none.
var _ = metricsfeatures.AddFeatureGates(utilfeature.DefaultMutableFeatureGate)
